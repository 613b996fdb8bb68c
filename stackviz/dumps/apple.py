"""A Mac whose dumps name its chip as the processor alone: the chip is what computes, so it is a card as well."""

import re
from dataclasses import replace

from stackviz.importers import Reading
from stackviz.importers.reading import CardReading
from stackviz.wire.systems import family

__all__ = ["with_chip"]

_CHIP = re.compile(r"Apple M\d{1,2}(?: (?:Pro|Max|Ultra))?", re.IGNORECASE)
_NAMED_BY = "named as the processor; no dump lists the graphics"


def with_chip(reading: Reading) -> Reading:
    """The reading itself, or one with the chip told, as a fact and as a card."""
    chip = _CHIP.fullmatch(str(reading.facts.get("cpu.model") or "").strip())
    if chip is None or family(reading.facts) != "macos" or reading.cards:
        return reading
    sheet = replace(reading.sheet, facts=dict(reading.facts), absent=dict(reading.absent))
    sheet.state("apple.chip", chip[0])
    if "torch.version" in sheet.facts:
        for name in ("mps.built", "mps.available"):
            sheet.mark_missing(name, "not_reported", "the dump does not state whether torch can use the GPU")
    card = CardReading(index=0, kind="soc", vendor="apple", reported_name=chip[0])
    card.sheet.state("unified_memory", value=True)
    card.sheet.mark_missing("memory_bytes", "not_applicable", "the GPU uses the machine's memory")
    card.sheet.mark_missing("gpu_cores", "not_reported", _NAMED_BY)
    return replace(reading, sheet=sheet, cards=[card.card()])
