"""Processor and main memory. On macOS the apple probe asks.

Sources on Linux: /proc/cpuinfo and /proc/meminfo (proc(5)), /sys/devices/system/cpu
(Documentation/ABI/testing/sysfs-devices-system-cpu), cgroup v1 and v2.
"""

import ctypes
import math
import os
import platform
import re

from stackviz.report.format.facts.apple import for_apple_silicon, sysctl_number
from stackviz.report.format.facts.asking import MissingFact, Surroundings, only_on
from stackviz.report.format.facts.table import FactTable

__all__ = ["FACTS"]

FACTS = FactTable(order=30, probe="system")

_REPORTED_FEATURES = frozenset(
    {
        "sse4_2", "avx", "avx2", "avx512f", "avx512_bf16", "avx512_fp16", "avx512_vnni", "avx_vnni", "amx_bf16",
        "amx_fp16", "amx_int8", "amx_tile", "f16c", "fma", "asimd", "asimdhp", "asimddp", "bf16", "i8mm", "sve",
        "sve2", "svebf16", "sme", "sme2", "fphp", "neon",
    }
)  # fmt: skip
"""Words of /proc/cpuinfo that matter to matrix kernels, x86 and ARM."""
_MIB = 2**20


def _cpuinfo(around: Surroundings, label: str) -> str | None:
    match = re.search(rf"^{label}\s*:\s*(.+)$", around.read("/proc/cpuinfo") or "", re.MULTILINE)
    return match[1].strip() if match else None


@FACTS.text("cpu.model", "the processor's brand string")
def cpu_model(around: Surroundings) -> str | None:
    if around.system == "Windows":
        return platform.processor() or None
    only_on(around, "Linux")
    named = _cpuinfo(around, "model name") or _cpuinfo(around, "Model Name")
    if named:
        return named
    match = re.search(r"^Model name:\s*(.+)$", around.run("lscpu"), re.MULTILINE)  # ARM: cpuinfo has part numbers only
    return match[1].strip() if match and match[1].strip() != "-" else None


@FACTS.text("cpu.arch", "instruction set: x86_64, aarch64, arm64")
def cpu_arch(_around: Surroundings) -> str:
    return platform.machine()


@FACTS.text("cpu.features", "vector and matrix extensions, space separated, sorted: avx2 avx512f amx_bf16")
def cpu_features(around: Surroundings) -> str | None:
    only_on(around, "Linux")
    flags = set((_cpuinfo(around, "flags") or _cpuinfo(around, "Features") or "").split())
    return " ".join(sorted(flags & _REPORTED_FEATURES)) or None


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


@FACTS.count("cpu.cores_physical", "physical cores this system sees")
def cpu_cores_physical(around: Surroundings) -> int | None:
    only_on(around, "Linux")
    return len(_cores(around)) or None


@FACTS.count("cpu.cores_logical", "logical processors this system sees")
def cpu_cores_logical(_around: Surroundings) -> int | None:
    return os.cpu_count()


def _quota_cores(around: Surroundings) -> float | None:
    """Processors the container's quota allows: cgroup v2 cpu.max, v1 cpu.cfs_quota_us."""
    match = re.match(r"(\d+) (\d+)$", around.read("/sys/fs/cgroup/cpu.max") or "")
    if match:
        return int(match[1]) / int(match[2])
    quota = around.read("/sys/fs/cgroup/cpu/cpu.cfs_quota_us") or ""
    period = around.read("/sys/fs/cgroup/cpu/cpu.cfs_period_us") or ""
    return int(quota) / int(period) if quota.isdigit() and period.isdigit() else None


@FACTS.count("cpu.cores_usable", "logical processors this process may use (affinity, container quota rounded up)")
def cpu_cores_usable(around: Surroundings) -> int | None:
    only_on(around, "Linux")
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    quota = _quota_cores(around)
    return min(usable, math.ceil(quota)) if usable and quota else usable


@FACTS.count("cpu.sockets", "processor packages")
def cpu_sockets(around: Surroundings) -> int | None:
    only_on(around, "Linux")
    return len({package for package, _ in _cores(around)}) or None


