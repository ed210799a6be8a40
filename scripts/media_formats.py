"""The part of the test media that tries every format: formats/<name>/ with whole, a, b (cut in two), 1, 2, 3 (in three).

Everything that some free encoder of the distribution can make is made by it; Layer I and DSD, for which there is none,
are made here. Files are short: what matters is their beginnings, joints and ends.
"""

import os
import struct
import subprocess
import sys

import numpy as np

from pcm import read_wav, write_wav

SECONDS = 1.5
# Frames at 44.1 kHz where the original is cut; scaled for other rates. None is a multiple of a codec's frame.
CUT, THIRDS = 30_617, (20_011, 43_019)

FF = ("ffmpeg", "-v", "error", "-y", "-bitexact", "-i", "{in}")


def ff(*words):
    return FF + words + ("-bitexact", "{out}")


# name: (extension, original, command). Originals are s16 stereo unless their name says more.
KINDS = {
    # MPEG audio
    "mp1": ("mp1", "44100", "layer1"),
    "mp2": ("mp2", "44100", ("twolame", "--quiet", "-b", "192", "{in}", "{out}")),
    "mp2-24k": ("mp2", "24000", ("twolame", "--quiet", "-b", "96", "{in}", "{out}")),
    "mp3-22k": ("mp3", "22050", ("lame", "--quiet", "-b", "96", "{in}", "{out}")),
    "mp3-8k": ("mp3", "8000", ("lame", "--quiet", "-b", "32", "{in}", "{out}")),
    "mp3-vbr": ("mp3", "44100", ("lame", "--quiet", "-V", "2", "{in}", "{out}")),
    "mp3-wav": ("wav", "44100", ff("-c:a", "libmp3lame", "-b:a", "160k")),
    # AAC
    "aac-adts": ("aac", "44100", ff("-c:a", "aac", "-aac_pns", "0", "-b:a", "160k")),
    "aac-latm": ("latm", "44100", ff("-c:a", "aac", "-aac_pns", "0", "-b:a", "160k")),
    "aac-m4a-mono": ("m4a", "44100-1", ff("-c:a", "aac", "-aac_pns", "0", "-b:a", "96k")),
    "he-aac": ("aac", "22050", "sbr"),
    "he-aac-mono": ("aac", "22050-1", "sbr"),
    "he-aac-m4a": ("m4a", "22050", "sbr"),
    # Xiph
    "speex": ("spx", "16000-1", ("speexenc", "--quiet", "--bitrate", "24000", "{in}", "{out}")),
    "ogg-flac": ("oga", "44100", ("flac", "--silent", "--force", "--ogg", "--serial-number=7", "-o", "{out}", "{in}")),
    # PCM
    "wav-u8": ("wav", "44100-u8", ff("-c:a", "pcm_u8")),
    "wav-s32": ("wav", "44100-s24", ff("-c:a", "pcm_s32le")),
    "wav-f32": ("wav", "44100-s24", ff("-c:a", "pcm_f32le")),
    "wav-f64": ("wav", "44100-s24", ff("-c:a", "pcm_f64le")),
    "wav-alaw": ("wav", "44100", ff("-c:a", "pcm_alaw")),
    "wav-mulaw": ("wav", "44100", ff("-c:a", "pcm_mulaw")),
    "wav-adpcm-ms": ("wav", "44100", ff("-c:a", "adpcm_ms")),
    "wav-adpcm-ima": ("wav", "44100", ff("-c:a", "adpcm_ima_wav")),
    "wav-gsm": ("wav", "8000-1", ff("-c:a", "libgsm_ms")),
    "wav-dts": ("wav", "44100", "dts-wav"),
    "w64": ("w64", "44100", "w64"),
    "rf64": ("wav", "44100", ff("-rf64", "always")),
    "aiff-s24": ("aiff", "44100-s24", ff("-c:a", "pcm_s24be")),
    "aifc-sowt": ("aifc", "44100", ("sox", "-D", "{in}", "-t", "aifc", "{out}")),
    "aifc-f32": ("aiff", "44100-s24", ff("-c:a", "pcm_f32be")),
    "aifc-mulaw": ("aiff", "44100", ff("-c:a", "pcm_mulaw")),
    "caf": ("caf", "44100", ff("-c:a", "pcm_s16be")),
    "caf-s24": ("caf", "44100-s24", ff("-c:a", "pcm_s24le")),
    "caf-alac": ("caf", "44100", ff("-c:a", "alac")),
    "caf-opus": ("caf", "48000", ff("-c:a", "libopus", "-b:a", "128k")),
    "caf-ima4": ("caf", "44100", ff("-c:a", "adpcm_ima_qt")),
    "au": ("au", "44100", ff("-c:a", "pcm_s16be")),
    "au-mulaw": ("au", "44100", ff("-c:a", "pcm_mulaw")),
    "au-f32": ("au", "44100-s24", ff("-c:a", "pcm_f32be")),
    # Lossless and the rest
    "flac-s24": ("flac", "44100-s24", ff("-c:a", "flac")),
    "wavpack-hybrid": ("wv", "44100", ("wavpack", "-q", "-y", "-b320", "{in}", "-o", "{out}")),
    "wavpack-f32": ("wv", "44100-f32", ("wavpack", "-q", "-y", "{in}", "-o", "{out}")),
    "wavpack-s24": ("wv", "44100-s24", ("wavpack", "-q", "-y", "-h", "{in}", "-o", "{out}")),
    "wavpack-dsd": ("wv", "2822400-dsd", ("wavpack", "-q", "-y", "{in}", "-o", "{out}")),
    "musepack": ("mpc", "44100", ("mpcenc", "--silent", "--overwrite", "--standard", "{in}", "{out}")),
    "tta": ("tta", "44100", ff("-c:a", "tta")),
    "tta-s24": ("tta", "44100-s24", ff("-c:a", "tta", "-sample_fmt", "s32")),
    "dsf": ("dsf", "2822400-dsd", "dsf"),
    "dff": ("dff", "2822400-dsd", "dff"),
    # Surround codecs and Windows Media
    "ac3": ("ac3", "44100", ff("-c:a", "ac3", "-b:a", "192k")),
    "eac3": ("eac3", "48000", ff("-c:a", "eac3", "-b:a", "192k")),
    "dts": ("dts", "44100", ff("-strict", "-2", "-c:a", "dca", "-b:a", "768k")),
    "wma1": ("wma", "44100", ff("-c:a", "wmav1", "-b:a", "160k")),
    "wma2": ("wma", "44100", ff("-c:a", "wmav2", "-b:a", "160k")),
    # Matroska
    "mkv-aac": ("mka", "44100", ff("-c:a", "aac", "-aac_pns", "0", "-b:a", "160k")),
    "mkv-mp3": ("mka", "44100", ff("-c:a", "libmp3lame", "-b:a", "160k")),
    "mkv-vorbis": ("mka", "44100", ff("-c:a", "libvorbis", "-q:a", "6")),
    "mkv-opus": ("mka", "48000", ff("-c:a", "libopus", "-b:a", "128k")),
    "mkv-flac": ("mka", "44100", ff("-c:a", "flac")),
    "mkv-pcm": ("mka", "44100", ff("-c:a", "pcm_s16le")),
    "mkv-alac": ("mka", "44100", ff("-c:a", "alac")),
    "mkv-wavpack": ("mka", "44100", ff("-c:a", "wavpack")),
    "mkv-ac3": ("mkv", "44100", ff("-c:a", "ac3", "-b:a", "192k")),
    "mkv-dts": ("mkv", "44100", ff("-strict", "-2", "-c:a", "dca", "-b:a", "768k")),
    "webm-vorbis": ("webm", "44100", ff("-c:a", "libvorbis", "-q:a", "6")),
    "webm-opus": ("webm", "48000", ff("-c:a", "libopus", "-b:a", "128k")),
    # MP4 and QuickTime
    "mp4-flac": ("mp4", "44100", ff("-strict", "-2", "-c:a", "flac")),
    "mp4-opus": ("mp4", "48000", ff("-strict", "-2", "-c:a", "libopus", "-b:a", "128k")),
    "mp4-mp3": ("mp4", "44100", ff("-c:a", "libmp3lame", "-b:a", "160k")),
    "mp4-ac3": ("mp4", "44100", ff("-c:a", "ac3", "-b:a", "192k")),
    "mp4-eac3": ("mp4", "48000", ff("-c:a", "eac3", "-b:a", "192k")),
    "mov-pcm": ("mov", "44100", ff("-c:a", "pcm_s16le")),
    "mov-pcm24": ("mov", "44100-s24", ff("-c:a", "pcm_s24be")),
    "mov-alac": ("mov", "44100", ff("-c:a", "alac")),
    "mov-ima4": ("mov", "44100", ff("-c:a", "adpcm_ima_qt")),
    "3gp-aac": ("3gp", "44100", ff("-c:a", "aac", "-aac_pns", "0", "-b:a", "128k")),
    # Others that carry a sound track
    "avi-mp3": ("avi", "44100", ff("-c:a", "libmp3lame", "-b:a", "160k")),
    "avi-pcm": ("avi", "44100", ff("-c:a", "pcm_s16le")),
    "avi-ac3": ("avi", "44100", ff("-c:a", "ac3", "-b:a", "192k")),
    "ts-aac": ("ts", "44100", ff("-c:a", "aac", "-aac_pns", "0", "-b:a", "160k")),
    "ts-mp2": ("ts", "44100", ff("-c:a", "libtwolame", "-b:a", "192k")),
    "ts-ac3": ("ts", "44100", ff("-c:a", "ac3", "-b:a", "192k")),
    "ps-mp2": ("mpg", "44100", ff("-c:a", "libtwolame", "-b:a", "192k", "-f", "vob")),
    "ps-ac3": ("vob", "48000", ff("-c:a", "ac3", "-b:a", "192k", "-f", "vob")),
    "flv-mp3": ("flv", "44100", ff("-c:a", "libmp3lame", "-b:a", "160k")),
    "flv-aac": ("flv", "44100", ff("-c:a", "aac", "-aac_pns", "0", "-b:a", "160k")),
}

