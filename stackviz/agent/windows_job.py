"""Windows ends what is in a job object when the last handle to it closes, which the system does however we end."""

import ctypes
import subprocess
import sys
from contextlib import suppress
from functools import cache
from typing import Any

__all__ = ["end_with_agent"]

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
