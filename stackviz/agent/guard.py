"""No child outlives the agent: what it starts and the folders it makes are known to a process that cleans up.

The guard is started with the first child and ends with the agent. On Windows a job object ends the children instead. A
child that starts children shares the agent's guard: their marks begin with its mark, and their folders lie in
its folder.
"""

import atexit
import ctypes
import json
import os
import secrets
import subprocess
import sys
import threading
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Literal

import stackviz
from stackviz.agent.guard_process import MARK, end_marked

__all__ = ["forget_folder", "forget_group", "marked", "parent_folder", "watch_folder", "watch_group"]

_EXTENDED_LIMIT_INFORMATION = 9  # JobObjectExtendedLimitInformation of winnt.h
_KILL_ON_JOB_CLOSE = 0x2000  # JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE


def end_with_agent(child: "subprocess.Popen[bytes]") -> None:
    """On Windows, put a child into the agent's job. Elsewhere the guard ends it."""
    if sys.platform == "win32":
        with suppress(OSError):  # a job that cannot be made costs the protection, not the run
            library, job = _job()
            library.AssignProcessToJobObject(ctypes.c_void_p(job), ctypes.c_void_p(int(child._handle)))  # noqa: SLF001 - subprocess shows it nowhere else


class _BasicLimits(ctypes.Structure):
    _fields_ = (
        ("PerProcessUserTimeLimit", ctypes.c_int64),
        ("PerJobUserTimeLimit", ctypes.c_int64),
        ("LimitFlags", ctypes.c_uint32),
        ("MinimumWorkingSetSize", ctypes.c_size_t),
        ("MaximumWorkingSetSize", ctypes.c_size_t),
        ("ActiveProcessLimit", ctypes.c_uint32),
        ("Affinity", ctypes.c_size_t),
        ("PriorityClass", ctypes.c_uint32),
        ("SchedulingClass", ctypes.c_uint32),
    )


class _ExtendedLimits(ctypes.Structure):
    _fields_ = (
        ("BasicLimitInformation", _BasicLimits),
        ("IoInfo", ctypes.c_uint64 * 6),
        ("ProcessMemoryLimit", ctypes.c_size_t),
        ("JobMemoryLimit", ctypes.c_size_t),
        ("PeakProcessMemoryUsed", ctypes.c_size_t),
        ("PeakJobMemoryUsed", ctypes.c_size_t),
    )


@cache
def _job() -> tuple[Any, int]:
    """kernel32, and one job for the life of this process: its handle is never closed by us."""
    library = ctypes.WinDLL("kernel32", use_last_error=True)  # type: ignore[attr-defined, unused-ignore]
    library.CreateJobObjectW.restype = ctypes.c_void_p
    job = library.CreateJobObjectW(None, None)
    limits = _ExtendedLimits()
    limits.BasicLimitInformation.LimitFlags = _KILL_ON_JOB_CLOSE
    library.SetInformationJobObject(
        ctypes.c_void_p(job), _EXTENDED_LIMIT_INFORMATION, ctypes.byref(limits), ctypes.sizeof(limits)
    )
    return library, int(job or 0)


_START = "import runpy, sys; sys.path.insert(0, sys.argv[1]); runpy.run_module(sys.argv[2], run_name='__main__')"
_END_WITHIN_S = 5.0
Kind = Literal["group", "folder"]


class _Guard:
    """The process, once there is something to guard. A guard that somebody killed is not started again."""

    def __init__(self) -> None:
        self.mark = f"{os.getpid()}-{secrets.token_hex(8)}"
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def send(self, verb: Literal["add", "remove"], kind: Kind, value: int | str) -> None:
        if MARK in os.environ:
            return  # guarded by the agent that started us
        with self._lock:
            if self._process is None:
                self._process = _started(self.mark)
                atexit.register(self.close)
            pipe = self._process.stdin
            if pipe is not None:
                with suppress(OSError, ValueError):
                    pipe.write(json.dumps([verb, kind, value]).encode() + b"\n")
                    pipe.flush()

    def close(self) -> None:
        with self._lock:
            process, self._process = self._process, None
        if process is not None and process.stdin is not None:
            with suppress(OSError, subprocess.TimeoutExpired):
                process.stdin.close()
                process.wait(_END_WITHIN_S)


def _started(mark: str) -> "subprocess.Popen[bytes]":
    home = str(Path(next(iter(stackviz.__path__))).parent)
    return subprocess.Popen(  # noqa: S603 - our own Python, a module of ours
        [sys.executable, "-I", "-S", "-c", _START, home, "stackviz.agent.guard_process", mark],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C of the terminal is not for it
    )


_GUARD = _Guard()
_COUNT_LOCK = threading.Lock()
_count = 0


def marked() -> dict[str, str]:
    """A mark for the environment of one child: all that it starts has it too."""
    global _count  # noqa: PLW0603 - numbers the children of this process
    with _COUNT_LOCK:
        _count += 1
        return {MARK: f"{os.environ.get(MARK) or f'{_GUARD.mark}:'}{_count}:"}


def watch_group(child: "subprocess.Popen[bytes]") -> None:
    """Make this child, which leads a group, end with the agent. Call it before the child gets its input."""
    end_with_agent(child)
    _GUARD.send("add", "group", child.pid)


def forget_group(child: "subprocess.Popen[bytes]", mark: str) -> None:
    """After its group was ended: what has its mark and left the group is ended too."""
    end_marked(mark)
    _GUARD.send("remove", "group", child.pid)


def parent_folder() -> str | None:
    """Return the parent of folders that are removed with ours; None means the system's folder for temporary files."""
    answer = os.environ.get("ACCELWEB_ANSWER")
    return str(Path(answer).parent) if MARK in os.environ and answer else None


def watch_folder(folder: str) -> None:
    _GUARD.send("add", "folder", folder)


def forget_folder(folder: str) -> None:
    _GUARD.send("remove", "folder", folder)
