"""How NVIDIA's tools write a value, and what they write instead of one."""

import re

from stackviz.report.format import Scalar
from stackviz.report.importers.reading import Reading, clean

__all__ = [
    "boolean",
    "byte_count",
    "hexadecimal",
    "hyphened",
    "integer_of",
    "number",
    "scalar_sum",
    "state_driver",
    "value",
    "why",
]

_DOES_NOT_TELL = {
    "n/a": ("not_supported", None),
    "not supported": ("not_supported", None),
    "requested functionality has been deprecated": ("not_supported", "deprecated in this driver"),
    "deprecated": ("not_supported", "deprecated in this driver"),
    "insufficient permissions": ("failed", "Insufficient Permissions"),
    "unknown error": ("failed", "Unknown Error"),
    "gpu is lost": ("failed", "GPU is lost"),
    "gpu requires reset": ("failed", "GPU requires reset"),
    "err!": ("failed", "ERR!"),
    "redacted": ("withheld", None),
    "": ("not_reported", None),
}
"""What stands there instead of a value, in lower case and without brackets -> reason and detail."""

_SCALES = {
    "": 1.0,
    "w": 1.0,
    "c": 1.0,
    "x": 1.0,
    "%": 0.01,
    "mhz": 1e6,
    "ghz": 1e9,
    "kib": 1024.0,
    "mib": 1024.0**2,
    "mb": 1024.0**2,  # as drivers before R340 write it
    "gib": 1024.0**3,
}
"""Unit as nvidia-smi writes it -> SI."""

_NUMBER = re.compile(r"\s*(-?\d{1,15}(?:\.\d{1,9})?)(?![\d.])\s*([A-Za-z]{1,5}|%)?")


def value(written: str | None) -> str | None:
    """What was written, or None where it is one of the ways of not telling."""
    text = clean(written or "")
    return None if _bare(text) in _DOES_NOT_TELL else text


def why(written: str | None) -> tuple[str, str | None]:
    """Why a value that was asked for is not there: a reason of the wire and a detail."""
    text = clean(written or "")
    return _DOES_NOT_TELL.get(_bare(text), ("not_reported", f"nvidia-smi says {text}"))


def _bare(text: str) -> str:
    text = text.lower()
    return text[1:-1] if text.startswith("[") and text.endswith("]") else text


def number(text: str | None) -> float | None:
    """A figure with its unit, in SI: "250.00 W", "1410 MHz", "8192 MiB", "37 %"."""
    match = _NUMBER.match(text or "")
    scale = _SCALES.get((match[2] or "").lower()) if match else None
    return float(match[1]) * scale if match and scale else None


def integer_of(text: str | None) -> int | None:
    figure = number(text)
    return None if figure is None else int(figure)


def byte_count(text: str | None) -> int | None:
    """Bytes, where the unit says that it is bytes."""
    return integer_of(text) if text and text.strip().lower().endswith(("ib", "mb")) else None


def boolean(text: str) -> bool | None:
    return {"enabled": True, "disabled": False, "yes": True, "no": False, "on": True, "off": False}.get(text.lower())


def hyphened(text: str) -> str:
    return text.lower().replace("_", "-").replace(" ", "-")


def hexadecimal(text: str) -> str | None:
    return f"0x{text.upper().removeprefix('0X')}" if re.fullmatch(r"(0[xX])?[0-9A-Fa-f]{4,8}", text) else None


def scalar_sum(values: list[Scalar]) -> Scalar:
    """Figures added up; of anything else, the first."""
    figures = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    return sum(figures) if len(figures) == len(values) else values[0]


def state_driver(reading: Reading, driver: str | None, cuda: str | None) -> None:
    """The two versions every nvidia-smi output has at its head."""
    if driver:
        reading.sheet.state("nvidia.driver_version", driver)
        reading.add_software("nvidia-driver", driver, "nvidia-smi")
    else:
        reading.sheet.mark_missing("nvidia.driver_version", "not_reported", "nvidia-smi names no driver")
    if cuda:
        reading.sheet.state("cuda.driver_api_version", cuda)
        reading.add_software("cuda-driver-api", cuda, "nvidia-smi")
    else:
        reading.sheet.mark_missing("cuda.driver_api_version", "not_reported", "nvidia-smi names no CUDA version")
