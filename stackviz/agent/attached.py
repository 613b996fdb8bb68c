"""`--attach FILE`: what another tool measured on this machine becomes results of the report; nothing is run."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from stackviz.agent.diagnose import FileRefused, read_files
from stackviz.base.backports import UTC
from stackviz.report.dumps.merge import on_cards
from stackviz.report.dumps.tool_results import MEASURING_TOOLS, tool_results
from stackviz.report.format import Result
from stackviz.report.importers import Reading

__all__ = ["attached_results", "read_attached_file"]


def read_attached_file(name: str) -> list[Reading]:
    """The readings of a file that have results of MEASURING_TOOLS; "-" is standard input.

    Raises FileRefused where there are none, with what the tool's output lacks.
    """
    readings = [each for each in read_files([name]).readings if each.kind in MEASURING_TOOLS]
    with_results = [each for each in readings if each.results]
    if not with_results:
        tools = f"{', '.join(MEASURING_TOOLS[:-1])} or {MEASURING_TOOLS[-1]}"
        problems = "; ".join(dict.fromkeys(problem for each in readings for problem in each.problems))
        raise FileRefused(f"{name}: no results of {tools} could be read in it" + (f" ({problems})" if problems else ""))
    return with_results


def attached_results(readings: Sequence[Reading], cards: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The results as documents of a report. `cards`: those of this machine, of which each result names the ones it ran
    on where that is certain."""
    now = datetime.now(UTC)
    documents = []
    for reading in readings:
        known = _known_cards(reading, cards)
        documents += [
            _document(on_cards(result, known), now) for result in tool_results(reading.results, reading.software)
        ]
    return documents


def _known_cards(reading: Reading, cards: Sequence[Mapping[str, Any]]) -> dict[int, int]:
    """Index in the output -> index in the report, of names that as many cards have here as there.

    Alike cards are in one order then; which two of four a tool saw nobody can tell.
    """
    known: dict[int, int] = {}
    for name in {card.reported_name for card in reading.cards}:
        printed = sorted(card.index for card in reading.cards if card.reported_name == name)
        alike = sorted(int(card["index"]) for card in cards if card.get("reported_name") == name)
        if len(printed) == len(alike):
            known |= dict(zip(printed, alike, strict=True))
    return known


def _document(result: Result, now: datetime) -> dict[str, Any]:
    """`now`: when it counts as measured where the output states no time, as tables do not."""
    started_at = result.started_at or (now if result.state == "ok" else None)
    return {
        "benchmark": result.benchmark,
        "version": result.version,
        "device": result.device,
        "card": result.card,
        "cards": list(result.cards),
        "params": dict(result.params),
        "state": result.state,
        "reason": result.reason,
        "unit": result.unit,
        "samples": list(result.samples),
        "started_at": started_at and started_at.isoformat(timespec="seconds").replace("+00:00", "Z"),
        "duration_s": None,
        "conditions": dict(result.conditions),
        "framework": result.framework,
    }
