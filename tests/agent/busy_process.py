"""Programs that keep a processor busy: neighbours that nobody here started, or children of this process."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

NAME = "busy-neighbour"
_PROGRAM = f"import ctypes\nctypes.CDLL(None).prctl(15, b'{NAME}')\nwhile True: pass"
_LAUNCHER = "import subprocess, sys\nprint(subprocess.Popen([sys.executable, '-c', sys.argv[1]], stdout=subprocess.DEVNULL).pid)"
_MOST_S = 60


@contextmanager
def busy_neighbours(count: int) -> Iterator[list[int]]:
    """`count` of them at work, known to the system as NAME, whose parent has ended; ended with the block."""
    program = f"import signal\nsignal.alarm({_MOST_S})\n{_PROGRAM}"
    pids = []
    try:
        for _ in range(count):
            launched = subprocess.run(
                [sys.executable, "-c", _LAUNCHER, program], stdout=subprocess.PIPE, check=True, timeout=30
            )
            pids.append(int(launched.stdout))
        _wait_for(pids)
        yield pids
    finally:
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


@contextmanager
def busy_child() -> Iterator[int]:
    """One that descends from this process."""
    with subprocess.Popen([sys.executable, "-c", _PROGRAM]) as started:
        try:
            _wait_for([started.pid])
            yield started.pid
        finally:
            started.kill()


def _wait_for(pids: list[int]) -> None:
    until = time.monotonic() + 30
    while any(_name(pid) != NAME for pid in pids) and time.monotonic() < until:
        time.sleep(0.02)


def _name(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text().strip()
    return ""
