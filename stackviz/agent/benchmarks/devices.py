"""The torch devices of this machine, and what a measurement needs to know about one.

Torch is passed in.
"""

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stackviz.wire import hashed_uuid

__all__ = ["KINDS", "Device", "card_of", "list_devices"]

KINDS = ("cuda", "xpu", "mps", "cpu")
_MARGIN = 0.8  # of free memory: others allocate too


@dataclass(frozen=True)
class Device:
    """`name` as torch takes it: cuda:0, mps, cpu. ROCm cards are cuda devices to torch."""

    torch: Any
    name: str
    kind: str
    index: int = 0

    def synchronize(self) -> None:
        """Wait until the device has done all it was given. CPU operators return when they are done."""
        if self.kind == "cuda":
            self.torch.cuda.synchronize(self.index)
        elif self.kind == "xpu":
            self.torch.xpu.synchronize(self.index)
        elif self.kind == "mps":
            self.torch.mps.synchronize()

    def free_bytes(self) -> int | None:
        """Memory a benchmark may use; None if unknown."""
        free: int | None = None
        with suppress(Exception):  # a driver that does not tell costs no case
            if self.kind in {"cuda", "xpu"}:
                free = int(getattr(self.torch, self.kind).mem_get_info(self.index)[0])
            elif self.kind == "mps":
                free = int(self.torch.mps.recommended_max_memory() - self.torch.mps.driver_allocated_memory())
            else:
                free = _free_main_memory()
        return None if free is None else int(free * _MARGIN)

    def give_back(self) -> None:
        """Return memory that torch keeps for reuse, so that the next case finds it free."""
        if self.kind != "cpu":
            getattr(self.torch, self.kind).empty_cache()

    def cache_bytes(self) -> int | None:
        """The size of the last-level cache; None if unknown (Apple's system cache)."""
        if self.kind == "cuda":
            size = getattr(self.torch.cuda.get_device_properties(self.index), "L2_cache_size", None)
            return int(size) if size else None
        return _cpu_cache_bytes() if self.kind == "cpu" else None


def list_devices(torch: Any, wanted: Sequence[str] = ()) -> list[Device]:  # noqa: ANN401
    """Accelerators first, the CPU last. `wanted`: names ("cuda:1") or kinds ("cuda"); nothing means all."""
    devices = []
    for kind in ("cuda", "xpu"):
        backend = getattr(torch, kind, None)
        if backend is not None and backend.is_available():
            devices += [Device(torch, f"{kind}:{n}", kind, n) for n in range(backend.device_count())]
    mps = getattr(torch.backends, "mps", None)
    if mps is not None and mps.is_available():
        devices.append(Device(torch, "mps", "mps"))
    devices.append(Device(torch, "cpu", "cpu"))
    return [device for device in devices if not wanted or device.name in wanted or device.kind in wanted]


def card_of(device: Device, cards: Sequence[Mapping[str, Any]]) -> int | None:
    """Index of the report's card for a device; None if it is none of them or unknown."""
    if device.kind == "cpu":
        return None
    vendors = {"mps": {"apple", "amd"}, "xpu": {"intel"}}.get(device.kind, {"nvidia", "amd"})
    candidates = [card for card in cards if card["vendor"] in vendors]
    if device.kind == "cuda":
        properties = device.torch.cuda.get_device_properties(device.index)
        uuid = getattr(properties, "uuid", None)
        wanted = hashed_uuid(str(uuid)) if uuid else None
        same = [card for card in candidates if wanted and card.get("uuid_hash") == wanted]
        if not same:  # torch before 2.4 tells no UUID; MIG instances tell their card's name with the profile
            same = [card for card in candidates if card["reported_name"] == str(properties.name)]
        candidates = same or candidates
    return int(candidates[0]["index"]) if len(candidates) == 1 else None


def _free_main_memory(root: Path = Path("/")) -> int | None:
    with suppress(OSError):
        match = re.search(r"^MemAvailable:\s+(\d+) kB$", (root / "proc/meminfo").read_text(), re.MULTILINE)
        if match:
            return int(match[1]) * 1024
    with suppress(ValueError, OSError, AttributeError):  # macOS has no MemAvailable; half of all is a cautious guess
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    return None


def _cpu_cache_bytes(root: Path = Path("/")) -> int | None:
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
