"""A body -> a Report, or a ReportError that names the place. On the accept path: fast, and strict about what it knows.

What it does not know it keeps. Errors are raised with the path inside the object at hand and get the rest of their
path on the way out, so that a good report pays nothing for paths.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar
from uuid import UUID

from stackviz.wire import values
from stackviz.wire.decode import BODY, check_tree, decode
from stackviz.wire.errors import ReportError
from stackviz.wire.facts import ABSENT_REASONS
from stackviz.wire.limits import LIMITS
from stackviz.wire.maps import read_card_facts, read_conditions, read_facts, read_params
from stackviz.wire.report import (
    FORMAT,
    PROBE_STATES,
    RESULT_STATES,
    Absent,
    Agent,
    Card,
    Machine,
    ProbeRun,
    Report,
    Result,
    Scalar,
    Software,
)
from stackviz.wire.unknown import check_unknown

__all__ = ["parse_report"]

Object = dict[str, Any]
Thing = TypeVar("Thing")


def parse_report(body: bytes | bytearray | memoryview | str | Object) -> Report:
    """The report in a body (JSON bytes or text, or a document already decoded).

    Raises ReportError(path, problem); ReportTooLarge, which is one, for a body over LIMITS.body_bytes.
    """
    if isinstance(body, dict):
        check_tree(body, "", 1)
        document: object = body
    else:
        document = decode(body if isinstance(body, str) else bytes(body))
    if type(document) is not dict:
        raise ReportError(BODY, "is not a JSON object")
    return _report(document)


def _report(document: Object) -> Report:
    _check_format(document)
    report_id = UUID(values.matching(document, "id", values.is_uuid, "a UUID"))
    facts = _under("facts", read_facts, document.get("facts", {}))
    cards = _each("cards", document, LIMITS.cards, _card)
    results = _each("results", document, LIMITS.results, _result)
    _check_indices(cards)
    _check_cards_of(results, cards)
    report = Report(
        id=report_id,
        created_at=values.time(document, "created_at"),
        agent=_under("agent", _agent, document.get("agent")),
        machine=_under("machine", _machine, document.get("machine")),
        facts=facts,
        absent=_under("absent", _absent, document.get("absent", {}), facts),
        cards=cards,
        software=_each("software", document, LIMITS.software, _software),
        results=results,
        probes=_each("probes", document, LIMITS.probes, _probe),
        extra=_extra(document, _REPORT_FIELDS),
    )
    check_unknown(report)
    return report


_REPORT_FIELDS = frozenset(
    {"format", "id", "created_at", "agent", "machine", "facts", "absent", "cards", "software", "results", "probes"}
)


def _check_format(document: Object) -> None:
    found = document.get("format")
    if type(found) is not int or found != FORMAT:
        problem = f"is {found!r:.80}; the format read here is {FORMAT}" if "format" in document else "is missing"
        raise ReportError("format", problem)


def _agent(value: object) -> Agent:
    agent = values.as_object(value)
    return Agent(values.name(agent, "name"), values.name(agent, "version"), _extra(agent, _AGENT_FIELDS))


_AGENT_FIELDS = frozenset({"name", "version"})


def _machine(value: object) -> Machine:
    machine = values.as_object(value)
    return Machine(
        identity=values.matching(machine, "identity", values.is_sha256, "a SHA-256 in lower-case hex"),
        name=values.name_or_none(machine, "name"),
        extra=_extra(machine, _MACHINE_FIELDS),
    )


_MACHINE_FIELDS = frozenset({"identity", "name"})


def _card(value: object) -> Card:
    card = values.as_object(value)
    facts = _under("facts", read_card_facts, card.get("facts", {}))
    has_uuid = card.get("uuid_hash") is not None
    return Card(
        index=values.integer(card, "index", 0),
        kind=values.slug(card, "kind"),
        vendor=values.slug(card, "vendor"),
        reported_name=values.name(card, "reported_name"),
        memory_bytes=None if card.get("memory_bytes") is None else values.integer(card, "memory_bytes", 1),
        uuid_hash=values.matching(card, "uuid_hash", values.is_sha256, "a SHA-256 or null") if has_uuid else None,
        facts=facts,
        absent=_under("absent", _absent, card.get("absent", {}), facts),
        extra=_extra(card, _CARD_FIELDS),
    )


_CARD_FIELDS = frozenset({"index", "kind", "vendor", "reported_name", "memory_bytes", "uuid_hash", "facts", "absent"})


def _software(value: object) -> Software:
    software = values.as_object(value)
    return Software(
        component=values.slug(software, "component"),
        version=values.name_or_none(software, "version"),
        found_by=values.name(software, "found_by"),
        extra=_extra(software, _SOFTWARE_FIELDS),
    )


_SOFTWARE_FIELDS = frozenset({"component", "version", "found_by"})


def _result(value: object) -> Result:
    result = values.as_object(value)
    state = values.one_of(result, "state", RESULT_STATES)
    reason = values.text_or_none(result, "reason")
    samples = values.samples(result.get("samples", []))
    _check_told(state, reason, samples)
    is_dated = state == "ok" or result.get("started_at") is not None
    return Result(
        benchmark=values.slug(result, "benchmark"),
        version=values.integer(result, "version", 1),
        device=values.name(result, "device"),
        card=None if result.get("card") is None else values.integer(result, "card", 0),
        params=_under("params", read_params, result.get("params", {})),
        state=state,
        reason=reason,
        unit=values.name(result, "unit"),
        samples=samples,
        started_at=values.time(result, "started_at") if is_dated else None,
        duration_s=values.seconds_or_none(result, "duration_s"),
        conditions=_under("conditions", read_conditions, result.get("conditions", {})),
        extra=_extra(result, _RESULT_FIELDS),
    )


_RESULT_FIELDS = frozenset(
    {
        "benchmark", "version", "device", "card", "params", "state", "reason", "unit", "samples", "started_at",
        "duration_s", "conditions",
    }
)  # fmt: skip


def _check_told(state: str, reason: str | None, samples: tuple[float, ...]) -> None:
    if state == "ok" and not samples:
        raise ReportError("samples", "is empty, and the state is ok")
    if state != "ok" and not reason:
        raise ReportError("reason", f"is missing, and the state is {state}")


def _probe(value: object) -> ProbeRun:
    probe = values.as_object(value)
    return ProbeRun(
        probe=values.name(probe, "probe"),
        state=values.one_of(probe, "state", PROBE_STATES),
        duration_s=values.seconds_or_none(probe, "duration_s"),
        detail=values.text_or_none(probe, "detail"),
        extra=_extra(probe, _PROBE_FIELDS),
    )


_PROBE_FIELDS = frozenset({"probe", "state", "duration_s", "detail"})


def _absent(value: object, facts: Mapping[str, Scalar]) -> dict[str, Absent]:
    absent = values.as_object(value)
    if len(absent) > LIMITS.facts:
        raise ReportError("", f"has {len(absent)} entries, over {LIMITS.facts}")
    values.check_names(absent)
    both = absent.keys() & facts.keys()
    if both:
        raise ReportError(min(both), "is among the facts too")
    return {name: _under(name, _why_absent, stated) for name, stated in absent.items()}


def _why_absent(value: object) -> Absent:
    why = values.as_object(value)
    reason = values.one_of(why, "reason", ABSENT_REASONS)
    return Absent(reason, values.text_or_none(why, "detail"), _extra(why, _ABSENT_FIELDS))


_ABSENT_FIELDS = frozenset({"reason", "detail"})


def _check_indices(cards: tuple[Card, ...]) -> None:
    seen: set[int] = set()
    for number, card in enumerate(cards):
        if card.index in seen:
            raise ReportError(f"cards[{number}].index", f"is {card.index}, as of an earlier card")
        seen.add(card.index)


def _check_cards_of(results: tuple[Result, ...], cards: tuple[Card, ...]) -> None:
    known: set[int | None] = {card.index for card in cards} | {None}
    for number, result in enumerate(results):
        if result.card not in known:
            raise ReportError(f"results[{number}].card", f"is {result.card}, and no card of the report has that index")


def _extra(source: Object, known: frozenset[str]) -> Object:
    """The fields not known; what is in them is looked at last, when the report is whole: see check_unknown."""
    if known.issuperset(source):
        return {}
    extra = {name: value for name, value in source.items() if name not in known}
    values.check_names(extra)
    return extra


def _each(name: str, document: Object, most: int, read: Callable[[object], Thing]) -> tuple[Thing, ...]:
    items = document.get(name, [])
    if type(items) is not list:
        raise ReportError(name, f"is {values.noun(items)}, not a list")
    if len(items) > most:
        raise ReportError(name, f"has {len(items)} entries, over {most}")
    return tuple([_under(f"{name}[{number}]", read, item) for number, item in enumerate(items)])


def _under(name: str, read: Callable[..., Thing], *arguments: object) -> Thing:
    """Read a part; the path of an error in it gets this name in front."""
    try:
        return read(*arguments)
    except ReportError as error:
        raise ReportError(f"{name}.{error.path}" if error.path else name, error.problem) from None
