"""Listening to a null sink's monitor, and starting and stopping players beside it."""

import array
import ctypes
import os
import select
import statistics
import subprocess
import time

RATE = 44100


class Monitor:
    """The monitor of the private sink, read as it comes, 5 ms at a time."""

    def __init__(self):
        self.recorder = subprocess.Popen(
            ["parec", "--raw", "--format=s16le", f"--rate={RATE}", "--channels=2", "-d", "test.monitor", "--latency-msec=5"],
            stdout=subprocess.PIPE,
        )
        self.file = self.recorder.stdout.fileno()
        os.set_blocking(self.file, False)
        # A fresh null sink has rendered two seconds ahead; wait until it answers at once.
        self.drain(3)

    def close(self):
        self.recorder.kill()
        self.recorder.wait()

    def read(self, wait):
        """The left channel's samples that came, as integers."""
        select.select([self.file], [], [], wait)
        try:
            data = os.read(self.file, 1 << 16)
        except BlockingIOError:
            return array.array("h")
        return array.array("h", data[: len(data) // 4 * 4])[::2]

    def drain(self, seconds):
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.read(left)

    def until(self, condition, since, limit=2.0):
        """Milliseconds from `since` until `condition(samples)` holds for what came; None after `limit` seconds."""
        while time.monotonic() < since + limit:
            samples = self.read(0.05)
            if len(samples) and condition(samples):
                return (time.monotonic() - since) * 1000
        return None


def has_sound(samples):
    return any(samples)


def is_silent_at_end(samples):
    return len(samples) >= 32 and not any(samples[-32:])


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def median(values):
    return statistics.median(values) if values else None


def stop(process):
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(3)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


_libc = ctypes.CDLL(None, use_errno=True)


class _Timespec(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long)]


def cpu_seconds(pid):
    """The process's own CPU clock, which counts every thread, living or gone, to the nanosecond."""
    clock = ctypes.c_int()
    if _libc.clock_getcpuclockid(pid, ctypes.byref(clock)) != 0:
        raise OSError("no CPU clock")
    now = _Timespec()
    if _libc.clock_gettime(clock, ctypes.byref(now)) != 0:
        raise OSError(ctypes.get_errno(), "CPU clock")
    return now.seconds + now.nanoseconds / 1e9


def voluntary_switches(pid):
    """Voluntary context switches by thread: how often each went to sleep, that is, was woken."""
    switches = {}
    for task in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{task}/status", encoding="ascii", errors="replace") as status:
                for line in status:
                    if line.startswith("voluntary_ctxt_switches:"):
                        switches[task] = int(line.split()[1])
        except FileNotFoundError:
            continue
    return switches


def pss_megabytes(pid):
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as rollup:
        for line in rollup:
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1024
    return None
