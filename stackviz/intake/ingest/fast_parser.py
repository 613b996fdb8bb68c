"""A fast parser in C for the reports that our own agent writes, so that most uploads need not wait for `parse_report`.

`parse_report` decides what a report is, and explains what is wrong with one. The fast parser is made from the JSON
Schema of the same format. It accepts only the full form that our own agent writes and declines all the rest: unknown
fields, escapes, repeated keys, anything odd. It may decline a valid report and must never accept an invalid one:
tests/intake/ingest/test_fast_parser.py compares it with the parser.
"""

import math
import re
from datetime import MAXYEAR, MINYEAR, datetime
from functools import reduce
from operator import or_
from types import GenericAlias
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import astuple

from stackviz.report.format import LIMITS, Machine, Report, ReportError, json_schema
from stackviz.report.format.kinds import ROUNDS
from stackviz.report.format.report import check_cards, check_result

Schema = dict[str, Any]

EXACT = 2**53
"""The largest integer up to which each is a float of its own."""


def _type_of(schema: Schema) -> Any:  # noqa: ANN401 (a type)
    """The type that accepts what the schema does, of an object only the full form without unknown fields."""
    if "anyOf" in schema:
        return reduce(or_, map(_type_of, schema["anyOf"]))
    if "enum" in schema or "const" in schema:
        return Literal[tuple(schema.get("enum", [schema.get("const")]))]
    return _TYPES[schema["type"]](schema)


def _text(schema: Schema) -> Any:  # noqa: ANN401
    pattern = re.sub(r"\$$", r"\\Z", schema.get("pattern", ""))  # in Python $ also matches before a last newline
    lengths = {"min_length": schema.get("minLength"), "max_length": schema.get("maxLength")}
    return Annotated[str, Meta(**lengths, pattern=pattern or None)]


def _integer(schema: Schema) -> Any:  # noqa: ANN401
    return Annotated[int, Meta(ge=schema["minimum"], le=schema["maximum"])]


def _number(schema: Schema) -> Any:  # noqa: ANN401
    """A float, or an integer that is exact as one: what lies beyond is the parser's to read."""
    bound, least = ("gt", schema["exclusiveMinimum"]) if "exclusiveMinimum" in schema else ("ge", schema["minimum"])
    most = math.floor(min(schema["maximum"], EXACT))
    integer = Annotated[int, Meta(**{bound: max(math.ceil(least), -EXACT)}, le=most)]
    return integer | Annotated[float, Meta(**{bound: least}, le=schema["maximum"])]


def _list(schema: Schema) -> Any:  # noqa: ANN401
    entries = GenericAlias(list, _type_of(schema["items"]))
    return Annotated[entries, Meta(max_length=schema["maxItems"])]


def _object(schema: Schema) -> Any:  # noqa: ANN401
    """A struct: of an object with required fields all are, but for those that came later; of a map with known names
    none is. Else a dict.
    """
    types = {name: _type_of(inner) for name, inner in schema.get("properties", {}).items()}
    if "required" in schema:
        later = {name for name, inner in schema["properties"].items() if inner.get("$comment", "").startswith("since")}
        fields = [(name, kind | UnsetType, UNSET) if name in later else (name, kind) for name, kind in types.items()]
        return msgspec.defstruct("Object", fields, forbid_unknown_fields=True, kw_only=True)
    if not types:
        entries = GenericAlias(dict, (_text(schema["propertyNames"]), _type_of(schema["additionalProperties"])))
        return Annotated[entries, Meta(max_length=schema["maxProperties"])]
    names = {f"field_{number}": name for number, name in enumerate(types)}  # names of facts have dots
    optional = [(field, types[name] | UnsetType, UNSET) for field, name in names.items()]
    return msgspec.defstruct("Map", optional, rename=names, forbid_unknown_fields=True)


_TYPES = {
    "null": lambda _schema: None,
    "boolean": lambda _schema: bool,
    "string": _text,
    "integer": _integer,
    "number": _number,
    "array": _list,
    "object": _object,
}
_decode = msgspec.json.Decoder(_type_of(json_schema())).decode
_build = msgspec.json.Decoder(Report).decode  # into the parser's own dataclasses, without its checks


def fast_check(body: bytes) -> tuple[UUID, Machine] | None:
    """The id and the machine of a report that is plainly valid; None: ask `parse_report`."""
    # An escape may hide a NUL or half a character, which no database stores; our agent writes UTF-8 as it is.
    if len(body) > LIMITS.body_bytes or b"\\" in body:
        return None
    try:
        report = _decode(body)
        # Of a repeated key only one was read, and its colon is gone: without escapes the others are where they were.
        if body.count(b":") != msgspec.json.encode(report).count(b":"):
            return None
        _check_relations(report)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None
    return UUID(report.id), Machine(report.machine.identity, report.machine.name)


def fast_parse(body: bytes) -> Report | None:
    """What `parse_report` makes of a report that is plainly valid, in half the time; None: ask `parse_report`."""
    return _build(body) if fast_check(body) else None


def _check_relations(report: Any) -> None:  # noqa: ANN401 (the struct of a report)
    """What the schema cannot say. Raises ReportError; ValueError for what only the parser can decide.

    Sets `cards` of results that leave it out; other lists that are left out are UNSET, which is as false as empty ones.
    """
    for result in report.results:
        if result.cards is UNSET:
            result.cards = []
    check_cards(report.cards, report.results)
    for result in report.results:
        if result.rounds:
            ROUNDS.read(result.rounds)
        check_result(result)
        if result.state == "ok" and result.started_at is None:
            raise ReportError(".started_at", "is missing")
    for part in (report, *report.cards):
        facts = part.facts
        names = zip(facts.__struct_encode_fields__, astuple(facts), strict=True)
        if any(value is not UNSET and name in part.absent for name, value in names):
            raise ReportError(".absent", "is among the facts too")
    starts = (result.started_at for result in report.results)
    for time in {report.created_at, report.sent_at, *starts} - {None, UNSET}:
        # Near the ends of the calendar a time may leave it when it is moved to UTC.
        if not MINYEAR < datetime.fromisoformat(time).year < MAXYEAR:
            raise ValueError(time)
