"""Readers of single values out of a decoded object: the value as it should be, or a ReportError naming its key.

Types are compared with `type() is`: JSON has no subclasses, and to Python True is an int.
"""

import re
from collections.abc import Callable, Collection
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, NoReturn

from stackviz.wire.errors import ReportError
from stackviz.wire.limits import LIMITS

__all__ = [
    "as_object", "check_names", "integer", "is_sha256", "is_uuid", "matching", "name", "name_or_none", "noun", "one_of",
    "samples", "seconds_or_none", "slug", "text_or_none", "time",
]  # fmt: skip

Object = dict[str, Any]

_NAME = LIMITS.name_chars
_TEXT = LIMITS.string_chars
_LARGEST = LIMITS.number_max
_NUMBERS = frozenset({int, float})
_TOO_LONG = "is an integer beyond 64 bits"
UUID_PATTERN = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
TIME_PATTERN = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:Z|[+-]\d\d:\d\d)"
SHA256_PATTERN = r"[0-9a-f]{64}"
SLUG_PATTERN = r"[a-z0-9]+(?:[._-][a-z0-9]+)*"

is_uuid = re.compile(UUID_PATTERN, re.ASCII).fullmatch
is_sha256 = re.compile(SHA256_PATTERN, re.ASCII).fullmatch
_is_time = re.compile(TIME_PATTERN, re.ASCII).fullmatch
_is_slug = lru_cache(maxsize=1024)(re.compile(SLUG_PATTERN, re.ASCII).fullmatch)


def as_object(value: object) -> Object:
    if type(value) is dict:
        return value
    raise ReportError("", "is missing" if value is None else f"is {noun(value)}, not an object")


def name(source: Object, key: str) -> str:
    """Text of 1 to LIMITS.name_chars characters."""
    value = source.get(key)
    if type(value) is not str:
        _wrong(source, key, "text")
    if not 0 < len(value) <= _NAME:
        raise ReportError(key, f"is {len(value)} characters long, not 1 to {_NAME}")
    return value


def name_or_none(source: Object, key: str) -> str | None:
    return None if source.get(key) is None else name(source, key)


def text_or_none(source: Object, key: str) -> str | None:
    """Text of at most LIMITS.string_chars characters; None where it is null or missing."""
    value = source.get(key)
    if value is None:
        return None
    if type(value) is not str:
        _wrong(source, key, "text")
    if len(value) > _TEXT:
        raise ReportError(key, f"is {len(value)} characters long, over {_TEXT}")
    return value


def slug(source: Object, key: str) -> str:
    value = name(source, key)
    if not _is_slug(value):
        raise ReportError(key, "is not a slug: lower-case letters and digits, with . _ or - between them")
    return value


def one_of(source: Object, key: str, choices: Collection[str]) -> str:
    value = source.get(key)
    if type(value) is not str:
        _wrong(source, key, "text")
    if value not in choices:
        raise ReportError(key, f"is {value[:80]!r}, not one of {', '.join(sorted(choices))}")
    return value


def matching(source: Object, key: str, matches: Callable[[str], object], wanted: str) -> str:
    value = source.get(key)
    if type(value) is not str:
        _wrong(source, key, wanted)
    if not matches(value):
        raise ReportError(key, f"is not {wanted}")
    return value


def time(source: Object, key: str) -> datetime:
    """An aware time, moved to UTC. The form is RFC 3339's; a time without its zone is refused."""
    text = matching(source, key, _is_time, "a time with its zone: 2026-11-20T12:59:00Z")
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        raise ReportError(key, "is not a time that exists") from None


def integer(source: Object, key: str, least: int) -> int:
    value = source.get(key)
    if type(value) is not int:
        _wrong(source, key, "an integer")
    if not least <= value <= LIMITS.integer_max:
        raise ReportError(key, f"is not between {least} and {LIMITS.integer_max}")
    return value


def seconds_or_none(source: Object, key: str) -> float | None:
    value = source.get(key)
    if value is None:
        return None
    if type(value) not in _NUMBERS:
        _wrong(source, key, "a number")
    if not 0 <= value <= _LARGEST:
        raise ReportError(key, "is not a finite number of seconds")
    if type(value) is int and value > LIMITS.integer_max:
        raise ReportError(key, _TOO_LONG)
    return float(value)


def samples(value: object) -> tuple[float, ...]:
    """Positive finite numbers, integers of at most 64 bits. Checked by builtins in C: a report may hold two million."""
    if type(value) is not list:
        raise ReportError("samples", f"is {noun(value)}, not a list")
    if len(value) > LIMITS.samples:
        raise ReportError("samples", f"has {len(value)} entries, over {LIMITS.samples}")
    kinds = set(map(type, value))
    most = _LARGEST if int not in kinds else LIMITS.integer_max
    if not value or (kinds <= _NUMBERS and min(value) > 0 and max(value) <= most):
        return tuple(value)
    for number, sample in enumerate(value):
        if type(sample) not in _NUMBERS:
            raise ReportError(f"samples[{number}]", f"is {noun(sample)}, not a number")
        if not 0 < sample <= _LARGEST:
            raise ReportError(f"samples[{number}]", "is not a positive finite number")
        if type(sample) is int and sample > LIMITS.integer_max:
            raise ReportError(f"samples[{number}]", _TOO_LONG)
    return tuple(value)


def check_names(names: Collection[str]) -> None:
    if names and ("" in names or max(map(len, names)) > _NAME):
        raise ReportError("", f"has a name that is empty or over {_NAME} characters long")


def noun(value: object) -> str:
    """What kind of JSON value this is, as an error says it."""
    return "null" if value is None else _NOUNS.get(type(value), type(value).__name__)


_NOUNS = {
    bool: "true or false",
    int: "an integer",
    float: "a number",
    str: "text",
    list: "a list",
    dict: "an object",
}


def _wrong(source: Object, key: str, wanted: str) -> NoReturn:
    raise ReportError(key, f"is {noun(source[key])}, not {wanted}" if key in source else "is missing")
