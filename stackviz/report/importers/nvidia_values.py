"""Shared by the importers of nvidia-smi: how it writes a value, or why there is none; cards, instances, programs."""

import re
from collections.abc import Iterable

from stackviz.report.format import LIMITS, Card, Scalar, hashed_uuid
from stackviz.report.importers.reading import CardReading, Reading, clean

__all__ = [
    "add_card",
    "boolean",
    "byte_count",
    "hexadecimal",
    "hyphened",
    "instance_of",
    "integer_of",
    "new_card",
    "note_cut",
    "note_system",
    "note_wsl",
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


_WINDOWS_MODELS = frozenset({"WDDM", "TCC", "MCDM"})
_FIRST_IN_WSL = 450
_LINUX_PROGRAM = re.compile(r"/[\w.-]")


def new_card(index: int, name: str, memory_bytes: int | None, uuid: str | None = None) -> CardReading:
    uuid = value(uuid)
    return CardReading(
        index=index,
        kind="gpu",
        vendor="nvidia",
        reported_name=name,
        memory_bytes=memory_bytes or None,
        uuid_hash=hashed_uuid(uuid) if uuid else None,
    )


def instance_of(parent: Card, reading: Reading, memory_bytes: int | None, uuid: str | None = None) -> CardReading:
    """Return an instance of a card as a separate card, numbered after all that are there."""
    index = max(card.index for card in reading.cards) + 1
    card = new_card(index, f"{parent.reported_name} MIG", memory_bytes, uuid)
    card.sheet.state("mig_parent_index", parent.index)
    return card


def add_card(reading: Reading, card: CardReading) -> bool:
    """Add a card; return False if a report holds no more. A number that is taken is a problem, and replaced."""
    if len(reading.cards) >= LIMITS.cards:
        return False
    taken = {card_known.index for card_known in reading.cards}
    if card.index in taken:
        reading.problem(f"two cards have the number {card.index}")
        card.index = next(index for index in range(len(taken) + 1) if index not in taken)
    reading.cards.append(card.card())
    return True


def note_cut(reading: Reading, count: int) -> None:
    if count > LIMITS.cards:
        reading.problem(f"{count} cards; the first {LIMITS.cards} were read")


def note_system(reading: Reading, programs: Iterable[str]) -> None:
    """Only Windows has driver models. Programs of Linux beside it run under the Windows Subsystem for Linux."""
    if any(card.facts.get("driver_model") in _WINDOWS_MODELS for card in reading.cards):
        reading.sheet.state("os.name", "Windows")
        if any(_LINUX_PROGRAM.match(program) for program in programs):
            reading.sheet.state("os.wsl", "2")


def note_wsl(reading: Reading, tool: str | None, driver: str | None) -> None:
    """In WSL2 nvidia-smi is a program of Linux and the driver is Windows': only there do their versions differ.

    `NVIDIA-SMI 535.112   Driver Version: 537.42`. Drivers before R450 had none, and older ones counted the tool apart.
    """
    if not tool or not driver or tool == driver or not min(len(tool), len(driver)) >= len("535.1"):
        return
    majors = [int(version.partition(".")[0]) for version in (tool, driver)]
    if min(majors) >= _FIRST_IN_WSL and not tool.startswith(driver) and not driver.startswith(tool):
        reading.sheet.state("os.wsl", "2")
