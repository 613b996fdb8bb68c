"""The torch devices of this machine, and what a measurement needs to know about one.

Torch is passed in.
"""

import os
import platform
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from typing import Any

from stackviz.agent.benchmarks.math_settings import math_settings
from stackviz.agent.benchmarks.memory import (
    ASSUMED_CACHE_BYTES,
    OURS_OF_FREE,
    amd_cache_bytes,
    cpu_cache_bytes,
    free_main_memory,
)
from stackviz.agent.benchmarks.mlx_device import MlxDevice, mlx_devices
from stackviz.report.format import hashed_uuid
from stackviz.report.measuring import Benchmark, Params, Prepared
from stackviz.report.measuring.benchmark import uniform

__all__ = ["AnyDevice", "Device", "card_of", "list_devices"]


_FIRST_CAPABILITIES = {"tf32": (8, 0), "fp8": (8, 9), "mxfp8": (10, 0), "nvfp4": (10, 0)}
"""Type -> compute capability of the first NVIDIA cards that have it: CUDA C++ Programming Guide, and torch's checks of
its scaled products (aten/src/ATen/native/cuda/ScaledBlas.cpp)."""

_NOT_BY_ROCM = {
    "tf32": "TF32 is a type of NVIDIA cards",
    "fp8": "AMD cards before gfx950 have another FP8 (e4m3fnuz), which this agent does not measure",
    "mxfp8": "this agent measures MXFP8 on NVIDIA cards only",
    "nvfp4": "NVFP4 is a type of NVIDIA cards",
}


@dataclass(frozen=True)
class Device:
    """One of torch. `name` as torch takes it: cuda:0, mps, cpu. ROCm cards are cuda devices to torch."""

    torch: Any
    name: str
    kind: str
    index: int = 0

    def inference_mode(self) -> AbstractContextManager[object]:
        """What everything is measured in: without the records that gradients need."""
        mode: AbstractContextManager[object] = self.torch.inference_mode()
        return mode

    def prepare(self, benchmark: Benchmark, params: Params) -> Prepared:
        """Inputs made, and what a run is. Raises Unavailable."""
        return benchmark.prepare(self.torch, self.name, params)

    def make_numbers(self, count: int) -> None:
        """Random numbers of 32 bits, to see how long they take."""
        uniform(self.torch, self.name, (count,), self.torch.float32)

    def device_used(self, prepared: Prepared) -> str:
        """The device that really computed."""
        name = str(prepared.output.device)
        return f"{name}:0" if name in {"cuda", "xpu", "mps"} else name

    def conditions(self, dtype: str) -> dict[str, Any]:
        """What torch is, and what it is set to."""
        return {
            "torch_version": str(self.torch.__version__),
            "num_threads": int(self.torch.get_num_threads()),
            **math_settings(self.torch, self.kind, dtype),
        }

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
        if self._uses_main_memory():
            main = free_main_memory()
            free = main if free is None else free if main is None else min(free, main)
        return None if free is None else int(free * OURS_OF_FREE)

    def _uses_main_memory(self) -> bool:
        """GB10 and Jetson too: their driver counts the memory of the machine, not what a control group leaves of it."""
        if self.kind != "cuda":
            return self.kind in {"cpu", "mps"}
        with suppress(Exception):
            return bool(getattr(self.torch.cuda.get_device_properties(self.index), "is_integrated", False))
        return False

    def give_back(self) -> None:
        """Return memory that torch keeps for reuse, so that the next case finds it free."""
        if self.kind != "cpu":
            getattr(self.torch, self.kind).empty_cache()

    def cache_bytes(self) -> int | None:
        """The size of the last-level cache; None if unknown (Apple's system cache)."""
        if self.is_hip:
            return amd_cache_bytes()
        if self.kind == "cuda":
            size = getattr(self.torch.cuda.get_device_properties(self.index), "L2_cache_size", None)
            return int(size) if size else None
        return cpu_cache_bytes() if self.kind == "cpu" else None

    def exceeded_cache_bytes(self) -> int | None:
        """What a copy must exceed to be one of memory: where the cache is unknown, the largest of its kind."""
        kind = "hip" if self.is_hip else "mps" if self.kind == "cpu" and platform.system() == "Darwin" else self.kind
        return self.cache_bytes() or ASSUMED_CACHE_BYTES.get(kind)

    def lacks(self, dtype: str) -> str | None:
        """Why this device would compute in another type than this one; None if nothing says so."""
        if self.kind != "cuda" or dtype not in _FIRST_CAPABILITIES:
            return None
        if self.is_hip:
            return _NOT_BY_ROCM[dtype]
        if dtype == "tf32" and os.environ.get("NVIDIA_TF32_OVERRIDE") == "0":
            return "NVIDIA_TF32_OVERRIDE=0 forbids TF32"
        properties = self.torch.cuda.get_device_properties(self.index)
        capability, first = (int(properties.major), int(properties.minor)), _FIRST_CAPABILITIES[dtype]
        if capability >= first:
            return None
        return "{} begins with compute capability {}.{}; this card has {}.{}".format(dtype.upper(), *first, *capability)

    @property
    def is_hip(self) -> bool:
        return self.kind == "cuda" and bool(getattr(getattr(self.torch, "version", None), "hip", None))


AnyDevice = Device | MlxDevice


def list_devices(torch: Any, wanted: Sequence[str] = ()) -> list[AnyDevice]:  # noqa: ANN401
    """Accelerators first, the CPU last. `wanted`: names ("cuda:1") or kinds ("cuda"); nothing means all."""
    devices: list[AnyDevice] = []
    for kind in ("cuda", "xpu"):
        backend = getattr(torch, kind, None)
        if backend is not None and backend.is_available():
            devices += [Device(torch, f"{kind}:{n}", kind, n) for n in range(backend.device_count())]
    mps = getattr(torch.backends, "mps", None)
    if mps is not None and mps.is_available():
        devices.append(Device(torch, "mps", "mps"))
    devices += mlx_devices(wanted)
    devices.append(Device(torch, "cpu", "cpu"))
    return [device for device in devices if not wanted or device.name in wanted or device.kind in wanted]


def card_of(device: AnyDevice, cards: Sequence[Mapping[str, Any]]) -> int | None:
    """Index of the report's card for a device; None if it is none of them or unknown."""
    if device.kind == "cpu":
        return None
    vendors = {"mps": {"apple", "amd"}, "mlx": {"apple"}, "xpu": {"intel"}}.get(device.kind, {"nvidia", "amd"})
    candidates = [card for card in cards if card["vendor"] in vendors]
    if isinstance(device, Device) and device.kind == "cuda":
        properties = device.torch.cuda.get_device_properties(device.index)
        uuid = getattr(properties, "uuid", None)
        wanted = hashed_uuid(str(uuid)) if uuid else None
        same = [card for card in candidates if wanted and card.get("uuid_hash") == wanted]
        if not same:  # torch before 2.4 tells no UUID; MIG instances tell their card's name with the profile
            same = [card for card in candidates if card["reported_name"] == str(properties.name)]
        candidates = same or candidates
    return int(candidates[0]["index"]) if len(candidates) == 1 else None
