"""Which system a report's facts are of: of its programs, of the driver, of a Python wheel."""

from collections.abc import Mapping
from typing import Any

__all__ = ["driver_platform", "family", "wheel_platform"]

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
    told = str(facts.get("python.arch") or facts.get("os.arch") or "").strip().lower()
    arch = _ARCHS.get(told, told)
    if not system or not arch:
        return ""
    return f"{system}-{arch}" if system == "linux" else f"{system}-{_ARCHS_ELSEWHERE.get(arch, arch)}"
