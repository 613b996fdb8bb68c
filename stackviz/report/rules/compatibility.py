"""The compatibility tables: which release needs, ships or supports what. Data, not code.

One copy of the data exists, the CSV files beside this module: the agent reads them from its own package, the site loads
them into the database (where an admin may correct them) and builds the same `Tables` from there.
`cards.csv` is written from the site's catalogue (`manage.py write_card_table`).
"""

import csv
import io
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache, wraps
from importlib import resources
from typing import Concatenate, ParamSpec, TypeVar, cast

from stackviz.report.rules.known_cards import KnownCard, KnownCards, card_from_row
from stackviz.report.rules.versions import is_below, numbers

__all__ = [
    "CARDS_FILE",
    "FILES",
    "KnownCard",
    "Release",
    "Requirement",
    "RuleSource",
    "Tables",
    "computed_once",
    "newest_up_to",
    "packaged_cards",
    "packaged_rows",
    "packaged_tables",
    "platforms_of",
]

MOST_REMEMBERED = 4096  # selections of rows, and results of `computed_once`, that one Tables holds; then it starts anew

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")
_Key = TypeVar("_Key", bound=Hashable)
_MISSING = object()

FILES = ("sources.csv", "releases.csv", "requirements.csv")
CARDS_FILE = "cards.csv"


@dataclass(frozen=True, slots=True)
class RuleSource:
    """A public document, named by `key` in the files."""

    key: str
    title: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """One release of a component.

    `version` may be a line ("535", "12") where the source speaks of one; `variant` tells builds or platforms of one
    version apart ("cu128", "linux"). Dates are "YYYY-MM-DD" or "YYYY-MM", as exact as the source; "" if not known.
    """

    component: str
    version: str
    variant: str
    line: str
    released: str
    support_ends: str
    source: RuleSource
    note: str

    @property
    def last_day(self) -> str:
        """The last supported day as text that sorts: a bare month lasts to its end. "" if not known."""
        return f"{self.support_ends}-31" if len(self.support_ends) == len("YYYY-MM") else self.support_ends


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """One thing a release needs, ships, offers or supports, on one platform ("" for all).

    `low` is the smallest version that will do; `values` the exact ones, space separated; either may be "".
    `part` names the part it is about ("mps": only the mps device needs this).
    """

    component: str
    version: str
    variant: str
    platform: str
    relation: str
    subject: str
    part: str
    low: str
    values: str
    confidence: str
    source: RuleSource
    note: str

    @property
    def key(self) -> tuple[str, ...]:
        return (self.component, self.version, self.variant, self.platform, self.relation, self.subject, self.part)


@dataclass(frozen=True)
class Tables:
    """All rows, with the look-ups rules ask for. Equal when the rows are equal, whatever order they came in."""

    releases: frozenset[Release]
    requirements: frozenset[Requirement]
    cards: frozenset[KnownCard] = frozenset()

    @cached_property
    def _cards(self) -> KnownCards:
        return KnownCards(self.cards)

    def known_card(
        self, vendor: str, name: str, memory_bytes: int | None = None, gpu_cores: int | None = None
    ) -> KnownCard | None:
        """The product that a card of this name is; None if no name is known, several fit, or the name was cut."""
        return self._cards.single(vendor, name, memory_bytes, gpu_cores)

    def candidates(self, vendor: str, name: str, memory_bytes: int | None = None) -> list[KnownCard]:
        """What a card of this name may be."""
        return self._cards.candidates(vendor, name, memory_bytes)

    @cached_property
    def _releases(self) -> dict[tuple[str, str], list[Release]]:
        grouped: dict[tuple[str, str], list[Release]] = {}
        for release in sorted(self.releases, key=lambda row: numbers(row.version)):
            grouped.setdefault((release.component, release.variant), []).append(release)
        return grouped

    @cached_property
    def _requirements(self) -> dict[tuple[str, str, str], list[Requirement]]:
        grouped: dict[tuple[str, str, str], list[Requirement]] = {}
        for row in sorted(self.requirements, key=lambda row: (numbers(row.version), row.key)):
            grouped.setdefault((row.component, row.relation, row.subject), []).append(row)
        return grouped

    @cached_property
    def _selections(self) -> dict[tuple[str | None, ...], tuple[Requirement, ...]]:
        return {}

    @cached_property
    def _computed(self) -> dict[Hashable, object]:
        return {}

    def releases_of(self, component: str, variant: str = "") -> list[Release]:
        """Releases of a component in one variant, oldest first."""
        return self._releases.get((component, variant), [])

    def rows(
        self, component: str, relation: str, subject: str, *, platform: str | None = None, part: str | None = None
    ) -> tuple[Requirement, ...]:
        """Requirements, oldest release first. With a platform, also those that hold on every platform.

        Each selection is made once: rules ask for the same few hundreds of times.
        """
        key = (component, relation, subject, platform, part)
        selection = self._selections.get(key)
        if selection is None:
            selection = tuple(
                row
                for row in self._requirements.get((component, relation, subject), ())
                if (platform is None or row.platform in ("", platform)) and (part is None or row.part == part)
            )
            _remember(self._selections, key, selection)
        return selection


