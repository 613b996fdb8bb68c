"""A report as Python sees it: frozen dataclasses, one per object of the wire format, which their annotations define.

The parser, the JSON Schema, the writer and the list of unknown fields are derived from the annotations (`objects`).
`extra` holds the fields this version does not know, as they came: they are kept, written out again and listed in
`Report.unknown_fields`. Mappings are plain dicts for speed; treat them as read-only.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import SimpleNamespace
from typing import Annotated, Any, ClassVar
from uuid import UUID

from stackviz.base.light import light_dataclass
from stackviz.report.format.components import COMPONENTS
from stackviz.report.format.facts import ABSENT_REASONS, CARD_ABSENT_NAMES, CARD_FACTS, CONDITIONS, FACTS, Scalar
from stackviz.report.format.kinds import (
    IDENTIFIER,
    NAME,
    NAMES,
    PER_SAMPLE,
    RATIO,
    ROUNDS,
    SAMPLES,
    SECONDS,
    TEXT,
    TIMESTAMP,
    choice,
    integer,
    integers,
    sha256,
    slug,
)
from stackviz.report.format.limits import LIMITS, ReportError
from stackviz.report.format.objects import Relation, Since, list_of, map_of, object_of
from stackviz.report.format.scalars import scalars
from stackviz.report.format.unknown import unknown_fields

__all__ = [
    "FORMAT", "FRAMEWORKS", "NOBODY", "PROBE_STATES", "RESULT_STATES", "Absent", "Agent", "Card", "Interference",
    "Machine", "ProbeRun", "Report", "Result", "Scalar", "Software", "check_cards", "check_result",
]  # fmt: skip

FORMAT = 1
RESULT_STATES = frozenset({"ok", "failed", "skipped"})
PROBE_STATES = frozenset({"ok", "failed", "timeout", "skipped"})
FRAMEWORKS = frozenset({"torch", "mlx", "llama.cpp", "other"})
SINCE_1_1 = Since("1.1")
"""Fields of 1.1 are additions: `format` stays 1, and a site of 1.0 keeps them as fields it does not know."""

Extra = Mapping[str, Any]
Facts = Mapping[str, Scalar]
Name = Annotated[str, NAME]
LongText = Annotated[str, TEXT]
Duration = Annotated[float, SECONDS]


@dataclass(frozen=True, slots=True)
class Agent:
    """Which program made the report."""

    name: Name
    version: Name
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Machine:
    """Which machine: `identity` is a SHA-256 in hex over stable facts; `name` a label someone chose, or None."""

    identity: Annotated[str, sha256()]
    name: Name | None = None
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Absent:
    """Why a fact is missing; `reason` is a key of facts.ABSENT_REASONS."""

    reason: Annotated[str, choice(ABSENT_REASONS), "; ".join(f"{name}: {why}" for name, why in ABSENT_REASONS.items())]
    detail: LongText | None = None
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """One accelerator of the machine. `memory_bytes` is its own memory; None if unknown or shared with the CPU."""

    RELATION: ClassVar = Relation(first=("facts",))

    index: Annotated[int, integer(least=0)]
    kind: Annotated[str, slug(), "gpu, soc, npu, ..."]
    vendor: Annotated[str, slug(), "nvidia, apple, amd, intel, ..."]
    reported_name: Name
    memory_bytes: Annotated[int, integer(least=1)] | None = None
    uuid_hash: Annotated[str, sha256("a SHA-256 or null")] | None = None
    facts: Annotated[Facts, scalars(LIMITS.facts, CARD_FACTS)] = field(default_factory=dict)
    absent: Annotated[Mapping[str, Absent], map_of(Absent, LIMITS.facts, CARD_ABSENT_NAMES, "facts")] = field(
        default_factory=dict
    )
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Software:
    """A component that was found; `version` None means it is there and does not say which."""

    component: Annotated[str, slug(COMPONENTS)]
    version: Name | None
    found_by: Name
    extra: Extra = field(default_factory=dict)


def _read_start(value: object, state: str) -> datetime | None:
    return None if value is None and state != "ok" else TIMESTAMP.read(value)


START = replace(TIMESTAMP, read=_read_start, sibling="state")
"""When a run began; a run that is ok must say."""


@light_dataclass(slots=True, kw_only=True)
class Interference:
    """What else was at work while a result was measured, as far as the agent looked; None: it did not, or cannot.

    Ratios are those of the rounds whose samples count. `processes`: names of foreign programs, the busiest first.
    `reruns`: rounds that were measured a second time because the first was disturbed.
    """

    foreign_cpu_ratio: Annotated[float, RATIO, "share of the processors that other programs used"] | None = None
    steal_ratio: Annotated[float, RATIO, "share of the processors that the hypervisor gave to others"] | None = None
    processes: Annotated[tuple[str, ...], NAMES, "other programs, by name, the busiest first"] = ()
    card_ratio: Annotated[float, RATIO, "share of the card that other processes used"] | None = None
    card_processes: Annotated[tuple[str, ...], NAMES, "other programs that compute on the card, by name"] = ()
    rounds_disturbed: Annotated[int, integer(least=0)] | None = None
    reruns: Annotated[int, integer(least=0)] | None = None
    extra: Extra = field(default_factory=dict)


def check_outcome(state: str, samples: Iterable[float], reason: str | None) -> None:
    """A run that is ok has samples, any other has a reason. Raises ReportError."""
    if state == "ok" and not samples:
        raise ReportError(".samples", "is empty, and the state is ok")
    if state != "ok" and not reason:
        raise ReportError(".reason", f"is missing, and the state is {state}")


def check_per_sample(samples: Sequence[float], **others: Sequence[float]) -> None:
    """Check that lists with the samples have as many figures as there are samples, or none. Raises ReportError."""
    for name, figures in others.items():
        if figures and len(figures) != len(samples):
            problem = f"has {len(figures)} entries, and there are {len(samples)} samples"
            raise ReportError(f".{name}", problem)


def check_cards_used(card: int | None, cards: Sequence[int]) -> None:
    """Check that cards of a result differ, and that `card` agrees with them. Raises ReportError."""
    for number, index in enumerate(cards):
        if index in cards[:number]:
            raise ReportError(f".cards[{number}]", f"is {index}, as an earlier one")
    if len(cards) > 1 and card is not None:
        raise ReportError(".card", f"is {card}, and cards has {len(cards)}: it must be null")
    if len(cards) == 1 and card not in (None, cards[0]):
        raise ReportError(".card", f"is {card}, and cards has {cards[0]}")


def check_result(result: Any) -> None:  # noqa: ANN401 - a Result, or anything with its fields
    """What holds between the fields of a result. Raises ReportError."""
    check_outcome(result.state, result.samples, result.reason)
    check_per_sample(result.samples, rounds=result.rounds, energy_j=result.energy_j, enqueue_s=result.enqueue_s)
    check_cards_used(result.card, result.cards)


_FILLED_IF_OK = {"samples": {"minItems": 1}, "started_at": TIMESTAMP.schema}
_OUTCOME = Relation(
    first=("state", "reason", "samples", "rounds", "energy_j", "enqueue_s", "card", "cards"),
    check=lambda read: check_result(SimpleNamespace(**read)),
    schema={
        "if": {"properties": {"state": {"const": "ok"}}},
        "then": {"required": list(_FILLED_IF_OK), "properties": _FILLED_IF_OK},
        "else": {"required": ["reason"], "properties": {"reason": {"type": "string", "minLength": 1}}},
    },
)


@light_dataclass(slots=True, kw_only=True)
class Result:
    """One benchmark with one set of parameters on one device.

    `samples`: in `unit`, one per repeat, in the order they were taken; at least one if `state` is "ok".
    `card`: index of the card it ran on; None if it ran on the CPU, on several, or the card is not known.
    `cards`: indices of all of them where there were several. `rounds`: for each sample the round it was taken in; empty
    where that is not known. `energy_j`, `enqueue_s`: of each sample, per run; empty where not measured.
    """

    RELATION: ClassVar = _OUTCOME

    benchmark: Annotated[str, slug()]
    version: Annotated[int, integer(least=1)]
    device: Name
    card: Annotated[int, integer(least=0)] | None
    params: Annotated[Facts, scalars(LIMITS.params)]
    state: Annotated[str, choice(RESULT_STATES)]
    reason: LongText | None
    unit: Annotated[str, NAME, "of the samples: s, or the unit of a benchmark whose samples are rates"]
    samples: Annotated[tuple[float, ...], SAMPLES]
    started_at: Annotated[datetime, START] | None
    duration_s: Duration | None
    conditions: Annotated[Facts, scalars(LIMITS.conditions, CONDITIONS)]
    rounds: Annotated[tuple[int, ...], ROUNDS, "the round of each sample, counted from 0", SINCE_1_1] = ()
    energy_j: Annotated[tuple[float, ...], PER_SAMPLE, "energy of a run, for each sample", SINCE_1_1] = ()
    enqueue_s: Annotated[tuple[float, ...], PER_SAMPLE, "time to hand over a run, for each sample", SINCE_1_1] = ()
    framework: Annotated[str, choice(FRAMEWORKS), "what computed", SINCE_1_1] | None = None
    cards: Annotated[tuple[int, ...], integers(0, LIMITS.cards), "where there were several", SINCE_1_1] = ()
    interference: Annotated[Interference, "what else was at work", SINCE_1_1] | None = None
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ProbeRun:
    """How one probe of the agent went."""

    probe: Name
    state: Annotated[str, choice(PROBE_STATES)]
    duration_s: Duration | None = None
    detail: LongText | None = None
    extra: Extra = field(default_factory=dict)


NOBODY = "0" * 64
"""The identity of no machine, for reports that no machine sent: nothing is stored under it."""


def check_cards(cards: Iterable[Card], results: Iterable[Result]) -> None:
    """Cards differ in their index, and results name cards of the report. Raises ReportError."""
    indexes: set[int | None] = set()
    for number, card in enumerate(cards):
        if card.index in indexes:
            raise ReportError(f".cards[{number}].index", f"is {card.index}, as of an earlier card")
        indexes.add(card.index)
    indexes.add(None)
    for number, result in enumerate(results):
        if result.card not in indexes:
            problem = f"is {result.card}, and no card of the report has that index"
            raise ReportError(f".results[{number}].card", problem)
        for used, index in enumerate(result.cards):
            if index not in indexes:
                problem = f"is {index}, and no card of the report has that index"
                raise ReportError(f".results[{number}].cards[{used}]", problem)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What one machine reported at one time. `created_at` is aware UTC.

    `sent_at`: by the machine's clock, of this attempt to send it; it is no part of the content.
    """

    RELATION: ClassVar = Relation(
        first=("id", "facts", "cards", "results"),
        check=lambda read: check_cards(read["cards"], read["results"]),
    )

    id: Annotated[UUID, IDENTIFIER, "made once"]
    created_at: Annotated[datetime, TIMESTAMP]
    agent: Agent
    machine: Machine
    facts: Annotated[Facts, scalars(LIMITS.facts, FACTS)] = field(default_factory=dict)
    absent: Annotated[Mapping[str, Absent], map_of(Absent, LIMITS.facts, FACTS, "facts")] = field(default_factory=dict)
    cards: Annotated[tuple[Card, ...], list_of(Card, LIMITS.cards)] = ()
    software: Annotated[tuple[Software, ...], list_of(Software, LIMITS.software)] = ()
    results: Annotated[tuple[Result, ...], list_of(Result, LIMITS.results)] = ()
    probes: Annotated[tuple[ProbeRun, ...], list_of(ProbeRun, LIMITS.probes)] = ()
    sent_at: Annotated[datetime, TIMESTAMP, "by the machine's clock", SINCE_1_1] | None = None
    extra: Extra = field(default_factory=dict)

    @property
    def unknown_fields(self) -> tuple[str, ...]:
        """Paths of what this version does not understand: all of it is kept, at most LIMITS.unknown_listed are listed.

        Worked out anew by the code that is running, so that an old report read again may list less.
        """
        return unknown_fields(REPORT, self)


REPORT = object_of(Report)
