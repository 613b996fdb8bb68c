"""What is new, a function for each kind: accelerators, releases, public hosts and published results. No request."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby, islice
from operator import itemgetter
from typing import Any, TypeVar

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from stackviz.pages.accelerators.changes import Entry
from stackviz.records.catalog.models import Accelerator
from stackviz.records.catalog.queries import DATE, PLANNED, PublicCatalogue, public_catalogue
from stackviz.records.cited.cases import public_results
from stackviz.records.cited.registry import CITED_BENCHMARKS
from stackviz.records.cited.words import benchmark_address
from stackviz.records.hosts.models import Host
from stackviz.records.stacks.release_lines import ReleaseLine, release_lines
from stackviz.records.stacks.rule_tables import rule_tables
from stackviz.report.rules import Tables
from stackviz.report.rules.compatibility import computed_once
from stackviz.web.http.addresses import address_by_name
from stackviz.web.i18n.curated_text import curated_words

_Dated = TypeVar("_Dated", bound=tuple[Any, ...])
DAYS = 6  # with news of one kind
MOST_HOSTS = 6
NEWEST_RESULTS = 2_000  # are read; one source publishes up to a thousand on one day
ANNOUNCED = "event=announced"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewsItem:
    """`key`: identifies it on its day. `day`: as exact as its source. `happened`: in words, after the subject."""

    key: str
    day: str
    subject: str
    url: str
    happened: str | Promise
    line: str = ""

    @property
    def entry(self) -> Entry:
        """The same as an entry of the log, for the feed: of a month on its first day."""
        return Entry(
            key=f"new-{self.key}-{self.day}",
            when=datetime.strptime(f"{self.day}-01"[:10], "%Y-%m-%d").replace(tzinfo=UTC),
            who="",
            what=str(self.happened),
            accelerator=self.subject,
            url=self.url,
            details=(self.line,) if self.line else (),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NewsPart:
    """News of one kind, the newest first, those of one day and event together. `url`: the page with all of them."""

    key: str
    title: str | Promise
    url: str
    items: Sequence[NewsItem]

    @property
    def days(self) -> list[tuple[str, str, list[NewsItem]]]:
        """[(day, what happened, to which)]"""
        grouped: dict[tuple[str, str], list[NewsItem]] = defaultdict(list)
        for item in self.items:
            grouped[item.day, str(item.happened)].append(item)
        return [(day, happened, items) for (day, happened), items in grouped.items()]


def read_news(today: str) -> list[NewsPart]:
    """The kinds that have any news. Two queries besides those for editions, each of so many rows at most."""
    parts = (
        NewsPart(
            key="accelerators",
            title=gettext_lazy("Accelerators"),
            url=address_by_name("explore:timeline"),
            items=new_accelerators(public_catalogue(), today),
        ),
        NewsPart(
            key="releases",
            title=gettext_lazy("Releases of software"),
            url=address_by_name("stacks:releases"),
            items=new_releases(rule_tables(), today),
        ),
        NewsPart(
            key="results",
            title=gettext_lazy("Published results"),
            url=address_by_name("benchmarks:index"),
            items=new_results(today),
        ),
        NewsPart(
            key="hosts",
            title=gettext_lazy("Public hosts"),
            url=address_by_name("machines:list"),
            items=new_hosts(),
        ),
    )
    return [part for part in parts if part.items]


def new_accelerators(catalogue: PublicCatalogue, today: str) -> list[NewsItem]:
    """Those announced last and those that came out last."""
    dates = catalogue.once("dates of release", lambda: _dates_of_release(catalogue))
    return [
        NewsItem(
            key=f"{row.slug}-{condition.rpartition('=')[2]}",
            day=day,
            subject=row.name,
            url=row.get_absolute_url(),
            happened=gettext_lazy("announced") if condition == ANNOUNCED else gettext_lazy("came out"),
        )
        for day, condition, row in _last_days(dates, today)
    ]


def _dates_of_release(catalogue: PublicCatalogue) -> list[tuple[str, str, Accelerator]]:
    """(day, condition, accelerator), the newest first, without what is only planned."""
    dates = [
        (date.value, date.condition, row)
        for row in catalogue.accelerators
        for date in catalogue.preferred(row.pk, DATE)
        if date.condition != PLANNED
    ]
    return sorted(dates, key=itemgetter(0), reverse=True)


def new_releases(tables: Tables, today: str) -> list[NewsItem]:
    """The releases published last, of all software on record."""
    return [
        NewsItem(
            key=f"{line.product}-{version}",
            day=day,
            subject=f"{line.name.removesuffix(line.version)}{version}",
            url=line.url,
            happened=gettext_lazy("released"),
        )
        for day, version, line in _last_days(_dated_releases(tables), today)
    ]


@computed_once
def _dated_releases(tables: Tables) -> list[tuple[str, str, ReleaseLine]]:
    """(day, version, line), the newest first."""
    releases = {
        (line.slug, release.version): (release.released, release.version, line)
        for line in release_lines(tables).values()
        for release in line.releases
        if release.released
    }
    return sorted(releases.values(), key=itemgetter(0), reverse=True)


def new_results(today: str) -> list[NewsItem]:
    """The benchmarks with the newest dated results, by day. One query, which reads NEWEST_RESULTS rows at most."""
    newest = public_results().filter(date__lte=today).order_by("-date", "-pk")
    rows = list(newest.values_list("date", "benchmark", "accelerator_id")[:NEWEST_RESULTS])
    grouped: dict[tuple[str, str], list[int]] = defaultdict(list)
    for day, benchmark, accelerator_id in rows:
        grouped[str(day), benchmark].append(accelerator_id)
    cut = str(rows[-1][0]) if len(rows) == NEWEST_RESULTS else ""
    whole = [(day, key, pks) for (day, key), pks in grouped.items() if day != cut and key in CITED_BENCHMARKS]
    return [
        NewsItem(
            key=f"results-{key}",
            day=day,
            subject=str(CITED_BENCHMARKS[key].title),
            url=benchmark_address(key),
            happened=_results_words(len(pks), len(set(pks))),
        )
        for day, key, pks in _last_days(whole, today)
    ]


def _results_words(results: int, accelerators: int) -> str:
    counted = ngettext("%(n)d result", "%(n)d results", results) % {"n": results}
    of_which = ngettext("of %(n)d accelerator", "of %(n)d accelerators", accelerators) % {"n": accelerators}
    return _("%(results)s %(of_which)s") % {"results": counted, "of_which": of_which}


def new_hosts() -> list[NewsItem]:
    """The machines that their owners described last. One query."""
    hosts = Host.objects.filter(state=Host.State.PUBLIC).order_by("-seen_on", "slug")[:MOST_HOSTS]
    return [
        NewsItem(
            key=f"host-{host.slug}",
            day=f"{host.seen_on:%Y-%m}" if host.is_month_only else f"{host.seen_on:%Y-%m-%d}",
            subject=host.title,
            url=host.get_absolute_url(),
            happened=gettext_lazy("described"),
            line=curated_words(host.teaches or host.note),
        )
        for host in hosts
    ]


def _last_days(newest_first: Iterable[_Dated], today: str) -> list[_Dated]:
    """The rows, which begin with their day, of the last DAYS days until today."""
    days = groupby((row for row in newest_first if row[0] <= today), key=itemgetter(0))
    return [row for _day, rows in islice(days, DAYS) for row in rows]
