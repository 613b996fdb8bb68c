"""Sources of cited results that publish again and again: the newest round known of each, ours, and the next expected.

`data/rounds.csv` is curated: `newest` is the version of the newest round that somebody saw on `seen_on`, empty where a
source has no rounds and adds results all the time; `months` are those in which rounds come out.
"""

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache, lru_cache
from pathlib import Path

from django.db.models import Max

from stackviz.records.cited.models import CitedEdition, CitedResult
from stackviz.report.rules.versions import is_below

FILE = Path(__file__).parent / "data" / "rounds.csv"
CITED_RESULTS = "cited-results"  # the table that these sources fill, as in `checked.csv`
_VERSION = re.compile(r"-v(\d+)-(\d+)(?:-|$)")  # in the key of a source: mlperf-inference-v5-1-results


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRound:
    """`sources`: how the keys of its sources begin. `most_days_behind`: of one without rounds, 0 for the others."""

    key: str
    title: str
    page: str
    sources: str
    newest: str
    seen_on: date
    months: tuple[int, ...]
    most_days_behind: int

    @property
    def next_month(self) -> date | None:
        """The first day of the month in which the next round is expected after the newest was seen."""
        starts = (date(self.seen_on.year + later, month, 1) for later in (0, 1) for month in self.months)
        return min((start for start in starts if start > self.seen_on), default=None)


@dataclass(frozen=True, slots=True)
class RoundStanding:
    """A source and what there is of it here. `version`: "" for none, or of a source without rounds."""

    source: SourceRound
    version: str
    newest_on: date | None

    def is_behind(self, day: date) -> bool:
        """Whether a newer round is known or due, or nothing of the last days is here."""
        if self.source.most_days_behind:
            oldest = day - timedelta(self.source.most_days_behind)
            return self.newest_on is None or self.newest_on < oldest
        due = self.source.next_month
        is_older = not self.version or is_below(self.version.removeprefix("v"), self.source.newest.removeprefix("v"))
        return is_older or (due is not None and day > due + timedelta(31))


def round_standings() -> tuple[RoundStanding, ...]:
    """Each source with what is stored of it. A query for the edition, one more after a change."""
    return _standings(CitedEdition.current())


def is_behind_its_sources(table: str, day: date) -> bool:
    """Whether a table lacks what its sources have published: it is stale then, whenever somebody looked at it."""
    return table == CITED_RESULTS and any(standing.is_behind(day) for standing in round_standings())


@lru_cache(maxsize=2)
def _standings(_edition: str) -> tuple[RoundStanding, ...]:
    rows = CitedResult.objects.exclude(state=CitedResult.State.WITHDRAWN).order_by()
    newest = dict(rows.values_list("source__key").annotate(Max("date")))
    return tuple(_standing(source, newest) for source in source_rounds())


def _standing(source: SourceRound, newest_by_key: Mapping[str, date | None]) -> RoundStanding:
    keys = [key for key in newest_by_key if key.startswith(source.sources)]
    versions = [(int(match[1]), int(match[2])) for key in keys if (match := _VERSION.search(key))]
    days = [day for key in keys if (day := newest_by_key[key])]
    version = "v{}.{}".format(*max(versions)) if versions else ""
    return RoundStanding(source, version, max(days, default=None))


@cache
def source_rounds() -> tuple[SourceRound, ...]:
    """The curated file, in its order."""
    with FILE.open(encoding="utf-8", newline="") as lines:
        return tuple(
            SourceRound(
                key=row["key"],
                title=row["title"],
                page=row["page"],
                sources=row["sources"],
                newest=row["newest"],
                seen_on=date.fromisoformat(row["seen_on"]),
                months=tuple(map(int, row["months"].split())),
                most_days_behind=int(row["most_days_behind"] or 0),
            )
            for row in csv.DictReader(lines)
        )
