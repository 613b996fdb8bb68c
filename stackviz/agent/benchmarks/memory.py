"""How much main memory a benchmark may use, and how large the caches are that a copy must exceed.

Sources on Linux: /proc/meminfo, cgroup v1 and v2 (Documentation/admin-guide/cgroup-v2.rst), /sys/devices/system/cpu,
and the topology of AMD's driver (/sys/class/kfd).
"""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from stackviz.report.measuring.benchmark import MIB

__all__ = ["ASSUMED_CACHE_BYTES", "OURS_OF_FREE", "amd_cache_bytes", "cpu_cache_bytes", "free_main_memory"]

OURS_OF_FREE = 0.8
"""The part of free memory that a case may take: others allocate too."""

_ROOT = Path("/")
_INFINITY_LEVEL = 3

ASSUMED_CACHE_BYTES = {
    "hip": 256 * MIB,  # Infinity Cache of the MI300X, the largest: AMD CDNA 3 white paper
    "xpu": 408 * MIB,  # L2 of the Data Center GPU Max 1550, the largest: Intel's product page
    "mps": 96 * MIB,  # system level cache of the largest M chips, Ultra, as measured by others: Apple publishes none
}
"""Where nothing tells a last-level cache: a copy that exceeds the largest of its kind exceeds it."""


def free_main_memory(root: Path = _ROOT) -> int | None:
    """What this process may still use: of the machine, and of each control group that holds it."""
    frees = [free for free in (_free_of_machine(root), *_free_of_groups(root)) if free is not None]
    return max(0, min(frees)) if frees else None


def _free_of_machine(root: Path) -> int | None:
    with suppress(OSError):
        match = re.search(r"^MemAvailable:\s+(\d+) kB$", (root / "proc/meminfo").read_text(), re.MULTILINE)
        if match:
            return int(match[1]) * 1024
    with suppress(ValueError, OSError, AttributeError):  # macOS has no MemAvailable; half of all is a cautious guess
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    return None


def _free_of_groups(root: Path) -> Iterator[int | None]:
    """Of the group and of all above it: each limit binds."""
    for line in _lines(root / "proc/self/cgroup"):
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controllers == "":
            mount = root / "sys/fs/cgroup"
            names = ("memory.max", "memory.current", "inactive_file")
        elif "memory" in controllers.split(","):
            mount = root / "sys/fs/cgroup/memory"
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        else:
            continue
        folder = mount / path.lstrip("/")
        for group in (folder, *folder.parents):
            if group == mount.parent:
                break
            yield _free_of_group(group, *names)


def _free_of_group(group: Path, limit: str, used: str, reclaimable: str) -> int | None:
    """None without a limit. Files that nobody reads can be dropped for memory that is needed."""
    with suppress(OSError, ValueError):
        free = int((group / limit).read_text()) - int((group / used).read_text())
        for line in _lines(group / "memory.stat"):
            name, _, size = line.partition(" ")
            if name == reclaimable:
                free += int(size)
        return free
    return None


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except OSError:
        return []


def cpu_cache_bytes(root: Path = _ROOT) -> int | None:
    """The last-level caches of all packages and clusters together: a copy by all cores fills them all."""
    caches: dict[tuple[int, str], int] = {}
    for index in (root / "sys/devices/system/cpu").glob("cpu[0-9]*/cache/index[0-9]*"):
        with suppress(OSError, ValueError, KeyError):
            level = int((index / "level").read_text())
            size = (index / "size").read_text().strip()
            shared_by = (index / "shared_cpu_list").read_text().strip()
            caches[level, shared_by] = int(size[:-1]) * {"K": 2**10, "M": 2**20}[size[-1]]
    if not caches:
        return None
    last = max(level for level, _ in caches)
    return sum(size for (level, _), size in caches.items() if level == last)


def amd_cache_bytes(root: Path = _ROOT) -> int | None:
    """The largest level-3 cache, Infinity Cache, of any AMD card here; torch tells the level 2 only."""
    sizes = []
    for properties in (root / "sys/class/kfd/kfd/topology/nodes").glob("*/caches/*/properties"):
        cache, node = _properties(properties), _properties(properties.parents[2] / "properties")
        if node.get("simd_count") and cache.get("level", 0) >= _INFINITY_LEVEL:  # a node without SIMDs is a processor
            sizes.append(cache.get("size", 0) * 1024)
    return max(sizes, default=0) or None


def _properties(path: Path) -> dict[str, int]:
    pairs = (line.split(" ") for line in _lines(path))
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdigit()}
