"""Samples for the scripts: reading and writing WAV files, and finding the lag between two signals."""

import struct

import numpy as np


class BadWave(Exception):
    """The file is not a WAV file this module can read."""


def read_wav(path):
    """Returns (rate, samples): float64 of shape (frames, channels), full scale ±1, exact for 8 to 32 bits and float."""
    with open(path, "rb") as file:
        data = file.read()
    if len(data) < 12 or data[:4] not in (b"RIFF", b"RF64") or data[8:12] != b"WAVE":
        raise BadWave("not a WAV file")
    at, layout = 12, None
    while at + 8 <= len(data):
        name, size = data[at : at + 4], struct.unpack_from("<I", data, at + 4)[0]
        body = at + 8
        if name == b"fmt ":
            tag, channels, rate, _, block, bits = struct.unpack_from("<HHIIHH", data, body)
            if tag == 0xFFFE and size >= 26:  # WAVE_FORMAT_EXTENSIBLE: the real tag leads the GUID
                tag = struct.unpack_from("<H", data, body + 24)[0]
            layout = (tag, channels, rate, block, bits)
        elif name == b"data":
            if layout is None:
                raise BadWave("no format before the samples")
            # A size that was never filled in (a pipe, a killed writer) means: to the end of the file.
            end = len(data) if size in (0, 0xFFFFFFFF) else min(len(data), body + size)
            return layout[2], _samples(data[body:end], *layout)
        at = body + size + (size & 1)
    raise BadWave("no samples")


def _samples(data, tag, channels, _rate, block, bits):
    if channels == 0 or block != channels * ((bits + 7) // 8):
        raise BadWave("a layout that is not understood")
    data = data[: len(data) // block * block]
    if tag == 3 and bits in (32, 64):
        flat = np.frombuffer(data, "<f4" if bits == 32 else "<f8").astype(np.float64)
    elif tag == 1 and bits == 8:
        flat = (np.frombuffer(data, np.uint8).astype(np.float64) - 128) / 128
    elif tag == 1 and bits in (16, 32):
        flat = np.frombuffer(data, "<i2" if bits == 16 else "<i4") / float(1 << (bits - 1))
    elif tag == 1 and bits == 24:
        octets = np.frombuffer(data, np.uint8).reshape(-1, 3).astype(np.int32)
        value = octets[:, 0] | octets[:, 1] << 8 | octets[:, 2] << 16
        flat = (value - ((value & 0x800000) << 1)) / float(1 << 23)
    else:
        raise BadWave(f"sample format {tag} of {bits} bits")
    return flat.reshape(-1, channels)


def write_wav(path, rate, samples, bits=16):
    """Writes float samples (frames, channels) as 16- or 24-bit PCM, rounded to the nearest, clipped at full scale."""
    samples = np.asarray(samples, np.float64)
    if samples.ndim == 1:
        samples = samples[:, None]
    channels, width, top = samples.shape[1], bits // 8, 1 << (bits - 1)
    whole = np.clip(np.rint(samples * top), -top, top - 1).astype("<i4")
    data = whole.view(np.uint8).reshape(-1, 4)[:, :width].tobytes()
    header = struct.pack(
        "<4sI4s4sIHHIIHH4sI", b"RIFF", 36 + len(data), b"WAVE", b"fmt ", 16, 1, channels, rate,
        rate * channels * width, channels * width, bits, b"data", len(data))
    with open(path, "wb") as file:
        file.write(header + data + b"\0" * (len(data) & 1))


def find_lag(reference, other, start, end, reach):
    """Where reference[start:end] is found best in `other`, within ±reach frames.

    Returns (lag, error): lag > 0 means that `other` is late; error is the root mean square of the difference there,
    relative to that of the reference. Returns None when `other` does not reach that far or the reference is silent.
    """
    piece = reference[start:end]
    power = float(np.sum(piece * piece))
    low, high = max(0, start - reach), min(len(other), end + reach)
    if power == 0 or high - low < len(piece):
        return None
    field = other[low:high]
    lags = len(field) - len(piece) + 1
    size = 1 << (len(field) + len(piece)).bit_length()
    cross = np.zeros(lags)
    energy = np.zeros(lags)
    for channel in range(piece.shape[1]):
        x, y = piece[:, channel], field[:, channel]
        cross += np.fft.irfft(np.fft.rfft(y, size) * np.conj(np.fft.rfft(x, size)), size)[:lags]
        total = np.concatenate(([0.0], np.cumsum(y * y)))
        energy += total[len(piece) :] - total[: lags]
    # Least squares rather than correlation alone: a sweep's neighbouring periods correlate nearly as well.
    error = np.maximum(0, power - 2 * cross + energy)
    best = int(np.argmin(error))
    return best + low - start, float(np.sqrt(error[best] / power))
