"""What a field of the format may hold: how a value is read from JSON, written back and described in the JSON Schema.

A kind is in the annotation of a dataclass field: `index: Annotated[int, integer(least=0)]`. Readers compare with
`type() is`: JSON has no subclasses, and to Python True is an int. They raise ReportError with the path below the value
they were given, separator included: "" for the value itself, ".detail", "[3]".
"""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any
from uuid import UUID

from stackviz.base.backports import UTC, time_of_iso
from stackviz.report.format.facts.fact import noun
from stackviz.report.format.limits import LIMITS, ReportError

__all__ = [
    "IDENTIFIER", "NAME", "NAMES", "PER_SAMPLE", "RATIO", "ROUNDS", "SAMPLES", "SECONDS", "TEXT", "TIMESTAMP", "Kind",
    "Schema", "as_list", "as_object", "check_count", "check_names", "choice", "integer", "integers", "number_schema",
    "sha256", "slug",
]  # fmt: skip

Schema = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Kind:
    """One kind of value: `read` makes the Python value or raises ReportError, `write` the JSON value again.

    `default`: makes the JSON value of a missing field; None: the field must be there, unless it is nullable.
    `sibling`: a field of the same object, read earlier, whose value `read` gets as its second argument.
    `known`: the names understood here, where the kind holds names; others are listed as unknown. None: any.
    """

    read: Callable[..., Any]
    schema: Schema
    write: Callable[[Any], Any] = lambda value: value
    default: Callable[[], Any] | None = None
    sibling: str = ""
    known: Mapping[str, Any] | None = None


def _wrong_type(value: object, expected: str) -> ReportError:
    return ReportError("", f"is {noun(value)}, not {expected}")


def as_object(value: object) -> dict[str, Any]:
    if type(value) is dict:
        return value
    raise ReportError("", "is missing") if value is None else _wrong_type(value, "an object")


def as_list(value: object, most: int) -> list[Any]:
    if type(value) is list:
        check_count(value, most)
        return value
    raise _wrong_type(value, "a list")


def check_count(entries: Collection[Any], most: int) -> None:
    if len(entries) > most:
        raise ReportError("", f"has {len(entries)} entries, over {most}")


def check_names(names: Collection[str]) -> None:
    if names and ("" in names or max(map(len, names)) > LIMITS.name_chars):
        raise ReportError("", f"has a name that is empty or over {LIMITS.name_chars} characters long")


# --- text ---


def _text(least: int, most: int) -> Kind:
    """Text of `least` to `most` characters."""
    bounds = f"not {least} to {most}" if least else f"over {most}"

    def read(value: object) -> str:
        if type(value) is not str:
            raise _wrong_type(value, "text")
        if not least <= len(value) <= most:
            raise ReportError("", f"is {len(value)} characters long, {bounds}")
        return value

    return Kind(read=read, schema={"type": "string", **({"minLength": least} if least else {}), "maxLength": most})


NAME = _text(1, LIMITS.name_chars)
TEXT = _text(0, LIMITS.string_chars)


def _list_of_kind(kind: Kind, most: int) -> Kind:
    """At most `most` values of one kind, none by default."""

    def read(value: object) -> tuple[Any, ...]:
        values = []
        for number, each in enumerate(as_list(value, most)):
            try:
                values.append(kind.read(each))
            except ReportError as error:
                raise ReportError(f"[{number}]{error.path}", error.problem) from None
        return tuple(values)

    schema = {"type": "array", "items": kind.schema, "maxItems": most}
    return Kind(read=read, schema=schema, write=list, default=list)


NAMES = _list_of_kind(NAME, LIMITS.names)


def choice(choices: Collection[str]) -> Kind:
    """One of a few words."""

    def read(value: object) -> str:
        if type(value) is not str:
            raise _wrong_type(value, "text")
        if value not in choices:
            raise ReportError("", f"is {value[:80]!r}, not one of {', '.join(sorted(choices))}")
        return value

    return Kind(read=read, schema={"enum": sorted(choices)})


_SLUG = r"[a-z0-9]+(?:[._-][a-z0-9]+)*"
_is_slug = lru_cache(maxsize=1024)(re.compile(_SLUG).fullmatch)


def slug(known: Mapping[str, str] | None = None) -> Kind:
    """A name of lower-case letters and digits."""

    def read(value: object) -> str:
        name: str = NAME.read(value)
        if not _is_slug(name):
            raise ReportError("", "is not a slug: lower-case letters and digits, with . _ or - between them")
        return name

    schema = {**NAME.schema, "pattern": _whole(_SLUG)}
    if known is not None:
        schema["description"] = f"understood: {', '.join(known)}"
    return Kind(read=read, schema=schema, known=known)


def _matching(
    pattern: str,
    expected: str,
    *,
    format: str = "",  # noqa: A002 (JSON Schema's own word)
    parse: Callable[[str], Any] = str,
    write: Callable[[Any], str] = str,
) -> Kind:
    """Text of a fixed form, which errors call `expected`; `parse` and `write` turn it into a Python value and back."""
    matches = re.compile(pattern).fullmatch

    def read(value: object) -> Any:  # noqa: ANN401 (what `parse` makes)
        if type(value) is not str:
            raise _wrong_type(value, expected)
        if not matches(value):
            raise ReportError("", f"is not {expected}")
        return parse(value)

    schema = {"type": "string", **({"format": format} if format else {}), "pattern": _whole(pattern)}
    return Kind(read=read, schema=schema, write=write)


