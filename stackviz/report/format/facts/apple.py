"""Apple chips and torch's mps and xpu devices.

Sources: sysctl(3) names hw.*, machdep.cpu.*; `ioreg` (class AGXAccelerator has gpu-core-count).
"""

import plistlib
import re
from typing import Any

from stackviz.report.format.agent_texts import NO_PROPERTY_LIST
from stackviz.report.format.facts.asking import MissingFact, Surroundings, variable
from stackviz.report.format.facts.table import FactTable
from stackviz.report.format.facts.torch import mps_backend

__all__ = ["FACTS", "for_apple_silicon", "registry", "sysctl", "sysctl_number"]

FACTS = FactTable(order=80, probe="apple")


@FACTS.truth(
    "mps.built",
    "torch was built with the mps device",
    probe="torch",
    command='python -c "import torch; print(torch.backends.mps.is_built())"',
)
def mps_built(around: Surroundings) -> bool:
    return bool(mps_backend(around.torch).is_built())


@FACTS.truth(
    "mps.available",
    "torch can use the mps device here",
    probe="torch",
    command='python -c "import torch; print(torch.backends.mps.is_available())"',
)
def mps_available(around: Surroundings) -> bool:
    return bool(mps_backend(around.torch).is_available())


@FACTS.text("mps.fallback", "PYTORCH_ENABLE_MPS_FALLBACK as set; absent if unset", probe="torch")
def mps_fallback(around: Surroundings) -> str | None:
    return variable(around, "PYTORCH_ENABLE_MPS_FALLBACK")


@FACTS.text("mps.high_watermark_ratio", "PYTORCH_MPS_HIGH_WATERMARK_RATIO as set; absent if unset", probe="torch")
def mps_high_watermark_ratio(around: Surroundings) -> str | None:
    return variable(around, "PYTORCH_MPS_HIGH_WATERMARK_RATIO")


def _recommended_memory(torch: Any) -> int:  # noqa: ANN401
    if not mps_backend(torch).is_available():
        raise MissingFact("not_applicable", "the mps device cannot be used here")
    ask = getattr(torch.mps, "recommended_max_memory", None)
    if ask is None:
        raise MissingFact("not_supported", "this torch does not report it (2.6 does)")
    return int(ask())


@FACTS.size("mps.recommended_max_memory_bytes", "torch.mps.recommended_max_memory()", probe="torch")
def mps_recommended_max_memory_bytes(around: Surroundings) -> int:
    return _recommended_memory(around.torch)


def sysctl(around: Surroundings, name: str) -> str:
    return around.run("sysctl", "-n", name).strip()


def _is_apple_silicon(around: Surroundings) -> bool:
    """hw.optional.arm64 is missing on Intel Macs; unlike the machine word it is not translated under Rosetta."""
    try:
        return sysctl(around, "hw.optional.arm64") == "1"
    except MissingFact:
        return False


def for_apple_silicon(around: Surroundings) -> None:
    if not _is_apple_silicon(around):
        raise MissingFact("not_applicable", "an Intel Mac")


@FACTS.text("apple.chip", "Apple M3 Max", command="system_profiler SPHardwareDataType")
def apple_chip(around: Surroundings) -> str:
    for_apple_silicon(around)
    return sysctl(around, "machdep.cpu.brand_string")


def registry(around: Surroundings, name: str) -> list[dict[str, Any]]:
    """Entries of a class of the IORegistry: `ioreg -r -c <class> -d 1 -a` prints a property list."""
    text = around.run("ioreg", "-r", "-c", name, "-d", "1", "-a")
    try:
        entries = plistlib.loads(text.encode()) if text.strip() else []
    except Exception as error:  # noqa: BLE001 - plistlib raises what its parsers raise
        raise MissingFact("failed", NO_PROPERTY_LIST.format(name=type(error).__name__)) from None
    return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []


@FACTS.count("apple.gpu_cores", "GPU cores of the chip; with the chip's name it tells the bin")
def apple_gpu_cores(around: Surroundings) -> int | None:
    for_apple_silicon(around)
    for accelerator in registry(around, "AGXAccelerator"):
        count = accelerator.get("gpu-core-count")
        if isinstance(count, int):
            return count
    return None  # _read_profile may know


def sysctl_number(around: Surroundings, name: str) -> int:
    text = sysctl(around, name)
    if not re.fullmatch(r"-?\d{1,20}", text):
        raise MissingFact("not_reported", f"sysctl {name} says {text[:80]}")
    return int(text)


@FACTS.count("apple.cpu_p_cores", "performance cores (the largest kind this chip has)")
def apple_cpu_p_cores(around: Surroundings) -> int:
    for_apple_silicon(around)
    return sysctl_number(around, "hw.perflevel0.physicalcpu")


@FACTS.count("apple.cpu_e_cores", "efficiency cores (all smaller kinds together)")
def apple_cpu_e_cores(around: Surroundings) -> int:
    for_apple_silicon(around)
    levels = sysctl_number(around, "hw.nperflevels")
    if levels < 2:
        raise MissingFact("not_applicable", "this chip has one kind of core")
    return sum(sysctl_number(around, f"hw.perflevel{level}.physicalcpu") for level in range(1, min(levels, 8)))


FACTS.text("apple.metal_family", "Metal support as macOS words it; follows the system, not the chip")


def _xpu_available(torch: Any) -> bool:  # noqa: ANN401
    backend = getattr(torch, "xpu", None)
    return bool(backend and backend.is_available())


@FACTS.truth("xpu.available", "torch.xpu.is_available()", probe="torch")
def xpu_available(around: Surroundings) -> bool:
    return _xpu_available(around.torch)
