"""`/freshness/`: when each table was last checked against what, what feeds and links answered, and what waits."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from stackviz.desk.freshness.models import FeedCheck, LinkCheck
from stackviz.desk.freshness.queries import failing_links, link_counts, waiting_changes, watched_feeds
from stackviz.records.stacks.table_checks import checked_tables


@require_safe
def freshness(request: HttpRequest) -> HttpResponse:
    """Five queries."""
    today = timezone.now().date()
    tables = [(table, table.is_stale(today)) for table in checked_tables().values()]
    tables.sort(key=lambda row: (not row[1], row[0].checked_on))
    watched = watched_feeds()
    checks = [row.check for row in watched if row.check]
    counts = link_counts()
    return render(
        request,
        "freshness/freshness.html",
        {
            "tables": tables,
            "stale": sum(is_stale for _table, is_stale in tables),
            "feeds": watched,
            "is_watching": settings.WATCH,
            "is_offline": bool(checks) and all(check.outcome == FeedCheck.Outcome.OFFLINE for check in checks),
            "answered": max((check.answered_at for check in checks if check.answered_at), default=None),
            "links": [(label, counts[outcome]) for outcome, label in LinkCheck.Outcome.choices if outcome in counts],
            "failing": failing_links(),
            "waiting": waiting_changes(),
        },
    )
