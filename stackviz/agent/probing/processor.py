"""The processor and memory half of the system probe, on Linux and Windows; on macOS the apple probe asks.

Sources on Linux: /proc/cpuinfo and /proc/meminfo (proc(5)), /sys/devices/system/cpu
(Documentation/ABI/testing/sysfs-devices-system-cpu), cgroup v1 and v2.
"""

import ctypes
import math
import os
import platform
import re

from stackviz.agent.probing.asking import Missing, Questions, Surroundings, only_on

__all__ = ["QUESTIONS"]

QUESTIONS = Questions()

_TOLD_FEATURES = frozenset(
    {
        "sse4_2", "avx", "avx2", "avx512f", "avx512_bf16", "avx512_fp16", "avx512_vnni", "avx_vnni", "amx_bf16",
        "amx_fp16", "amx_int8", "amx_tile", "f16c", "fma", "asimd", "asimdhp", "asimddp", "bf16", "i8mm", "sve",
        "sve2", "svebf16", "sme", "sme2", "fphp", "neon",
    }
)  # fmt: skip
"""Words of /proc/cpuinfo that matter to matrix kernels, x86 and ARM."""


def _cpuinfo(around: Surroundings, label: str) -> str | None:
    match = re.search(rf"^{label}\s*:\s*(.+)$", around.read("/proc/cpuinfo") or "", re.MULTILINE)
    return match[1].strip() if match else None


@QUESTIONS.about("cpu.model")
def cpu_model(around: Surroundings) -> str | None:
    if around.system == "Windows":
        return platform.processor() or None
    only_on(around, "Linux")
    named = _cpuinfo(around, "model name") or _cpuinfo(around, "Model Name")
    if named:
        return named
    match = re.search(r"^Model name:\s*(.+)$", around.run("lscpu"), re.MULTILINE)  # ARM: cpuinfo has part numbers only
    return match[1].strip() if match and match[1].strip() != "-" else None


@QUESTIONS.about("cpu.arch")
def cpu_arch(_around: Surroundings) -> str:
    return platform.machine()


@QUESTIONS.about("cpu.features")
def cpu_features(around: Surroundings) -> str | None:
    only_on(around, "Linux")
    flags = set((_cpuinfo(around, "flags") or _cpuinfo(around, "Features") or "").split())
    return " ".join(sorted(flags & _TOLD_FEATURES)) or None


def _cores(around: Surroundings) -> set[tuple[str | None, str | None]]:
    """(package, core) of each processor the system lists."""
    cpus = around.path("/sys/devices/system/cpu")
    names = [cpu.name for cpu in cpus.iterdir() if re.fullmatch(r"cpu\d+", cpu.name)] if cpus.is_dir() else []
    topology = {
        (
            around.read(f"/sys/devices/system/cpu/{name}/topology/physical_package_id"),
            around.read(f"/sys/devices/system/cpu/{name}/topology/core_id"),
        )
        for name in names
    }
    return {core for core in topology if core[1] is not None}


@QUESTIONS.about("cpu.cores_physical")
def cpu_cores_physical(around: Surroundings) -> int | None:
    only_on(around, "Linux")
    return len(_cores(around)) or None


@QUESTIONS.about("cpu.cores_logical")
def cpu_cores_logical(_around: Surroundings) -> int | None:
    return os.cpu_count()


@QUESTIONS.about("cpu.cores_usable")
def cpu_cores_usable(around: Surroundings) -> int | None:
    only_on(around, "Linux")
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    quota = _quota_cores(around)
    return min(usable, math.ceil(quota)) if usable and quota else usable


def _quota_cores(around: Surroundings) -> float | None:
    """Processors the container's quota allows: cgroup v2 cpu.max, v1 cpu.cfs_quota_us."""
    match = re.match(r"(\d+) (\d+)$", around.read("/sys/fs/cgroup/cpu.max") or "")
    if match:
        return int(match[1]) / int(match[2])
    quota = around.read("/sys/fs/cgroup/cpu/cpu.cfs_quota_us") or ""
    period = around.read("/sys/fs/cgroup/cpu/cpu.cfs_period_us") or ""
    return int(quota) / int(period) if quota.isdigit() and period.isdigit() else None


@QUESTIONS.about("cpu.sockets")
def cpu_sockets(around: Surroundings) -> int | None:
    only_on(around, "Linux")
    return len({package for package, _ in _cores(around)}) or None


@QUESTIONS.about("cpu.cache_last_level_bytes")
def cpu_cache_last_level_bytes(around: Surroundings) -> int | None:
    only_on(around, "Linux")
    caches = around.path("/sys/devices/system/cpu/cpu0/cache")
    found: list[tuple[int, int]] = []
    for index in caches.iterdir() if caches.is_dir() else ():
        where = f"/sys/devices/system/cpu/cpu0/cache/{index.name}"
        size = re.match(r"(\d+)([KMG])$", around.read(f"{where}/size") or "")
        level = around.read(f"{where}/level") or ""
        if size and level.isdigit() and around.read(f"{where}/type") != "Instruction":
            found.append((int(level), int(size[1]) * {"K": 2**10, "M": 2**20, "G": 2**30}[size[2]]))
    return max(found)[1] if found else None


@QUESTIONS.about("cpu.clock_max_hz")
def cpu_clock_max_hz(around: Surroundings) -> int | None:
    only_on(around, "Linux")
    kilohertz = around.read("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq") or ""
    return int(kilohertz) * 1000 if kilohertz.isdigit() else None


@QUESTIONS.about("cpu.governor")
def cpu_governor(around: Surroundings) -> str | None:
    only_on(around, "Linux")
    return around.read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")


# ---- memory ---------------------------------------------------------------------------------------------------------


@QUESTIONS.about("memory.total_bytes")
def memory_total_bytes(around: Surroundings) -> int | None:
    if around.system == "Windows":
        return _windows_memory_bytes()
    only_on(around, "Linux")  # Macs: the apple probe
    match = re.search(r"^MemTotal:\s+(\d+) kB$", around.read("/proc/meminfo") or "", re.MULTILINE)
    return int(match[1]) * 1024 if match else None


@QUESTIONS.about("memory.limit_bytes")
def memory_limit_bytes(around: Surroundings) -> int:
    only_on(around, "Linux")
    for name in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        limit = around.read(name) or ""
        if limit.isdigit() and 0 < int(limit) < 2**60:  # v1 writes about 2^63 for "none"
            return int(limit)
    raise Missing("not_applicable", "no limit is set")


def _windows_memory_bytes() -> int | None:
    """GlobalMemoryStatusEx, see learn.microsoft.com/windows/win32/api/sysinfoapi."""

    class Status(ctypes.Structure):
        _fields_ = [
            ("length", ctypes.c_ulong),
            ("load", ctypes.c_ulong),
            *(
                (name, ctypes.c_ulonglong)
                for name in ("total", "free", "page", "page_free", "virt", "virt_free", "ext")
            ),
        ]

    status = Status(length=ctypes.sizeof(Status))
    asked = ctypes.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status))  # type: ignore[attr-defined]
    return int(status.total) if asked else None