@FACTS.size("cpu.cache_last_level_bytes", "largest single last-level data cache")
def cpu_cache_last_level_bytes(around: Surroundings) -> int | None:
    only_on(around, "Linux")
    caches = around.path("/sys/devices/system/cpu/cpu0/cache")
    sizes: list[tuple[int, int]] = []
    for index in caches.iterdir() if caches.is_dir() else ():
        where = f"/sys/devices/system/cpu/cpu0/cache/{index.name}"
        size = re.match(r"(\d+)([KMG])$", around.read(f"{where}/size") or "")
        level = around.read(f"{where}/level") or ""
        if size and level.isdigit() and around.read(f"{where}/type") != "Instruction":
            sizes.append((int(level), int(size[1]) * {"K": 2**10, "M": 2**20, "G": 2**30}[size[2]]))
    return max(sizes)[1] if sizes else None


@FACTS.number("cpu.clock_max_hz", "highest clock of the first processor", unit="Hz", least=1)
def cpu_clock_max_hz(around: Surroundings) -> int | None:
    only_on(around, "Linux")
    kilohertz = around.read("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq") or ""
    return int(kilohertz) * 1000 if kilohertz.isdigit() else None


@FACTS.text("cpu.governor", "frequency governor of the first processor")
def cpu_governor(around: Surroundings) -> str | None:
    only_on(around, "Linux")
    return around.read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")


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
    succeeded = ctypes.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status))  # type: ignore[attr-defined]
    return int(status.total) if succeeded else None


@FACTS.size("memory.shared_bytes", "size of /dev/shm, through which processes share memory: 64 MiB in a new container")
def memory_shared_bytes(around: Surroundings) -> int:
    only_on(around, "Linux")
    folder = around.path("/dev/shm")  # noqa: S108 - it is asked about, not written to
    if not folder.is_dir():
        raise MissingFact("not_applicable", "there is no /dev/shm")
    size = os.statvfs(folder)
    return size.f_blocks * size.f_frsize


@FACTS.count(
    "memory.numa_nodes", "NUMA nodes with processors or memory: parts of main memory, each nearer to some cores"
)
def memory_numa_nodes(around: Surroundings) -> int | None:
    only_on(around, "Linux")
    nodes = around.path("/sys/devices/system/node")
    return len(list(nodes.glob("node[0-9]*"))) if nodes.is_dir() else None


@FACTS.number(
    "memory.transfer_rate_hz", "transfers per second of the slowest module of main memory", unit="Hz", least=1
)
def memory_transfer_rate_hz(around: Surroundings) -> int | None:
    """The firmware's table, which only root may read: DDR5-4800 states 4800 MT/s."""
    only_on(around, "Linux")
    if not os.access(around.path("/sys/firmware/dmi/tables/DMI"), os.R_OK):
        raise MissingFact("not_supported", "only root may read the firmware's table of memory modules")
    text = around.run("dmidecode", "-t", "17")
    speeds = re.findall(r"^\s*Configured (?:Memory|Clock) Speed: (\d+) M", text, re.MULTILINE)
    return min(map(int, speeds)) * 10**6 if speeds else None


@FACTS.size("memory.total_bytes", "main memory the system can use")
def memory_total_bytes(around: Surroundings) -> int | None:
    if around.system == "Windows":
        return _windows_memory_bytes()
    only_on(around, "Linux")  # Macs: the apple probe
    match = re.search(r"^MemTotal:\s+(\d+) kB$", around.read("/proc/meminfo") or "", re.MULTILINE)
    return int(match[1]) * 1024 if match else None


@FACTS.size("memory.limit_bytes", "memory limit of the container or group this runs in")
def memory_limit_bytes(around: Surroundings) -> int:
    only_on(around, "Linux")
    for name in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        limit = around.read(name) or ""
        if limit.isdigit() and 0 < int(limit) < 2**60:  # v1 writes about 2^63 for "none"
            return int(limit)
    raise MissingFact("not_applicable", "no limit is set")


@FACTS.size(
    "memory.gpu_limit_bytes",
    "how much main memory the GPU may use: the wired limit if one is set, else the recommended working set",
    probe="apple",
)
def memory_gpu_limit_bytes(around: Surroundings) -> int:
    """0 means the default; that is torch.mps.recommended_max_memory(), which the torch probe asks."""
    for_apple_silicon(around)
    megabytes = sysctl_number(around, "iogpu.wired_limit_mb")
    if megabytes == 0:
        raise MissingFact("not_reported", "iogpu.wired_limit_mb is 0: the default, which only Metal tells")
    return megabytes * _MIB
