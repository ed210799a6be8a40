#!/usr/bin/python3
"""Presses keys on a terminal that plays, and listens to the sink's monitor: keys.py ATTACCA

Run under a private sound server. The files are steady tones of different pitch and level, so what is heard tells
which file plays. Exit code 1 and a line for each thing that is not as it should be.
"""

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "scripts"))
from pcm import write_wav  # noqa: E402

RATE = 44_100


class Monitor:
    def __init__(self):
        self.recorder = subprocess.Popen(
            ["parec", "--device=test.monitor", "--latency-msec=10", f"--rate={RATE}", "--channels=1", "--format=s16le", "--raw"],
            stdout=subprocess.PIPE)

    def listen(self, seconds):
        """What is heard in the next seconds, as samples."""
        end, pieces = time.monotonic() + seconds, []
        while (left := end - time.monotonic()) > 0:
            if select.select([self.recorder.stdout], [], [], left)[0]:
                data = os.read(self.recorder.stdout.fileno(), 65_536)
                if not data:
                    break
                pieces.append(data)
        data = b"".join(pieces)
        return np.frombuffer(data[: len(data) // 2 * 2], "<i2") / 32_768

    def until(self, condition, limit):
        """Listens in steps of 50 ms until the condition holds of a step; the seconds it took, None if it never did."""
        start = time.monotonic()
        while time.monotonic() - start < limit:
            piece = self.listen(0.05)
            if len(piece) and condition(piece):
                return time.monotonic() - start
        return None


def silent(piece):
    return np.abs(piece).max() < 0.001


def pitch(piece):
    """The strongest frequency."""
    if len(piece) < 64 or silent(piece):
        return 0
    spectrum = np.abs(np.fft.rfft(piece * np.hanning(len(piece))))
    return float(np.argmax(spectrum)) * RATE / len(piece)


def sounds(frequency):
    return lambda piece: abs(pitch(piece) - frequency) < 40


def main():
    attacca, failed = sys.argv[1], 0

    def expect(name, holds, detail=""):
        nonlocal failed
        if not holds:
            failed += 1
            print(f"{name}: {detail}")

    with tempfile.TemporaryDirectory() as folder:
        # The first file has one pitch for 10 s, then another, so that a seek shows.
        t = np.arange(RATE * 10) / RATE
        tone = lambda frequency: 0.3 * np.sin(2 * np.pi * frequency * t)  # noqa: E731
        files = []
        for name, parts in (("1.wav", (500, 1_000, 1_500)), ("2.wav", (2_500, 3_000)), ("3.wav", (4_000, 4_500))):
            files.append(os.path.join(folder, name))
            write_wav(files[-1], RATE, np.stack([np.concatenate([tone(f) for f in parts])] * 2, axis=1))

        monitor = Monitor()
        monitor.listen(1)
        player, terminal = pty.fork()
        if player == 0:
            os.environ["TERM"] = "xterm-256color"
            os.execv(attacca, [attacca, "play", "--no-resume", "--output", "pulse", *files])
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        shown = bytearray()
        ended = []

        def press(keys):
            os.write(terminal, keys)

        def watch():
            while True:
                try:
                    data = os.read(terminal, 4_096)
                except OSError:
                    return
                if not data:
                    return
                shown.extend(data)

        threading.Thread(target=watch, daemon=True).start()

        expect("start", monitor.until(sounds(500), 5) is not None, "the first file is not heard")
        monitor.listen(0.5)
        press(b" ")
        took = monitor.until(silent, 3)
        expect("pause", took is not None and took < 0.5, f"silent after {took} s")
        expect("pause stays silent", silent(monitor.listen(1)), "sound during a pause")
        press(b" ")
        expect("resume", monitor.until(sounds(500), 3) is not None, "not heard again")
        press(b"\x1b[C\x1b[C")  # twice → is 10 s ahead
        expect("seek ahead", monitor.until(sounds(1_000), 3) is not None, "the later pitch is not heard")
        press(b"\x1b[D\x1b[D")
        expect("seek back", monitor.until(sounds(500), 3) is not None, "the earlier pitch is not heard")
        press(b"n")
        expect("next", monitor.until(sounds(2_500), 3) is not None, "the second file is not heard")
        press(b"n")
        expect("next again", monitor.until(sounds(4_000), 3) is not None, "the third file is not heard")
        press(b"p")
        expect("previous", monitor.until(sounds(2_500), 3) is not None, "the second file is not heard")
        before = np.abs(monitor.listen(0.3)).max()
        press(b"-----")
        monitor.listen(0.3)
        after = np.abs(monitor.listen(0.3)).max()
        expect("quieter", after < before * 0.95, f"level {before:.3f}, then {after:.3f}")
        press(b"q")
        for _ in range(60):
            done, status = os.waitpid(player, os.WNOHANG)
            if done:
                ended.append(os.waitstatus_to_exitcode(status))
                break
            monitor.listen(0.05)
        if not ended:
            os.kill(player, 9)
            os.waitpid(player, 0)
        expect("quit", ended == [0], f"exit code {ended[0] if ended else 'none: it hangs'}")
        expect("quit is silent", monitor.until(silent, 2) is not None, "sound after the end")
        expect("the file's name is shown", b"1.wav" in shown, bytes(shown[:200]))
        # Whatever was switched on is switched off again.
        for name, on, off in (("cursor", b"\x1b[?25l", b"\x1b[?25h"), ("alternate screen", b"\x1b[?1049h", b"\x1b[?1049l")):
            expect(f"the {name} is restored", shown.rfind(off) >= shown.rfind(on), "it is left changed")
        monitor.recorder.kill()
        monitor.recorder.wait()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
