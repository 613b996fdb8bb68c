"""A quick yes: recognises, in C, reports that are plainly right, so that most uploads need not wait for the parser.

`parse_report` decides what a report is, and explains what is wrong with one; it takes a millisecond for that. The gate
knows the same registries and limits, accepts only the full form our own agent writes, and says "don't know" to all the
rest: unknown fields, escapes, repeated keys, anything odd. It may say that of a good report, and must never say yes to
a bad one: tests/ingest/test_gate.py holds the parser's refusals against it.
"""

import math
import re
from collections.abc import Mapping
from datetime import MAXYEAR, MINYEAR, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import astuple

from stackviz.wire import (
    ABSENT_REASONS,
    CARD_FACTS,
    CONDITIONS,
    FACTS,
    FORMAT,
    LIMITS,
    PROBE_STATES,
    RESULT_STATES,
    Fact,
    FactType,
    Machine,
    Report,
)
from stackviz.wire.values import SHA256_PATTERN, SLUG_PATTERN, TIME_PATTERN, UUID_PATTERN

Name = Annotated[str, Meta(min_length=1, max_length=LIMITS.name_chars)]
Text = Annotated[str, Meta(max_length=LIMITS.string_chars)]
Slug = Annotated[str, Meta(pattern=f"^(?:{SLUG_PATTERN})\\Z", max_length=LIMITS.name_chars)]
Sha256 = Annotated[str, Meta(pattern=f"^{SHA256_PATTERN}\\Z")]
Time = Annotated[str, Meta(pattern=f"^(?a:{TIME_PATTERN})\\Z")]
Index = Annotated[int, Meta(ge=0, le=LIMITS.integer_max)]
Count = Annotated[int, Meta(ge=1, le=LIMITS.integer_max)]
# An integer beyond 64 bits is read as a float where a float is wanted: what may have been one is the parser's to judge.
_MOST_SECONDS = float(2**62)
Seconds = Annotated[float, Meta(ge=0, le=_MOST_SECONDS)]
Sample = Annotated[float, Meta(gt=0, le=_MOST_SECONDS)]
Integer = Annotated[int, Meta(ge=-LIMITS.integer_max, le=LIMITS.integer_max)]
Number = Annotated[float, Meta(ge=-LIMITS.number_max, le=LIMITS.number_max)]
Params = Annotated[dict[Name, Text | Integer | Number | bool], Meta(max_length=LIMITS.params)]


def _type_of(fact: Fact) -> Any:  # noqa: ANN401 (a type)
    if fact.kind is FactType.TEXT:
        return Text
    if fact.kind is FactType.TRUTH:
        return bool
    least = -LIMITS.integer_max if fact.least is None else math.ceil(fact.least)
    integer = Annotated[int, Meta(ge=least, le=LIMITS.integer_max)]
    if fact.kind is FactType.INTEGER:
        return integer
    return (
        integer
        | Annotated[float, Meta(ge=-LIMITS.number_max if fact.least is None else fact.least, le=LIMITS.number_max)]
    )


def _fields_of(table: Mapping[str, Fact]) -> dict[str, str]:
    """Fact -> the field it has in its struct: facts have dots in their names, fields cannot."""
    return {name: f"f{place}" for place, name in enumerate(table)}


def _known(title: str, table: Mapping[str, Fact]) -> Any:  # noqa: ANN401 (a type)
    """A struct that holds what `table` knows and nothing else."""
    fields = _fields_of(table)
    return msgspec.defstruct(
        title,
        [(fields[name], _type_of(fact) | UnsetType, UNSET) for name, fact in table.items()],
        rename={field: name for name, field in fields.items()},
        forbid_unknown_fields=True,
    )


_FACT_FIELDS = _fields_of(FACTS)
_CARD_FACT_FIELDS = _fields_of(CARD_FACTS)


class _Whole(Struct, forbid_unknown_fields=True):
    """Every field is there: what may be left out, our agent writes as null or empty."""


class _Why(_Whole):
    reason: Literal[tuple(sorted(ABSENT_REASONS))]  # type: ignore[valid-type]
    detail: Text | None


Absent = Annotated[dict[Name, _Why], Meta(max_length=LIMITS.facts)]


class _Agent(_Whole):
    name: Name
    version: Name


class _Machine(_Whole):
    identity: Sha256
    name: Name | None


class _Card(_Whole):
    index: Index
    kind: Slug
    vendor: Slug
    reported_name: Name
    memory_bytes: Count | None
    uuid_hash: Sha256 | None
    facts: _known("CardFacts", CARD_FACTS)  # type: ignore[valid-type]
    absent: Absent


class _Software(_Whole):
    component: Slug
    version: Name | None
    found_by: Name


