"""What a field of the format may hold. Each kind reads a JSON value, writes it back and describes it as a JSON Schema.

A kind stands in the annotation of a dataclass field: `index: Annotated[int, Integer(least=0)]`. Readers compare with
`type() is`: JSON has no subclasses, and to Python True is an int. They raise ReportError with the path below the value
they were given, separator included: "" for the value itself, ".detail", "[3]".
"""

import re
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, ClassVar, Generic, TypeVar
from uuid import UUID

from stackviz.wire.errors import ReportError
from stackviz.wire.limits import LIMITS

__all__ = [
    "NAME", "SLUG", "TEXT", "TIMESTAMP", "Choice", "Identifier", "Integer", "Kind", "Samples", "Schema", "Seconds",
    "Sha256", "Slug", "Text", "Timestamp", "as_list", "as_object", "check_count",
    "check_names", "noun", "number_schema",
]  # fmt: skip

Schema = dict[str, Any]
Value = TypeVar("Value")

_NOUNS = {
    type(None): "null",
    bool: "true or false",
    int: "an integer",
    float: "a number",
    str: "text",
    list: "a list",
    dict: "an object",
}
_OVER_64_BITS = "is an integer beyond 64 bits"


def noun(value: object) -> str:
    """What kind of JSON value this is, as an error names it."""
    return _NOUNS.get(type(value), type(value).__name__)


def wrong_type(value: object, expected: str) -> ReportError:
    return ReportError("", f"is {noun(value)}, not {expected}")


def as_object(value: object) -> dict[str, Any]:
    if type(value) is dict:
        return value
    raise ReportError("", "is missing") if value is None else wrong_type(value, "an object")


def as_list(value: object, most: int) -> list[Any]:
    if type(value) is list:
        check_count(value, most)
        return value
    raise wrong_type(value, "a list")


def check_count(entries: Collection[Any], most: int) -> None:
    if len(entries) > most:
        raise ReportError("", f"has {len(entries)} entries, over {most}")


def check_names(names: Collection[str]) -> None:
    """Raise ReportError unless each name has 1 to LIMITS.name_chars characters."""
    if names and ("" in names or max(map(len, names)) > LIMITS.name_chars):
        raise ReportError("", f"has a name that is empty or over {LIMITS.name_chars} characters long")


class Kind(Generic[Value]):
    """One kind of value, in Python a `Value`. `default`: makes a missing one; None: it must be there, unless nullable.

    `sibling`: a field of the same object, read earlier, whose value `read` gets as its second argument.
    `known`: the names understood here, where the kind holds names; others are listed as unknown. None: any.
    """

    default: ClassVar[type[Any] | None] = None
    sibling = ""
    known: Mapping[str, Any] | None = None

    def read(self, value: object) -> Value:
        raise NotImplementedError

    def write(self, value: Value) -> object:
        """The JSON value of what `read` returned."""
        return value

    def schema(self) -> Schema:
        raise NotImplementedError


# --- text ---


class Text(Kind[str]):
    """Text of `least` to `most` characters."""

    def __init__(self, least: int = 0, most: int = LIMITS.string_chars) -> None:
        self.least, self.most = least, most

    def read(self, value: object) -> str:
        if type(value) is not str:
            raise wrong_type(value, "text")
        if not self.least <= len(value) <= self.most:
            bounds = f"not {self.least} to {self.most}" if self.least else f"over {self.most}"
            raise ReportError("", f"is {len(value)} characters long, {bounds}")
        return value

    def schema(self) -> Schema:
        least = {"minLength": self.least} if self.least else {}
        return {"type": "string", **least, "maxLength": self.most}


class Slug(Text):
    """A short name of lower-case letters and digits."""

    pattern = r"[a-z0-9]+(?:[._-][a-z0-9]+)*"
    _matches = staticmethod(lru_cache(maxsize=1024)(re.compile(pattern).fullmatch))

    def __init__(self, known: Mapping[str, str] | None = None) -> None:
        super().__init__(1, LIMITS.name_chars)
        self.known = known

    def read(self, value: object) -> str:
        text = super().read(value)
        if not self._matches(text):
            raise ReportError("", "is not a slug: lower-case letters and digits, with . _ or - between them")
        return text

    def schema(self) -> Schema:
        known = {} if self.known is None else {"description": f"understood: {', '.join(self.known)}"}
        return {**super().schema(), "pattern": _whole(self.pattern), **known}


