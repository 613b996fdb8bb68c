"""What the importers of nvidia-smi share beyond single fields: cards of a reading, their instances, their system."""

import re
from collections.abc import Iterable

from stackviz.report.format import LIMITS, Card, hashed_uuid
from stackviz.report.importers.nvidia_values import value
from stackviz.report.importers.reading import CardReading, Reading

__all__ = ["add_card", "instance_of", "new_card", "note_cut", "note_system", "note_wsl"]

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
    """An instance a card is cut into, as a card of its own, numbered after all that are there."""
    index = max(card.index for card in reading.cards) + 1
    card = new_card(index, f"{parent.reported_name} MIG", memory_bytes, uuid)
    card.sheet.state("mig_parent_index", parent.index)
    return card


def add_card(reading: Reading, card: CardReading) -> bool:
    """False where a report holds no more. A number that is taken already is said, and another one given."""
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