RATES = (8_000, 11_025, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 88_200, 96_000, 176_400, 192_000, 352_800,
         384_000)
LAYOUTS = {1: "mono", 2: "stereo", 4: "quad", 6: "5.1", 8: "7.1"}


class Failed(Exception):
    """A command ended badly."""


def run(*command):
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True)
    if done.returncode != 0:
        raise Failed(f"{' '.join(map(str, command))}\n{done.stderr.decode(errors='replace')}")


def sweep(rate, seconds, channels=2, level=0.4):
    """Channels that rise, fall and waver, no two alike and no two moments alike."""
    t = np.arange(round(rate * seconds)) / rate
    high = min(14_000, rate * 0.42)
    columns = []
    for n in range(channels):
        low = 80 + 60 * n
        slope = (high - low) / seconds * (1 if n % 2 == 0 else -1)
        first = low if n % 2 == 0 else high
        wave = np.sin(2 * np.pi * (first * t + slope * t * t / 2) + n)
        columns.append(level * (wave + 0.4 * np.sin(2 * np.pi * (130 * t + 90 * np.sin(2 * np.pi * (0.9 + 0.2 * n) * t)))))
    return np.stack(columns, axis=1)


def write_float_wav(path, rate, samples):
    data = samples.astype("<f4").tobytes()
    head = struct.pack("<HHIIHH", 3, samples.shape[1], rate, rate * 4 * samples.shape[1], 4 * samples.shape[1], 32)
    with open(path, "wb") as file:
        file.write(b"RIFF" + struct.pack("<I", 36 + len(data)) + b"WAVEfmt " + struct.pack("<I", 16) + head
                   + b"data" + struct.pack("<I", len(data)) + data)


