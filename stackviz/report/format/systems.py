"""Which system a report's facts are of: of its programs, driver and Python wheels; how wheels name their CUDA."""

import re
from collections.abc import Mapping
from typing import Any

__all__ = ["cuda_of", "driver_platform", "family", "is_cpu_build", "wheel_platform", "wheel_variant"]

_FAMILIES = (
    ("windows", ("windows", "microsoft windows")),
    ("macos", ("macos", "mac os", "darwin")),
)
_ARCHS = {"amd64": "x86_64", "arm64": "aarch64"}
_ARCHS_ELSEWHERE = {"aarch64": "arm64"}  # Linux alone calls it aarch64


def family(facts: Mapping[str, Any]) -> str:
    """`linux`, `windows` or `macos`: the system that programs run on. Under WSL that is Linux. "" unknown."""
    name = str(facts.get("os.name") or "").strip().casefold()
    for system, beginnings in _FAMILIES:
        if name.startswith(beginnings):
            return system
    return "linux" if name else ""


def driver_platform(facts: Mapping[str, Any]) -> str:
    """As `family`, as far as drivers go: under WSL the driver is the one of Windows."""
    return "windows" if facts.get("os.wsl") else family(facts)


def wheel_platform(facts: Mapping[str, Any]) -> str:
    """The platform a Python wheel is for: `linux-aarch64`, `windows-x86_64`, `macos-arm64`. "" unknown."""
    system = family(facts)
    reported_arch = str(facts.get("python.arch") or facts.get("os.arch") or "").strip().lower()
    arch = _ARCHS.get(reported_arch, reported_arch)
    if not system or not arch:
        return ""
    return f"{system}-{arch}" if system == "linux" else f"{system}-{_ARCHS_ELSEWHERE.get(arch, arch)}"


# Builds of torch write 12.8 as `cu128`.
_VARIANT = re.compile(r"cu(\d{1,3})(\d)")
_CUDA = re.compile(r"(\d{1,3})\.(\d)(?:\.[\w.]{0,20})?")


def cuda_of(variant: str) -> str:
    """ "cu128" -> "12.8"; "" for what is no build with CUDA: "cpu", "cu", "custom"."""
    match = _VARIANT.fullmatch(variant)
    return f"{match[1]}.{match[2]}" if match else ""


def wheel_variant(cuda: str) -> str:
    """ "12.8" and "12.8.1" -> "cu128"; "" for what is no CUDA version: torch builds name both its numbers."""
    match = _CUDA.fullmatch(cuda.strip())
    return f"cu{match[1]}{match[2]}" if match else ""


def is_cpu_build(torch: str) -> bool:
    """Whether a version of torch names the build for the CPU: `2.9.1+cpu`, `2.1.0+cpu.cxx11.abi`."""
    return re.match(r"cpu(?![0-9a-z])", torch.partition("+")[2]) is not None