class _Result(_Whole):
    benchmark: Slug
    version: Count
    device: Name
    card: Index | None
    params: Params
    state: Literal[tuple(sorted(RESULT_STATES))]  # type: ignore[valid-type]
    reason: Text | None
    unit: Name
    samples: Annotated[list[Sample], Meta(max_length=LIMITS.samples)]
    started_at: Time | None
    duration_s: Seconds | None
    conditions: _known("Conditions", CONDITIONS)  # type: ignore[valid-type]


class _Probe(_Whole):
    probe: Name
    state: Literal[tuple(sorted(PROBE_STATES))]  # type: ignore[valid-type]
    duration_s: Seconds | None
    detail: Text | None


class _Report(_Whole):
    format: Literal[FORMAT]  # type: ignore[valid-type]
    id: Annotated[str, Meta(pattern=f"^(?a:{UUID_PATTERN})\\Z")]
    created_at: Time
    agent: _Agent
    machine: _Machine
    facts: _known("Facts", FACTS)  # type: ignore[valid-type]
    absent: Absent
    cards: Annotated[list[_Card], Meta(max_length=LIMITS.cards)]
    software: Annotated[list[_Software], Meta(max_length=LIMITS.software)]
    results: Annotated[list[_Result], Meta(max_length=LIMITS.results)]
    probes: Annotated[list[_Probe], Meta(max_length=LIMITS.probes)]


_decode = msgspec.json.Decoder(_Report).decode
_build = msgspec.json.Decoder(Report).decode  # into the parser's own dataclasses, which check nothing


def quick_report(body: bytes) -> Report | None:
    """What `parse_report` makes of a report that has nothing wrong with it, in half the time; None: ask the parser."""
    return _build(body) if plainly_right(body) else None


def plainly_right(body: bytes) -> tuple[UUID, Machine] | None:
    """The id and the machine of a report that has nothing wrong with it; None: ask `parse_report`."""
    # An escape may hide a NUL or half a character, which no database keeps; our agent writes UTF-8 as it is.
    if len(body) > LIMITS.body_bytes or b"\\" in body or _has_blank_before_colon(body):
        return None
    try:
        report = _decode(body)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None
    if not (_fits_together(report) and _times_exist(report) and _has_each_key_once(body, report)):
        return None
    return UUID(report.id), Machine(report.machine.identity, report.machine.name)


def _fits_together(report: _Report) -> bool:
    """What holds between fields: facts are stated or absent, cards differ, results name a card and say their due."""
    cards: set[int | None] = {card.index for card in report.cards}
    if len(cards) != len(report.cards):
        return False
    cards.add(None)
    for result in report.results:
        told = result.samples and result.started_at if result.state == "ok" else result.reason
        if not told or result.card not in cards:
            return False
    facts = [(report.facts, _FACT_FIELDS, report.absent)]
    facts += [(card.facts, _CARD_FACT_FIELDS, card.absent) for card in report.cards]
    return all(
        getattr(stated, fields.get(name, ""), UNSET) is UNSET for stated, fields, absent in facts for name in absent
    )


def _times_exist(report: _Report) -> bool:
    """No 30th of February. Years at the ends of the calendar may leave it when moved to UTC: the parser's to judge."""
    times = {result.started_at for result in report.results} - {None} | {report.created_at}
    try:
        return all(MINYEAR < datetime.fromisoformat(time).year < MAXYEAR for time in times)  # type: ignore[arg-type]
    except ValueError:
        return False


def _has_each_key_once(body: bytes, report: _Report) -> bool:
    """Whether as many keys were sent as were understood: of a repeated key one was lost.

    Without escapes a quote followed by a colon ends a key and nothing else; blanks between them were ruled out.
    """
    keys = _keys(report, report.agent, report.machine, *report.software, *report.probes)
    keys += _given(report.facts) + _absent_keys(report.absent)
    for card in report.cards:
        keys += _keys(card) + _given(card.facts) + _absent_keys(card.absent)
    for result in report.results:
        keys += _RESULT_KEYS + len(result.params) + _given(result.conditions)
    return body.count(b'":') == keys


_has_blank_before_colon = re.compile(rb'"[ \t\r\n]+:').search
_RESULT_KEYS = len(_Result.__struct_fields__)


def _keys(*whole: Struct) -> int:
    return sum(len(one.__struct_fields__) for one in whole)


def _absent_keys(absent: Mapping[str, _Why]) -> int:
    return len(absent) * (1 + len(_Why.__struct_fields__))


def _given(known: Any) -> int:  # noqa: ANN401 (a struct made by `_known`)
    values = astuple(known)
    return len(values) - values.count(UNSET)