# DSD: a sigma-delta modulator of the second order, 64 times 44.1 kHz

def sigma_delta(samples):
    """One bit per sample, ±1 as 1 and 0, for each channel."""
    frames, channels = samples.shape
    bits = np.empty((frames, channels), dtype=np.uint8)
    for channel in range(channels):
        first = second = 0.0
        column = bits[:, channel]
        for index, value in enumerate((0.5 * samples[:, channel]).tolist()):
            out = 1.0 if second >= 0 else -1.0
            first += value - out
            second += first - 2 * out * 0.5
            column[index] = out > 0
    return bits


def dsf(bits, rate=2_822_400, block=4096):
    """Sony's DSF: blocks of 4,096 bytes by turns for each channel, the first bit lowest; the end is padded."""
    frames, channels = bits.shape
    size = (frames + 8 * block - 1) // (8 * block) * block
    packed = np.zeros((channels, size), dtype=np.uint8)
    for channel in range(channels):
        column = np.packbits(bits[:, channel], bitorder="little")
        packed[channel, : len(column)] = column
    data = packed.reshape(channels, -1, block).transpose(1, 0, 2).tobytes()
    form = struct.pack("<4sQIIIIIIQII", b"fmt ", 52, 1, 0, 2 if channels == 2 else 1, channels, rate, 1, frames, block, 0)
    total = 28 + len(form) + 12 + len(data)
    return struct.pack("<4sQQQ", b"DSD ", 28, total, 0) + form + struct.pack("<4sQ", b"data", 12 + len(data)) + data


