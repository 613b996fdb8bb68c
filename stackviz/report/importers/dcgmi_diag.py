"""`dcgmi diag`: NVIDIA's test of data-center cards -> the tests that failed, and links that are too narrow.

Format: https://docs.nvidia.com/datacenter/dcgm/latest/user-guide/dcgm-diagnostics.html. Cells wrap at 46 characters.
"""

import re
from collections.abc import Iterator

from stackviz.report.format import LIMITS
from stackviz.report.importers.importer import Importer, Span, blocks_after
from stackviz.report.importers.nvidia_values import add_card, new_card
from stackviz.report.importers.reading import UNNAMED, Reading

__all__ = ["IMPORTER"]

KIND = "dcgmi-diag"

_HEAD = re.compile(r"^[ \t]{0,8}\| Diagnostic {1,40}\| Result {1,60}\|[ \t]*$", re.MULTILINE)
_INSIDE = re.compile(r"[ \t]{0,8}[|+]")
_WIDTH = re.compile(
    r"\bGPU (\d{1,3}) is running at PCI link width (\d{1,2})X?, which is below the minimum allowed link width of "
    r"(\d{1,2})"
)
_VERDICT = re.compile(r"(?:Fail|Pass|Skip)")
_OF_A_CARD = re.compile(r"GPU ?\d{1,3}: ")


def find_dcgmi_diag(text: str) -> list[Span]:
    return blocks_after(_HEAD, _INSIDE, text, anchor="Diagnostic")


def _cells(text: str) -> Iterator[tuple[str, str]]:
    """(test or warning, result), the lines of a wrapped cell in one."""
    left, right = "", ""
    for line in text.splitlines()[:4_000]:
        cells = [cell.strip() for cell in line.strip()[:400].strip("|+").split("|")]
        if len(cells) != 2:
            continue
        if cells[0] or _VERDICT.match(cells[1]) or _OF_A_CARD.match(cells[1]):
            yield left, right
            left, right = cells[0] or left, cells[1]
        else:
            right = f"{right} {cells[1]}"
    yield left, right


def read_dcgmi_diag(text: str) -> Reading:
    """Never raises. A card is listed where a warning names the width of its link."""
    reading = Reading(kind=KIND)
    failed: dict[str, None] = {}
    for test, result in _cells(text):
        if result.startswith("Fail") and test:
            failed.setdefault(test)
        elif test == "Driver Version Detected":
            reading.sheet.state(
                "nvidia.driver_version", result if re.fullmatch(r"\d{3}\.[\d.]{1,12}", result) else None
            )
        elif test.startswith(("Warning", "Error")) and (width := _WIDTH.search(result)):
            _add_narrow(reading, int(width[1]), int(width[2]), int(width[3]))
    reading.sheet.state("nvidia.dcgm_failed", ", ".join(failed) or None)
    return reading


def _add_narrow(reading: Reading, index: int, width: int, least: int) -> None:
    if len(reading.cards) >= LIMITS.cards or any(card.index == index for card in reading.cards):
        return
    card = new_card(index, UNNAMED, None)
    card.sheet.mark_missing("memory_bytes", "not_reported", "dcgmi diag does not state it")
    card.sheet.state("pcie_width", width)
    card.sheet.state("pcie_width_max", least)
    add_card(reading, card)


IMPORTER = Importer(
    kind=KIND,
    tool="dcgmi diag",
    tells="tests of the cards that failed, narrow PCIe links, the driver",
    trust=82,
    find=find_dcgmi_diag,
    read=read_dcgmi_diag,
    marks=("| Diagnostic",),
    answers=("dcgmi diag -r 2",),
    command="dcgmi",
    lists_all_cards=False,
)
