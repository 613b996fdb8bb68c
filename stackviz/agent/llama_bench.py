"""`--llama-bench FILE`: what llama-bench printed on this machine becomes results of the report; nothing is run."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from stackviz.agent.diagnose import FileRefused, read_files
from stackviz.backports import UTC
from stackviz.dumps.llama_results import measured_results
from stackviz.importers import Reading
from stackviz.importers.llama_bench import KIND
from stackviz.wire import Result

__all__ = ["attached_results", "read_llama_file"]


def read_llama_file(name: str) -> list[Reading]:
    """The output of llama-bench in a file, "-" being standard input. Raises FileRefused where there is none."""
    readings = [reading for reading in read_files([name]).readings if reading.kind == KIND and reading.results]
    if not readings:
        raise FileRefused(f"{name}: no output of llama-bench could be read in it")
    return readings


def attached_results(readings: Sequence[Reading], cards: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """As a report has them. `cards`: those of this machine; a result is of the one with the name that was printed."""
    now = datetime.now(UTC)
    return [
        _document(replace(result, card=_card(reading, result, cards)), now)
        for reading in readings
        for result in measured_results(reading.results, reading.software)
    ]


def _card(reading: Reading, result: Result, cards: Sequence[Mapping[str, Any]]) -> int | None:
    """Index of the card; None where several have the name, or none."""
    names = {card.index: card.reported_name for card in reading.cards}
    if result.card is None:
        return None
    alike = [card["index"] for card in cards if card.get("reported_name") == names.get(result.card)]
    return alike[0] if len(alike) == 1 else None


def _document(result: Result, now: datetime) -> dict[str, Any]:
    """A table states no time: then it counts as of now."""
    started_at = result.started_at or (now if result.state == "ok" else None)
    return {
        "benchmark": result.benchmark,
        "version": result.version,
        "device": result.device,
        "card": result.card,
        "params": dict(result.params),
        "state": result.state,
        "reason": result.reason,
        "unit": result.unit,
        "samples": list(result.samples),
        "started_at": started_at and started_at.isoformat(timespec="seconds").replace("+00:00", "Z"),
        "duration_s": None,
        "conditions": dict(result.conditions),
    }