def dff(bits, rate=2_822_400):
    """Philips' DSDIFF: bytes of the channels by turns, the first bit highest."""
    def chunk(name, body):
        return name + struct.pack(">Q", len(body)) + body + b"\0" * (len(body) & 1)
    channels = bits.shape[1]
    names = b"SLFTSRGT" if channels == 2 else b"C000"
    data = np.stack([np.packbits(bits[:, channel]) for channel in range(channels)], axis=1).tobytes()
    sound = (b"SND " + chunk(b"FS  ", struct.pack(">I", rate)) + chunk(b"CHNL", struct.pack(">H", channels) + names)
             + chunk(b"CMPR", b"DSD \x0enot compressed"))
    body = b"DSD " + chunk(b"FVER", b"\1\5\0\0") + chunk(b"PROP", sound) + chunk(b"DSD ", data)
    return b"FRM8" + struct.pack(">Q", len(body)) + body


def w64(rate, samples):
    """Sony's Wave64. FFmpeg's own writer counts the filling behind the samples as samples."""
    tail = bytes.fromhex("f3acd3118cd100c04f8edb8a")
    channels = samples.shape[1]
    data = np.round(samples * 32_768).astype("<i2").tobytes()
    form = struct.pack("<HHIIHH", 1, channels, rate, rate * 2 * channels, 2 * channels, 16)
    chunks = (b"fmt " + tail + struct.pack("<Q", 24 + len(form)) + form
              + b"data" + tail + struct.pack("<Q", 24 + len(data)) + data + b"\0" * (-len(data) % 8))
    head = bytes.fromhex("726966662e91cf11a5d628db04c10000")
    return head + struct.pack("<Q", 40 + len(chunks)) + b"wave" + tail + chunks