class Matching(Kind[Value]):
    """Text of a fixed form. `expected` names the form in errors, `format` is JSON Schema's own word for it."""

    def __init__(self, pattern: str, expected: str, format: str = "") -> None:  # noqa: A002
        self.pattern, self.expected, self.format = pattern, expected, format
        self._matches = re.compile(pattern).fullmatch

    def text(self, value: object) -> str:
        if type(value) is not str:
            raise wrong_type(value, self.expected)
        if not self._matches(value):
            raise ReportError("", f"is not {self.expected}")
        return value

    def schema(self) -> Schema:
        name = {"format": self.format} if self.format else {}
        return {"type": "string", **name, "pattern": _whole(self.pattern)}


class Sha256(Matching[str]):
    """A hash in hex."""

    def __init__(self, expected: str = "a SHA-256 in lower-case hex") -> None:
        super().__init__("[0-9a-f]{64}", expected)

    def read(self, value: object) -> str:
        return self.text(value)


class Identifier(Matching[UUID]):
    """A UUID."""

    def __init__(self) -> None:
        super().__init__(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", "a UUID", "uuid")

    def read(self, value: object) -> UUID:
        return UUID(self.text(value))

    def write(self, value: UUID) -> str:
        return str(value)


class Timestamp(Matching[datetime]):
    """An aware time, moved to UTC. The form is that of RFC 3339; a time without its zone is refused."""

    def __init__(self) -> None:
        pattern = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:Z|[+-]\d\d:\d\d)".replace(r"\d", "[0-9]")
        super().__init__(pattern, "a time with its zone: 2026-11-20T12:59:00Z", "date-time")

    def read(self, value: object) -> datetime:
        text = self.text(value)
        try:
            return datetime.fromisoformat(text).astimezone(UTC)
        except (ValueError, OverflowError):
            raise ReportError("", "is not a time that exists") from None

    def write(self, value: datetime) -> str:
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")


class Choice(Kind[str]):
    """One of a few words."""

    def __init__(self, choices: Collection[str]) -> None:
        self.choices = choices

    def read(self, value: object) -> str:
        if type(value) is not str:
            raise wrong_type(value, "text")
        if value not in self.choices:
            raise ReportError("", f"is {value[:80]!r}, not one of {', '.join(sorted(self.choices))}")
        return value

    def schema(self) -> Schema:
        return {"enum": sorted(self.choices)}


NAME = Text(1, LIMITS.name_chars)
TEXT = Text()
SLUG = Slug()
TIMESTAMP = Timestamp()


# --- numbers ---


class Integer(Kind[int]):
    """An integer from `least` to the largest of 64 bits."""

    def __init__(self, least: int) -> None:
        self.least = least

    def read(self, value: object) -> int:
        if type(value) is not int:
            raise wrong_type(value, "an integer")
        if not self.least <= value <= LIMITS.integer_max:
            raise ReportError("", f"is not between {self.least} and {LIMITS.integer_max}")
        return value

    def schema(self) -> Schema:
        return {"type": "integer", "minimum": self.least, "maximum": LIMITS.integer_max}


class Seconds(Kind[float]):
    """A duration; an integer is read as a float."""

    def read(self, value: object) -> float:
        if type(value) is not int and type(value) is not float:
            raise wrong_type(value, "a number")
        if not 0 <= value <= LIMITS.number_max:
            raise ReportError("", "is not a finite number of seconds")
        if type(value) is int and value > LIMITS.integer_max:
            raise ReportError("", _OVER_64_BITS)
        return float(value)

    def schema(self) -> Schema:
        return number_schema(0)


class Samples(Kind[tuple[float, ...]]):
    """Positive finite numbers, integers of at most 64 bits. Checked by builtins in C: a report may hold two million."""

    default = list

    def read(self, value: object) -> tuple[float, ...]:
        samples = as_list(value, LIMITS.samples)
        types = set(map(type, samples))
        most = LIMITS.number_max if int not in types else LIMITS.integer_max
        if samples and not (types <= {int, float} and min(samples) > 0 and max(samples) <= most):
            for number, sample in enumerate(samples):
                _check_sample(sample, f"[{number}]")
        return tuple(samples)

    def write(self, value: tuple[float, ...]) -> list[float]:
        return list(value)

    def schema(self) -> Schema:
        sample = {"type": "number", "exclusiveMinimum": 0, "maximum": LIMITS.number_max}
        return {"type": "array", "items": sample, "maxItems": LIMITS.samples}


def _check_sample(sample: object, path: str) -> None:
    if type(sample) is not int and type(sample) is not float:
        raise ReportError(path, f"is {noun(sample)}, not a number")
    if not 0 < sample <= LIMITS.number_max:
        raise ReportError(path, "is not a positive finite number")
    if type(sample) is int and sample > LIMITS.integer_max:
        raise ReportError(path, _OVER_64_BITS)


def number_schema(least: float = -LIMITS.number_max) -> Schema:
    return {"type": "number", "minimum": least, "maximum": LIMITS.number_max}


def _whole(pattern: str) -> str:
    return f"^(?:{pattern})$"
