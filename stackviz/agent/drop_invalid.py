"""Drop the parts of a report that the format would refuse, so that one mistake does not cost hours of measurements.
Every dropped part is recorded.
"""

import re
from collections.abc import Callable
from typing import Any

from stackviz.report.format import Report, ReportError, parse_report

__all__ = ["parse_mended"]

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
