"""What the watcher knows, for pages: feeds, links, and how much waits for a person."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Count

from stackviz.desk.freshness.feeds import Feed, feeds
from stackviz.desk.freshness.models import FeedCheck, LinkCheck, ProposedChange
from stackviz.records.stacks.component_names import names_of_components

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
