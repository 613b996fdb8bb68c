"""Build one report from the output of probes and benchmarks, masked.

Parts that the format would refuse are dropped and recorded: one mistake does not cost hours of measurements.
"""

import re
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from stackviz.agent import AGENT_NAME, __version__
from stackviz.agent.identity import machine_identity
from stackviz.agent.privacy import Mask, mask_of_this_machine
from stackviz.agent.probing.gather import Gathered
from stackviz.base.backports import UTC
from stackviz.report.format import FORMAT, Report, ReportError, parse_report
from stackviz.report.format.facts.asking import Surroundings

__all__ = ["parse_mended", "report_document"]


def report_document(
    gathered: Gathered,
    folder: Path,
    name: str | None = None,
    mask: Mask | None = None,
    machine_id: str | None = None,
) -> dict[str, Any]:
    """A report with a new id and without results. `name` is sent unmasked, because a person chose it.
    `machine_id`: the id that somebody gave the machine.
    """
    identity = machine_identity(Surroundings(), gathered.facts, gathered.cards, folder, machine_id)
    document: dict[str, Any] = {
        "format": FORMAT,
        "id": str(uuid4()),
        "created_at": datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        "agent": {"name": AGENT_NAME, "version": __version__},
        "machine": {
            "identity": identity.value,
            "name": name,
        },
        "facts": gathered.facts | identity.facts,
        "absent": {fact: why for fact, why in gathered.absent.items() if fact not in identity.facts},
        "cards": gathered.cards,
        "software": gathered.software,
        "results": [],
        "probes": gathered.probes,
    }
    masked: dict[str, Any] = (mask or mask_of_this_machine()).document(document)
    return masked


_MOST_MENDS = 200
_PART = re.compile(r"(facts|absent)\.(.+)|(cards|software|results|probes)\[(\d+)\]")

Document = dict[str, Any]


def parse_mended(document: Document) -> Report:
    """The report, without the parts of `document` that violate the format. Raises ReportError if that is not enough."""
    for _ in range(_MOST_MENDS):
        try:
            return parse_report(document)
        except ReportError as error:
            if not _mend(document, error):
                raise
    return parse_report(document)


def _mend(document: Document, error: ReportError) -> bool:
    match = _PART.match(error.path)
    if match is None:
        return False
    if match[1]:
        return _leave_out_fact(document, match[1], match[2], error.problem)
    items = document[match[3]]
    number = int(match[4])
    if number >= len(items):
        return False
    items[number : number + 1] = _WITHOUT[match[3]](items[number], error)
    if match[3] == "cards":
        _forget_lost_cards(document)
    return True


def _leave_out_fact(document: Document, group: str, rest: str, problem: str) -> bool:
    """The name may hold dots, and the path may go on behind it: the longest name that is there counts."""
    name = max((name for name in document[group] if rest.startswith(name)), key=len, default=None)
    if name is None:
        return False
    del document[group][name]
    if group == "facts":
        document["absent"][name] = {"reason": "failed", "detail": f"what was read {problem}"}
    return True


def _forget_lost_cards(document: Document) -> None:
    left = {card.get("index") for card in document["cards"] if isinstance(card, dict)}
    for result in document["results"]:
        if result.get("card") not in left:
            result["card"] = None
        if not left.issuperset(result.get("cards", ())):
            result["cards"] = []


def _without_result(result: Document, error: ReportError) -> list[Document]:
    """The result as a failed one, with nothing but its name; gone if even that is refused."""
    reason = f"the result cannot be sent: {error}"
    if result.get("reason") and str(result["reason"]).startswith("the result cannot be sent"):
        return []
    bare = {name: result.get(name) for name in ("benchmark", "version", "device", "params")}
    return [{**bare, "unit": "s", "state": "failed", "reason": reason[:1000], "samples": []}]


def _without_detail(probe: Document, _error: ReportError) -> list[Document]:
    if "detail" not in probe:
        return []
    return [{"probe": probe.get("probe"), "state": "failed", "duration_s": None}]


_CARD_PART = re.compile(r"cards\[\d+\]\.(?:(memory_bytes|uuid_hash)$|(facts|absent)\.(.+))")


def _mended_card(card: Any, error: ReportError) -> list[Document]:  # noqa: ANN401 - whatever a report holds
    """The card without the figure that is refused; gone if it is refused for anything else."""
    match = _CARD_PART.match(error.path)
    if match is None or not isinstance(card, dict):
        return []
    if match[1]:
        return [{**card, match[1]: None}] if card.get(match[1]) is not None else []
    group, absent = match[2], dict(card.get("absent") or {})
    name = max((name for name in card[group] if match[3].startswith(name)), key=len, default=None)
    if name is None:
        return []
    if group == "facts":
        absent[name] = {"reason": "failed", "detail": f"what was read {error.problem}"}
    else:
        del absent[name]
    return [{**card, "facts": {fact: value for fact, value in card["facts"].items() if fact != name}, "absent": absent}]


_WITHOUT: dict[str, Callable[[Any, ReportError], list[Document]]] = {
    "cards": _mended_card,
    "software": lambda _software, _error: [],
    "results": _without_result,
    "probes": _without_detail,
}
