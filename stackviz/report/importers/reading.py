"""The contents of a dump or a probe, collected piece by piece and always fit for a report.

A value that a report would refuse (wrong type, 0 for unknown, too long) becomes an absent fact that says so: a reader
can hand over whatever it found.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from stackviz.report.format import CARD_FACTS, FACTS, LIMITS, Absent, Card, Fact, FactType, Result, Scalar, Software

__all__ = [
    "UNNAMED", "CardReading", "CardSample", "FactSheet", "Reading", "clean", "distinct_lines", "vendor_of",
    "without_digits",
]  # fmt: skip

UNNAMED = "NVIDIA GPU"
"""What a card is called of which nvidia-smi was asked something else than the name."""

_UNSTORABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_MOST_PROBLEMS = 50


def clean(text: str, longest: int = LIMITS.string_chars) -> str:
    """Text a report can hold: no control characters, one space for many, ends trimmed, at most `longest` characters."""
    text = " ".join(_UNSTORABLE.sub("", text[: 4 * longest]).split())
    return text if len(text) <= longest else text[: longest - 3] + "..."


_DIGITS = b"0123456789"


def without_digits(text: str) -> str:
    return text.encode(errors="surrogatepass").translate(None, _DIGITS).decode(errors="surrogatepass")


def distinct_lines(text: str) -> str:
    """Each line once, without digits: where the lines of a log differ in figures only, a few lines of thousands."""
    return "\n".join(dict.fromkeys(without_digits(text).split("\n")))


@dataclass
class FactSheet:
    """Facts of one table, and why the others are absent. The first word about a name counts."""

    table: Mapping[str, Fact] = field(repr=False)
    facts: dict[str, Scalar] = field(default_factory=dict)
    absent: dict[str, Absent] = field(default_factory=dict)

    def state(self, name: str, value: object) -> None:
        """Note a value; one that cannot be meant (0 bytes, an empty text, not a number) makes the fact absent."""
        if name in self.facts or value is None:
            return
        fact = self.table[name]
        if isinstance(value, str):
            value = clean(value)
        elif fact.kind is FactType.NUMBER and isinstance(value, float) and not math.isfinite(value):
            self.mark_missing(name, "not_reported", "the figure is not finite")
            return
        problem = "is empty" if value == "" else fact.problem_with(value)
        if problem is None and isinstance(value, int | float) and abs(value) > LIMITS.integer_max:
            problem = f"is {value:.3g}, which means unknown"
        if problem:
            self.mark_missing(name, "not_reported", f"the answer {problem}")
            return
        self.absent.pop(name, None)
        self.facts[name] = value  # type: ignore[assignment]  # a scalar: problem_with said so

    def mark_missing(self, name: str, reason: str, detail: str | None = None) -> None:
        """Note why a fact is absent."""
        if name not in self.facts:
            self.absent.setdefault(name, Absent(reason, None if detail is None else clean(detail)))


@dataclass(kw_only=True)
class CardReading:
    """One card as it is being read."""

    index: int
    kind: str
    vendor: str
    reported_name: str
    memory_bytes: int | None = None
    uuid_hash: str | None = None
    sheet: FactSheet = field(default_factory=lambda: FactSheet(CARD_FACTS))

    def card(self) -> Card:
        return Card(
            index=self.index,
            kind=self.kind,
            vendor=self.vendor,
            reported_name=clean(self.reported_name, LIMITS.name_chars) or "unnamed",
            memory_bytes=self.memory_bytes if self.memory_bytes and self.memory_bytes > 0 else None,
            uuid_hash=self.uuid_hash,
            facts=self.sheet.facts,
            absent=self.sheet.absent,
        )


class CardSample(NamedTuple):
    """One look at a card; None: the tool does not say. `at_s`: since any time; `throttle_reasons`: as the fact."""

    at_s: float | None = None
    busy_ratio: float | None = None
    memory_activity_ratio: float | None = None
    memory_used_bytes: float | None = None
    power_w: float | None = None
    sm_clock_hz: float | None = None
    temperature_c: float | None = None
    received_bytes_per_s: float | None = None
    throttle_reasons: str = ""


@dataclass(kw_only=True)
class Reading:
    """All that one dump or probe states. `kind` says which tool; `problems` what was odd or could not be read.

    `ignored`: lines inside the dump that the importer has no use for, shortened; `results`: benchmarks it states;
    `series`: what a tool saw of the card of this index, again and again.
    """

    kind: str
    sheet: FactSheet = field(default_factory=lambda: FactSheet(FACTS))
    cards: list[Card] = field(default_factory=list)
    software: list[Software] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    series: dict[int, list[CardSample]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)

    @property
    def facts(self) -> Mapping[str, Scalar]:
        return self.sheet.facts

    @property
    def absent(self) -> Mapping[str, Absent]:
        return self.sheet.absent

    def add_software(self, component: str, version: object, found_by: str) -> None:
        """Note a component; a version of None means that it exists with an unknown version."""
        text = None if version is None else clean(str(version), LIMITS.name_chars) or None
        software = Software(component, text, clean(found_by, LIMITS.name_chars))
        if len(self.software) < LIMITS.software and not any(
            s.component == component and s.version == text for s in self.software
        ):
            self.software.append(software)

    def problem(self, text: str) -> None:
        if len(self.problems) < _MOST_PROBLEMS:
            self.problems.append(clean(text))

    def ignore(self, line: str) -> None:
        """Note a line that was not understood."""
        if len(self.ignored) < _MOST_PROBLEMS:
            self.ignored.append(clean(line, LIMITS.name_chars))


_TIERS = (
    {"unknown": r"cambricon|iluvatar|hygon|metax|moore threads|tesla dojo"},  # cards named like NVIDIA's
    {
        "nvidia": r"nvidia",
        "amd": r"amd|ati|advanced micro devices",
        "intel": r"intel",
        "apple": r"apple",
        "huawei": r"huawei|ascend",
        "baidu": r"baidu",
        "google": r"google",
    },
    {
        "nvidia": r"geforce|quadro|tesla|titan|rtx|gtx|grid",
        "amd": r"radeon|instinct|firepro|gfx[0-9a-f]+",
        "intel": r"arc|iris|gma",
    },
    {
        "intel": r"a(?:310|380|580|750|770)m?|b5[78]0",
        "amd": r"mi\d{2,3}[ax]?|v(?:340|520|620)",
        "apple": r"m[1-9]",
    },
    {"nvidia": r"[ahklptv]\d{2,4}s?|[alpt][24]|m\d0|g?b[123]00|gh200"},
)
"""Makers' names, lines of products, model numbers that only one maker has, and those that look like NVIDIA's.

What comes earlier counts, however many of the later ones stand in the name: an Arc A770 is no card of NVIDIA's.
"""


def _pattern(tier: Mapping[str, str]) -> re.Pattern[str]:
    named = "|".join(f"(?P<{vendor}>{words})" for vendor, words in tier.items())
    return re.compile(rf"(?<![^\W_])(?:{named})(?![^\W_])", re.IGNORECASE)


_PATTERNS = tuple(_pattern(tier) for tier in _TIERS)


def vendor_of(name: str) -> str:
    """Vendor as the wire has it; "unknown" for a name that says none."""
    vendor = next((match for match in (pattern.search(name) for pattern in _PATTERNS) if match), None)
    return str(vendor.lastgroup) if vendor else "unknown"
