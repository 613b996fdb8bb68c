"""What a fact is: a name with one value of one type, in one unit; and why it may be absent."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from stackviz.base.backports import StrEnum

__all__ = ["ABSENT_REASONS", "LONGEST_TEXT", "Fact", "FactType", "Scalar", "noun"]

Scalar = str | int | float | bool
LONGEST_TEXT = 4_096  # characters of a text value

ABSENT_REASONS: Mapping[str, str] = MappingProxyType(
    {
        "not_reported": "asked, and the device or tool did not say",
        "not_supported": "the device, driver or version cannot tell",
        "not_installed": "the software that would tell is not installed",
        "not_applicable": "the question has no meaning on this machine",
        "not_collected": "this agent does not ask, or was told not to",
        "withheld": "known, and kept back by choice",
        "failed": "asking ended in an error; the detail says which",
        "timeout": "asking did not end in time",
    }
)
"""Why a fact is absent. Unknown is never 0."""


class FactType(StrEnum):
    """What a value may be: a truth is not an integer, an integer is a number too."""

    TEXT = "text"
    TRUTH = "truth"
    INTEGER = "integer"
    NUMBER = "number"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One thing a report may state. `unit` is an SI symbol, "count", or "" for text and truths.

    `least` is the smallest value that can be meant: sizes and clocks start above 0, because tools write 0 where
    they do not know. None means no bound. Text has at most LONGEST_TEXT characters. `command`: what a person types to
    learn the value; "" where no single command prints it.
    """

    name: str
    kind: FactType
    unit: str
    meaning: str
    least: float | None = None
    command: str = ""
    types: frozenset[type] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "types", _PYTHON_TYPES[self.kind])

    def problem_with(self, value: object) -> str | None:
        """What is wrong with this value, as ReportError says it; None if nothing is."""
        if type(value) not in self.types:
            return f"is {noun(value)}, not {_NOUNS[self.kind]}"
        if self.least is not None and value < self.least:  # type: ignore[operator]  # a number: see types
            return f"is {value}, below {self.least}: an unknown value is left out and named in absent"
        return None


_PYTHON_TYPES: dict[FactType, frozenset[type]] = {
    FactType.TEXT: frozenset({str}),
    FactType.TRUTH: frozenset({bool}),
    FactType.INTEGER: frozenset({int}),
    FactType.NUMBER: frozenset({int, float}),
}
_NOUNS = {
    FactType.TEXT: "text",
    FactType.TRUTH: "true or false",
    FactType.INTEGER: "an integer",
    FactType.NUMBER: "a number",
}
_JSON_NOUNS = {
    type(None): "null",
    bool: "true or false",
    int: "an integer",
    float: "a number",
    str: "text",
    list: "a list",
    dict: "an object",
}


def noun(value: object) -> str:
    """What kind of JSON value this is, as an error names it."""
    return _JSON_NOUNS.get(type(value), type(value).__name__)