class Bits:
    """Bits, the highest first."""
    def __init__(self):
        self.text = []

    def put(self, value, width):
        self.text.append(format(value, f"0{width}b"))

    def data(self):
        text = "".join(self.text)
        text += "0" * (-len(text) % 8)
        return int(text, 2).to_bytes(len(text) // 8, "big") if text else b""


# MPEG-1 Layer I

def window_of_analysis():
    """A prototype low-pass of 512 taps. The standard's own table differs in the last digits; a decoder does not mind."""
    n = np.arange(512)
    taps = np.sinc((n - 256) / 64) * np.kaiser(513, 9.5)[:512]
    return taps / taps.sum()


def layer1(samples, rate):
    """A small Layer I encoder of 448 kbit/s: 32 bands, scale factors, and a fixed number of bits per band."""
    channels = samples.shape[1]
    frames = (len(samples) + 511 + 383) // 384
    padded = np.concatenate([np.zeros((480, channels)), samples, np.zeros((frames * 384 + 512 - len(samples), channels))])
    window = window_of_analysis() * 32
    k = np.arange(32)[:, None]
    matrix = np.cos((2 * k + 1) * (np.arange(512)[None, :] - 16) * np.pi / 64) * window[None, :]
    bits_of = [7] * 8 + [6] * 8 + [4] * 8 + [0] * 8
    scale = 2.0 ** (1 - np.arange(63) / 3)
    out = []
    # A frame of 44.1 kHz is a fraction short of 448 kbit/s: now and then one has four bytes more.
    exact, debt = 12 * 448_000 / rate, 0.0
    for frame in range(frames):
        debt += exact % 1
        padding = int(debt >= 1)
        debt -= padding
        size = (int(exact) + padding) * 4
        bands = np.empty((12, channels, 32))
        for step in range(12):
            at = (frame * 12 + step) * 32
            for channel in range(channels):
                bands[step, channel] = matrix @ padded[at : at + 512, channel][::-1]
        stream = Bits()
        # Sync, MPEG-1, Layer I, no checksum; 448 kbit/s is index 14 (of 32 kbit/s each).
        stream.put(0xFFF, 12), stream.put(1, 1), stream.put(3, 2), stream.put(1, 1), stream.put(14, 4)
        stream.put({44_100: 0, 48_000: 1, 32_000: 2}[rate], 2), stream.put(padding, 1), stream.put(0, 1)
        stream.put(0 if channels == 2 else 3, 2), stream.put(0, 6)
        for band in range(32):
            for _ in range(channels):
                stream.put(max(0, bits_of[band] - 1), 4)
        factors = np.zeros((32, channels), dtype=int)
        for band in range(32):
            for channel in range(channels):
                if bits_of[band] == 0:
                    continue
                peak = np.abs(bands[:, channel, band]).max()
                factors[band, channel] = np.nonzero(scale >= min(peak, 2.0))[0].max()
                stream.put(int(factors[band, channel]), 6)
        for step in range(12):
            for band in range(32):
                for channel in range(channels):
                    width = bits_of[band]
                    if width == 0:
                        continue
                    levels = (1 << width) - 1
                    value = np.clip(bands[step, channel, band] / scale[factors[band, channel]], -1, 1)
                    stream.put(int(np.clip(round((value + 1) / 2 * levels - 0.5), 0, levels - 1)), width)
        data = stream.data()
        assert len(data) <= size, f"{len(data)} bytes in a frame of {size}"
        out.append(data + b"\0" * (size - len(data)))
    return b"".join(out)


# HE-AAC: spectral band replication added to plain AAC

def with_sbr(stream):
    """Gives every frame of an ADTS stream an SBR payload (ISO/IEC 14496-3 §4.4.2.8): a header and an envelope of hardly
    anything, whose codes are all zeros. A decoder doubles the rate all the same."""
    out, at = [], 0
    while at + 7 <= len(stream):
        size = (stream[at + 3] & 3) << 11 | stream[at + 4] << 3 | stream[at + 5] >> 5
        body = format(int.from_bytes(stream[at + 7 : at + size], "big"), f"0{8 * (size - 7)}b").rstrip("0")
        assert body.endswith("111"), "a frame does not end with its END element"
        payload = Bits()
        # SBR data; a header: no amplitude resolution, from band 5, to band 9, no cross-over, nothing else.
        payload.put(0xD, 4), payload.put(1, 1), payload.put(0, 1), payload.put(5, 4), payload.put(9, 4), payload.put(0, 7)
        payload.put(0, 8 * 24 - 21)
        # A fill element of 24 bytes before the END element.
        text = body[:-3] + "110" + "1111" + format(24 - 15 + 1, "08b") + "".join(payload.text) + "111"
        text += "0" * (-len(text) % 8)
        data = int(text, 2).to_bytes(len(text) // 8, "big")
        head, total = bytearray(stream[at : at + 7]), len(data) + 7
        head[3] = head[3] & 0xFC | total >> 11
        head[4] = total >> 3 & 0xFF
        head[5] = (total & 7) << 5 | head[5] & 0x1F
        out.append(bytes(head) + data)
        at += size
    return b"".join(out)


def make(kind, source, target):
    """Encodes one original."""
    _, _, command = KINDS[kind]
    if isinstance(command, tuple):
        return run(*(word.replace("{in}", source).replace("{out}", target) for word in command))
    if command == "dts-wav":
        raw = target + ".dts"
        run("ffmpeg", "-v", "error", "-y", "-bitexact", "-i", source, "-strict", "-2", "-c:a", "dca", "-b:a", "1411200",
            "-bitexact", raw)
        with open(raw, "rb") as file:
            data = file.read()
        os.remove(raw)
        # As on a "DTS CD": the header says 16 bits of PCM. Frames follow each other without filling.
        data += b"\0" * (-len(data) % 4)
        head = struct.pack("<HHIIHH", 1, 2, 44_100, 176_400, 4, 16)
        data = (b"RIFF" + struct.pack("<I", 36 + len(data)) + b"WAVEfmt " + struct.pack("<I", 16) + head + b"data"
                + struct.pack("<I", len(data)) + data)
    elif command == "dsf":
        os.link(source, target)
        return None
    elif command == "dff":
        with open(source, "rb") as file:
            data = file.read()
        bits = bits_of_dsf(data)
        data = dff(bits)
    elif command == "sbr":
        plain = target + ".aac"
        run("ffmpeg", "-v", "error", "-y", "-bitexact", "-i", source, "-c:a", "aac", "-aac_pns", "0", "-b:a", "64k",
            "-bitexact", plain)
        with open(plain, "rb") as file:
            data = with_sbr(file.read())
        if target.endswith(".m4a"):
            with open(plain, "wb") as file:
                file.write(data)
            run("ffmpeg", "-v", "error", "-y", "-i", plain, "-c", "copy", "-bitexact", target)
        os.remove(plain)
        if target.endswith(".m4a"):
            return None
    elif command == "w64":
        data = w64(*read_wav(source))
    elif command == "layer1":
        rate, samples = read_wav(source)
        data = layer1(samples, rate)
    else:
        raise ValueError(command)
    with open(target, "wb") as file:
        file.write(data)
    return None


def bits_of_dsf(data):
    channels, = struct.unpack_from("<I", data, 28 + 24)
    frames, = struct.unpack_from("<Q", data, 28 + 36)
    body = np.frombuffer(data[92:], dtype=np.uint8).reshape(-1, channels, 4096).transpose(1, 0, 2).reshape(channels, -1)
    return np.stack([np.unpackbits(row, bitorder="little")[:frames] for row in body], axis=1)


def pieces_of(frames, rate):
    cut = CUT * rate // 44_100
    one, two = (place * rate // 44_100 for place in THIRDS)
    return {"whole": (0, frames), "a": (0, cut), "b": (cut, frames), "1": (0, one), "2": (one, two), "3": (two, frames)}


def originals(folder):
    """Writes the originals and their pieces; answers nothing. Names: rate, and -1 (mono), -s24, -f32, -u8, -dsd."""
    for name in sorted({kind[1] for kind in KINDS.values()}):
        rate, _, more = name.partition("-")
        rate = int(rate)
        if more == "dsd":
            # Bytes are the smallest piece of DSD: cut in 44.1 kHz frames, 64 bits each.
            low = sweep(44_100, 0.4)
            high = np.stack([np.interp(np.arange(len(low) * 64) / 64, np.arange(len(low)), low[:, c]) for c in range(2)], 1)
            bits = sigma_delta(high)
            for piece, (start, end) in {"whole": (0, 17_640), "a": (0, 7_001), "b": (7_001, 17_640), "1": (0, 5_003),
                                        "2": (5_003, 11_007), "3": (11_007, 17_640)}.items():
                with open(os.path.join(folder, f"{name}-{piece}.dsf"), "wb") as file:
                    file.write(dsf(bits[start * 64 : end * 64]))
            continue
        samples = sweep(rate, SECONDS, 1 if more == "1" else 2)
        for piece, (start, end) in pieces_of(len(samples), rate).items():
            path, part = os.path.join(folder, f"{name}-{piece}.wav"), samples[start:end]
            if more == "f32":
                write_float_wav(path, rate, part)
            else:
                write_wav(path, rate, part, 24 if more == "s24" else 16)
            if more == "u8":
                plain = path + ".wav"
                os.rename(path, plain)
                run("sox", "-D", plain, "-e", "unsigned", "-b", 8, path)
                os.remove(plain)


def make_all(media):
    """Makes formats/, in the pool of the collection."""
    folder = os.path.dirname(media.path("formats", "originals", "x"))
    originals(folder)
    for kind, (extension, original, _) in KINDS.items():
        suffix = "dsf" if original.endswith("dsd") else "wav"
        for piece in ("whole", "a", "b", "1", "2", "3"):
            source = os.path.join(folder, f"{original}-{piece}.{suffix}")
            media.later(make, kind, source, media.path("formats", kind, f"{piece}.{extension}"))
    layouts(media, folder)
    tracks(media, folder)


def layouts(media, folder):
    """Channels, rates and depths."""
    for channels, layout in LAYOUTS.items():
        source = media.path("formats", "layouts", f"{channels}.wav")
        write_wav(source, 48_000, sweep(48_000, 0.3, channels), 16)
        base = ("ffmpeg", "-v", "error", "-y", "-bitexact", "-channel_layout", layout, "-i", source)
        for name, words in {"flac": ("flac",), "m4a": ("alac",), "wv": ("wavpack",), "mka": ("pcm_s24le",), "ogg": ("libvorbis",),
                            "opus": ("libopus", "-mapping_family", 1 if channels > 2 else 0), "aac": ("aac",),
                            "tta": ("tta",)}.items():
            if (name, channels) in (("aac", 4), ("opus", 4), ("m4a", 8)):
                continue  # FFmpeg's encoders do not have these.
            media.later(run, *base, "-c:a", *words, "-bitexact", media.path("formats", "layouts", f"{channels}.{name}"))
    for rate in RATES:
        source = media.path("formats", "rates", f"{rate}.wav")
        write_wav(source, rate, sweep(rate, 0.25), 24)
        base = ("ffmpeg", "-v", "error", "-y", "-bitexact", "-i", source)
        for name, codec in {"wv": "wavpack", "flac": "flac", "caf": "pcm_s24be", "m4a": "alac"}.items():
            media.later(run, *base, "-c:a", codec, "-bitexact", media.path("formats", "rates", f"{rate}.{name}"))
    source = media.path("formats", "depths", "original.wav")
    write_wav(source, 44_100, sweep(44_100, 0.25), 24)
    base = ("ffmpeg", "-v", "error", "-y", "-bitexact", "-i", source, "-c:a")
    for name, codec in {
        "u8.wav": "pcm_u8", "s16.wav": "pcm_s16le", "s24.wav": "pcm_s24le", "s32.wav": "pcm_s32le", "f32.wav": "pcm_f32le",
        "f64.wav": "pcm_f64le", "s8.aiff": "pcm_s8", "s16.aiff": "pcm_s16be", "s24.aiff": "pcm_s24be", "s32.aiff": "pcm_s32be",
        "s8.caf": "pcm_s8", "s32.caf": "pcm_s32be", "f64.caf": "pcm_f64be", "s8.au": "pcm_s8", "s24.au": "pcm_s24be",
        "s32.au": "pcm_s32be", "f64.au": "pcm_f64be", "s32.w64": "pcm_s32le", "s24.mov": "pcm_s24le", "f32.mka": "pcm_f32le",
        "f64.mka": "pcm_f64le", "s16.flac": "flac",
    }.items():
        media.later(run, *base, codec, "-bitexact", media.path("formats", "depths", name))


def tracks(media, folder):
    """Files of several sound tracks."""
    one, two = (os.path.join(folder, name) for name in ("44100-a.wav", "44100-b.wav"))
    both = ("ffmpeg", "-v", "error", "-y", "-bitexact", "-i", one, "-i", two, "-map", "0:a", "-map", "1:a",
            "-metadata:s:0", "language=eng", "-metadata:s:1", "language=deu")
    second = ("-disposition:a:0", "0", "-disposition:a:1", "default")
    media.later(run, *both, "-metadata:s:0", "title=First", "-metadata:s:1", "title=Commentary", "-c:a", "flac", *second,
                "-bitexact", media.path("formats", "tracks", "second-is-default.mka"))
    media.later(run, *both, "-c:a", "flac", "-disposition:a", "0", "-bitexact",
                media.path("formats", "tracks", "none-is-default.mka"))
    media.later(run, *both, "-c:a", "alac", *second, "-bitexact", media.path("formats", "tracks", "second-is-default.m4a"))
    # The first one is of a kind that is not played.
    speech = os.path.join(folder, "8000-1-whole.wav")
    media.later(run, "ffmpeg", "-v", "error", "-y", "-bitexact", "-i", speech, "-i", two, "-map", "0:a", "-map", "1:a",
                "-c:a:0", "real_144", "-c:a:1", "flac", "-bitexact", media.path("formats", "tracks", "first-is-unplayable.mka"))
    # A film: its picture comes before its sound, and costs no more than passing over it.
    media.later(run, "ffmpeg", "-v", "error", "-y", "-bitexact", "-f", "lavfi", "-i", "testsrc=d=0.7:s=160x120:r=25", "-i",
                one, "-c:v", "mpeg4", "-c:a", "flac", "-bitexact", media.path("formats", "tracks", "film.mkv"))
    media.later(run, "ffmpeg", "-v", "error", "-y", "-bitexact", "-f", "lavfi", "-i", "testsrc=d=0.7:s=160x120:r=25", "-i",
                one, "-c:v", "mpeg2video", "-c:a", "libtwolame", "-bitexact", media.path("formats", "tracks", "film.ts"))


if __name__ == "__main__":
    sys.exit("media_formats.py is a part of make-media")