def _whole(pattern: str) -> str:
    return f"^(?:{pattern})$"


def _parse_time(text: str) -> datetime:
    try:
        return time_of_iso(text).astimezone(UTC)
    except (ValueError, OverflowError):
        raise ReportError("", "is not a time that exists") from None


def _time_text(time: datetime) -> str:
    return time.astimezone(UTC).isoformat().replace("+00:00", "Z")


def sha256(expected: str = "a SHA-256 in lower-case hex") -> Kind:
    return _matching("[0-9a-f]{64}", expected)


IDENTIFIER = _matching(
    "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", "a UUID", format="uuid", parse=UUID, write=str
)
TIMESTAMP = _matching(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:Z|[+-]\d\d:\d\d)".replace(r"\d", "[0-9]"),
    "a time with its zone: 2026-11-20T12:59:00Z",
    format="date-time",
    parse=_parse_time,
    write=_time_text,
)
"""An aware time, moved to UTC. The form is that of RFC 3339; a time without its zone is refused."""


# --- numbers ---

_OVER_64_BITS = "is an integer beyond 64 bits"


def integer(least: int) -> Kind:
    """An integer from `least` to the largest of 64 bits."""
    most = LIMITS.integer_max

    def read(value: object) -> int:
        if type(value) is not int:
            raise _wrong_type(value, "an integer")
        if not least <= value <= most:
            raise ReportError("", f"is not between {least} and {most}")
        return value

    return Kind(read=read, schema={"type": "integer", "minimum": least, "maximum": most})


def integers(least: int, most: int) -> Kind:
    """At most `most` integers."""
    return _list_of_kind(integer(least), most)


def number_schema(least: float = -LIMITS.number_max, most: float = LIMITS.number_max) -> Schema:
    return {"type": "number", "minimum": least, "maximum": most}


def _read_ratio(value: object) -> float:
    if type(value) is not int and type(value) is not float:
        raise _wrong_type(value, "a number")
    if not 0 <= value <= 1:
        raise ReportError("", "is not between 0 and 1")
    return float(value)


RATIO = Kind(read=_read_ratio, schema=number_schema(0, 1))
"""A share: 0 none, 1 all."""


def _read_seconds(value: object) -> float:
    if type(value) is not int and type(value) is not float:
        raise _wrong_type(value, "a number")
    if not 0 <= value <= LIMITS.number_max:
        raise ReportError("", "is not a finite number of seconds")
    if type(value) is int and value > LIMITS.integer_max:
        raise ReportError("", _OVER_64_BITS)
    return float(value)


SECONDS = Kind(read=_read_seconds, schema=number_schema(0))
"""A duration; an integer is read as a float."""


def _numbers(*, may_be_zero: bool) -> Kind:
    """Finite numbers, integers of at most 64 bits, as many as a result has samples at most."""
    expected = "is not a finite number, 0 or more" if may_be_zero else "is not a positive finite number"

    def is_small(number: float) -> bool:
        return number < 0 if may_be_zero else number <= 0

    def check(number: object, path: str) -> None:
        if type(number) is not int and type(number) is not float:
            raise ReportError(path, f"is {noun(number)}, not a number")
        if is_small(number) or not number <= LIMITS.number_max:
            raise ReportError(path, expected)
        if type(number) is int and number > LIMITS.integer_max:
            raise ReportError(path, _OVER_64_BITS)

    def read(value: object) -> tuple[float, ...]:
        """Checked by builtins in C: a report may hold two million."""
        numbers = as_list(value, LIMITS.samples)
        types = set(map(type, numbers))
        most = LIMITS.number_max if int not in types else LIMITS.integer_max
        if numbers and not (types <= {int, float} and not is_small(min(numbers)) and max(numbers) <= most):
            for position, number in enumerate(numbers):
                check(number, f"[{position}]")
        return tuple(numbers)

    least = {"minimum": 0} if may_be_zero else {"exclusiveMinimum": 0}
    item = {"type": "number", **least, "maximum": LIMITS.number_max}
    schema = {"type": "array", "items": item, "maxItems": LIMITS.samples}
    return Kind(read=read, schema=schema, write=list, default=list)


SAMPLES = _numbers(may_be_zero=False)
"""Positive finite numbers, integers of at most 64 bits."""

PER_SAMPLE = _numbers(may_be_zero=True)
"""A second measure, one figure for each sample: 0 is one, as of a counter that did not move."""


def _read_rounds(value: object) -> tuple[int, ...]:
    """By builtins in C, as samples are."""
    rounds = as_list(value, LIMITS.samples)
    if not rounds:
        return ()
    for position, number in enumerate(rounds) if set(map(type, rounds)) != {int} else ():
        if type(number) is not int:
            raise ReportError(f"[{position}]", f"is {noun(number)}, not an integer")
    if rounds != sorted(rounds) or set(rounds) != set(range(min(len(rounds), rounds[-1] + 1))):
        raise ReportError("", "does not count 0, 1, 2 and so on in the order of the samples")
    return tuple(rounds)


ROUNDS = Kind(
    read=_read_rounds,
    schema={
        "type": "array",
        "items": {"type": "integer", "minimum": 0, "maximum": LIMITS.samples - 1},
        "maxItems": LIMITS.samples,
    },
    write=list,
    default=list,
)
"""The round in which each sample was taken: 0, 0, 1, 1, 2, 2."""
