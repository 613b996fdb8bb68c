"""`/freshness/`: when each table was last checked against what, what feeds and links answered, and what waits."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from stackviz.desk.freshness.feeds import Feed, feeds
from stackviz.desk.freshness.models import FeedCheck, LinkCheck, ProposedChange
from stackviz.desk.freshness.rounds import is_behind_its_sources, round_standings
from stackviz.records.stacks.queries import names_of_components
from stackviz.records.stacks.rule_tables import rule_tables
from stackviz.records.stacks.table_checks import checked_tables
from stackviz.report.rules import Tables
from stackviz.report.rules.compatibility import Release
from stackviz.report.rules.versions import numbers

MOST_FAILING = 100


@dataclass(frozen=True, slots=True)
class WatchedFeed:
    """A feed with its last check; None if it was never asked. `component`: the name of what it speaks about."""

    feed: Feed
    component: str
    check: FeedCheck | None


def watched_feeds() -> list[WatchedFeed]:
    """All feeds, in the order of the file. One query."""
    checks = {check.feed: check for check in FeedCheck.objects.all()}
    names = names_of_components()
    return [WatchedFeed(feed, names.get(feed.component, feed.component), checks.get(feed.key)) for feed in feeds()]


def newest_seen(tables: Tables, component: str, day: datetime) -> Release | None:
    """The newest release of a component that is in the tables and not still to come; None if there is none.

    One whose day was not read counts: it was seen.
    """
    seen = [
        row
        for row in tables.releases
        if row.component == component and (not row.released or row.released <= f"{day:%Y-%m-%d}")
    ]
    return max(seen, key=lambda row: (numbers(row.version), row.variant), default=None)


def newest_in(table: str) -> str:
    """The version of the newest release in a table of releases of one component; "" for any other table."""
    _releases, _slash, component = table.partition("/")
    seen = newest_seen(rule_tables(), component, timezone.now()) if component else None
    return seen.version if seen else ""


def link_counts() -> Mapping[str, int]:
    """Outcome -> how many links, for those there are. One query."""
    rows = LinkCheck.objects.order_by().values_list("outcome").annotate(Count("pk"))
    return dict(rows)


def failing_links() -> list[LinkCheck]:
    """The links that fail, the oldest failure first; at most MOST_FAILING. One query."""
    rows = LinkCheck.objects.filter(failing_since__isnull=False).order_by("failing_since", "url")
    return list(rows[:MOST_FAILING])


def waiting_changes() -> int:
    """How many proposed changes wait for a person. One query."""
    return ProposedChange.objects.filter(state=ProposedChange.State.WAITING).count()


@require_safe
def freshness(request: HttpRequest) -> HttpResponse:
    """Five queries."""
    today = timezone.now().date()
    stale = {
        table.table: table.is_stale(today) or is_behind_its_sources(table.table, today)
        for table in checked_tables().values()
    }
    listed = sorted(checked_tables().values(), key=lambda table: (not stale[table.table], table.checked_on))
    tables = [(table, stale[table.table], newest_in(table.table)) for table in listed]
    rounds = [(standing, standing.is_behind(today)) for standing in round_standings()]
    watched = watched_feeds()
    checks = [row.check for row in watched if row.check]
    counts = link_counts()
    return render(
        request,
        "freshness/freshness.html",
        {
            "tables": tables,
            "stale": sum(stale.values()),
            "rounds": rounds,
            "feeds": watched,
            "is_watching": settings.WATCH,
            "is_offline": bool(checks) and all(check.outcome == FeedCheck.Outcome.OFFLINE for check in checks),
            "answered": max((check.answered_at for check in checks if check.answered_at), default=None),
            "links": [(label, counts[outcome]) for outcome, label in LinkCheck.Outcome.choices if outcome in counts],
            "failing": failing_links(),
            "waiting": waiting_changes(),
        },
    )