def computed_once(
    function: Callable[Concatenate[Tables, _Arguments], _Result],
) -> Callable[Concatenate[Tables, _Arguments], _Result]:
    """Computes a pure function of tables and hashable arguments once; the result lives as long as the tables."""

    @wraps(function)
    def look_up(tables: Tables, *arguments: _Arguments.args, **named: _Arguments.kwargs) -> _Result:
        computed = tables._computed  # noqa: SLF001 - defined beside it
        key = (function, arguments, *named.items())
        result = computed.get(key, _MISSING)
        if result is _MISSING:
            result = function(tables, *arguments, **named)
            _remember(computed, key, result)
        return cast("_Result", result)

    return cast("Callable[Concatenate[Tables, _Arguments], _Result]", look_up)


def _remember(memo: dict[_Key, _Result], key: _Key, result: _Result) -> None:
    """Within MOST_REMEMBERED: a report may name any version and platform."""
    if len(memo) >= MOST_REMEMBERED:
        memo.clear()
    memo[key] = result


def newest_up_to(rows: Iterable[Requirement], version: str) -> list[Requirement]:
    """Of these rows, those of the newest release that is not newer than `version`; empty if all are newer."""
    older = [row for row in rows if not is_below(version, row.version)]
    newest = max((numbers(row.version) for row in older), default=())
    return [row for row in older if numbers(row.version) == newest]


def platforms_of(wheel: str) -> frozenset[str]:
    """Return the platforms whose rows hold for a wheel: "linux-x86_64" -> "", "linux", "linux-x86_64"."""
    return frozenset(("", wheel, wheel.partition("-")[0]))


def packaged_rows(name: str) -> list[dict[str, str]]:
    """The rows of one of FILES or of CARDS_FILE, as written."""
    text = (resources.files("stackviz.report.rules") / "tables" / name).read_text(encoding="utf-8")
    return list(csv.DictReader(io.StringIO(text)))


@lru_cache(maxsize=1)
def packaged_tables() -> Tables:
    """The tables as this version ships them."""
    sources = {row["key"]: RuleSource(**row) for row in packaged_rows("sources.csv")}
    return Tables(
        frozenset(Release(**{**row, "source": sources[row["source"]]}) for row in packaged_rows("releases.csv")),  # type: ignore[arg-type]
        frozenset(
            Requirement(**{**row, "source": sources[row["source"]]})  # type: ignore[arg-type]
            for row in packaged_rows("requirements.csv")
        ),
        packaged_cards(),
    )


@lru_cache(maxsize=1)
def packaged_cards() -> frozenset[KnownCard]:
    """The names of cards as this version ships them."""
    return frozenset(card_from_row(row) for row in packaged_rows(CARDS_FILE))
