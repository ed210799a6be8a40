"""The part of the test media that is about what files say of themselves: described/ has chapters of every kind, covers,
gains, hostile tags, and headers and names that lie."""

import os
import struct
import subprocess
import zlib

from pcm import write_wav

# Seconds, of a file of 4 seconds: an overlap, and an end outside.
CHAPTERS = ((0, 2, "One"), (1.5, 3, "Two \x1b[2J\u202etwo"), (3, 9, "Three"))
HOSTILE = "Title \x1b]0;owned\x07\u202egpj.exe"


def run(*command, **options):
    subprocess.run([str(word) for word in command], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   **options)


def synchsafe(number):
    return bytes(number >> shift & 127 for shift in (21, 14, 7, 0))


def frame(name, body):
    return name + synchsafe(len(body)) + b"\0\0" + body


def text(name, value):
    return frame(name, b"\3" + value.encode())


def id3(*frames):
    body = b"".join(frames)
    return b"ID3\4\0\0" + synchsafe(len(body)) + body


def chap(index, start, end, title):
    times = struct.pack(">IIII", int(start * 1000), int(end * 1000), 0xFFFFFFFF, 0xFFFFFFFF)
    return frame(b"CHAP", b"c%d\0" % index + times + text(b"TIT2", title))


def picture(mime, data):
    return frame(b"APIC", b"\0" + mime + b"\0\3\0" + data)


def png(width, height, rows=None):
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    pixels = zlib.compress(b"\0" * ((width + 1) * (height if rows is None else rows)))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def metadata():
    """CHAPTERS in FFmpeg's own form."""
    lines = [";FFMETADATA1", "title=Book"]
    for start, end, title in CHAPTERS:
        lines += ["[CHAPTER]", "TIMEBASE=1/1000", f"START={int(start * 1000)}", f"END={int(end * 1000)}",
                  f"title={title}"]
    return "\n".join(lines) + "\n"


def comments():
    """CHAPTERS as Vorbis comments, which know no ends."""
    for index, (start, _, title) in enumerate(CHAPTERS):
        yield f"CHAPTER{index + 1:03}=00:00:{start:06.3f}"
        yield f"CHAPTER{index + 1:03}NAME={title}"


def make_all(media):
    """Makes described/."""
    def path(name):
        return media.path("described", name)

    def put(name, data):
        return media.write(data, "described", name)

    from media_formats import sweep
    wav = media.path(".parts", "described.wav")
    write_wav(wav, 44_100, sweep(44_100, 4, 2))
    quiet = ("ffmpeg", "-v", "error", "-y", "-bitexact")
    told = put("../.parts/chapters.txt", metadata().encode())

    bare = media.path(".parts", "described.mp3")
    run("lame", "--quiet", "-b", "64", wav, bare)
    with open(bare, "rb") as file:
        audio = file.read()
    jpeg = media.path(".parts", "cover.jpg")
    run(*quiet, "-f", "lavfi", "-i", "color=red:size=320x240", "-frames:v", 1, jpeg)
    with open(jpeg, "rb") as file:
        jpeg = file.read()

    chapters = [chap(index, *chapter) for index, chapter in enumerate(CHAPTERS)]
    put("chap.mp3", id3(text(b"TIT2", HOSTILE), text(b"TPE1", "A\0B"), *chapters, picture(b"image/png", png(64, 48))) + audio)
    put("outside.mp3", id3(*chapters, chap(8, 60, 70, "Outside"), chap(9, 1.5, 2, "Same start")) + audio)
    put("jpeg.mp3", id3(picture(b"image/png", jpeg)) + audio)  # The type that the tag tells is wrong.
    put("damaged-cover.mp3", id3(picture(b"image/jpeg", jpeg[:40])) + audio)
    put("huge-cover.mp3", id3(picture(b"image/png", png(30_000, 30_000, 1))) + audio)
    put("gains.mp3", id3(*(frame(b"TXXX", b"\3" + pair.encode()) for pair in (
        "REPLAYGAIN_TRACK_GAIN\0-6.50 dB", "REPLAYGAIN_TRACK_PEAK\0" "0.988553", "REPLAYGAIN_ALBUM_GAIN\0-7.03 dB"))) + audio)

    # Both kinds of MP4 chapters, and each alone.
    both = path("both.m4b")
    run(*quiet, "-i", wav, "-i", told, "-map", "0:a", "-map_chapters", 1, "-map_metadata", 1, "-c:a", "aac", "-b:a", "64k",
        "-f", "ipod", both)
    run(*quiet, "-i", wav, "-i", told, "-map", "0:a", "-map_chapters", 1, "-map_metadata", 1, "-c:a", "aac", "-b:a", "64k",
        "-movflags", "disable_chpl", "-f", "ipod", path("track.m4b"))
    with open(both, "rb") as file:
        data = file.read()
    assert b"chpl" in data and data.count(b"tref") == 1
    put("chpl.m4b", data.replace(b"tref", b"free"))

    for name, codec in (("chapters.mka", "flac"), ("opus.mka", "libopus")):
        run(*quiet, "-i", wav, "-i", told, "-map", "0:a", "-map_chapters", 1, "-map_metadata", 1, "-c:a", codec, path(name))
    words = [word for comment in comments() for word in ("-c", comment)]
    run("oggenc", "-Q", "-q0", wav, *words, "-o", path("chapters.ogg"), stderr=subprocess.DEVNULL)
    words = [word for comment in comments() for word in ("--comment", comment)]
    run("opusenc", "--quiet", "--bitrate", 32, *words, "--comment", "R128_TRACK_GAIN=-1234", "--comment",
        "R128_ALBUM_GAIN=256", wav, path("chapters.opus"))
    run("flac", "-s", "-f", *(f"--tag={comment}" for comment in comments()), "--tag=REPLAYGAIN_TRACK_GAIN=-3.21 dB",
        f"--picture=3|image/png|||{put('../.parts/cover.png', png(17, 19))}", wav, "-o", path("chapters.flac"))

    # Headers and names that lie.
    with open(wav, "rb") as file:
        pcm = file.read()
    put("cut.wav", pcm[:len(pcm) // 2])
    put("wav-inside.mp3", pcm)
    fast = path("cut.m4a")
    run(*quiet, "-i", wav, "-c:a", "aac", "-b:a", "64k", "-movflags", "+faststart", fast)
    with open(fast, "rb") as file:
        data = file.read()
    put("cut.m4a", data[:len(data) * 2 // 3])
    vbr = media.path(".parts", "described-vbr.mp3")
    run("lame", "--quiet", "-t", "-V5", wav, vbr)
    with open(vbr, "rb") as file:
        put("no-xing.mp3", file.read())
    put(b"bad\xff\x1bname.mp3".decode("utf-8", "surrogateescape"), audio)
