"""When each table was last held against its sources, and until when that is good enough.

The curated days stand in `data/checked.csv`; the site's watcher adds its own (`TableCheck`). The later one counts.
"""

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from stackviz.records.stacks.models import Edition, TableCheck
from stackviz.records.stacks.queries import names_of_components
from stackviz.web.i18n.curated_text import curated_words

FILE = Path(__file__).parent / "data" / "checked.csv"
RELEASES = "releases"  # of components without a row of their own
TITLES: Mapping[str, str | Promise] = MappingProxyType(
    {
        "catalogue": gettext_lazy("Spec sheets"),
        "names": gettext_lazy("Names that accelerators report"),
        "claims": gettext_lazy("Claims"),
        "cited-results": gettext_lazy("Cited results"),
        "language-models": gettext_lazy("Language models"),
        "operators": gettext_lazy("Operators"),
        "requirements": gettext_lazy("Requirements of releases"),
        "timeline": gettext_lazy("Timeline"),
        RELEASES: gettext_lazy("Releases of all other components"),
    }
)


@dataclass(frozen=True, slots=True)
class CheckedTable:
    """One table. `against`: what it was held against, in English; `valid_until`: the last day that this will do."""

    table: str
    checked_on: date
    valid_until: date
    against: str

    @property
    def title(self) -> str:
        """In the language of the page."""
        if self.table in TITLES:
            return str(TITLES[self.table])
        component = self.table.removeprefix(f"{RELEASES}/")
        return _("Releases of %(component)s") % {"component": names_of_components().get(component, component)}

    @property
    def local_against(self) -> str:
        return curated_words(self.against)

    def is_stale(self, day: date) -> bool:
        """Whether the check is too old on that day."""
        return day > self.valid_until


def checked_tables() -> Mapping[str, CheckedTable]:
    """Table -> its last check, in the order of the file. No query but that for the edition; one more after a change."""
    return _checked(Edition.current())


def stale_tables(tables: Iterable[str], day: date) -> tuple[CheckedTable, ...]:
    """Those of these tables whose check is too old on that day, each once."""
    checked = checked_tables()
    named = dict.fromkeys(table if table in checked else table.partition("/")[0] for table in tables)
    return tuple(checked[table] for table in named if table in checked and checked[table].is_stale(day))


def releases_of(components: Iterable[str]) -> list[str]:
    """The names of the tables of their releases."""
    return [f"{RELEASES}/{component}" for component in components]


@lru_cache(maxsize=2)
def _checked(_edition: str) -> Mapping[str, CheckedTable]:
    watched = {row.table: row for row in TableCheck.objects.all()}
    return MappingProxyType({table: _later(*row, watched.get(table)) for table, row in _curated().items()})


def _later(curated: CheckedTable, valid_days: int, watched: TableCheck | None) -> CheckedTable:
    if watched is None or watched.checked_on <= curated.checked_on:
        return curated
    return CheckedTable(curated.table, watched.checked_on, watched.checked_on + timedelta(valid_days), watched.against)


@cache
def _curated() -> Mapping[str, tuple[CheckedTable, int]]:
    """Table -> what the file says, and for how many days a check of it is good."""
    rows = {}
    with FILE.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            checked_on, valid_days = date.fromisoformat(row["checked_on"]), int(row["valid_days"])
            table = CheckedTable(row["table"], checked_on, checked_on + timedelta(valid_days), row["against"])
            rows[row["table"]] = (table, valid_days)
    return MappingProxyType(rows)
