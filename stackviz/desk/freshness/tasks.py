"""The watcher as background tasks. Each run is short; what is left is due in the next."""

from celery import shared_task
from django.conf import settings
from django.utils import timezone

from stackviz.desk.freshness.check_feeds import check_feed, due_feeds
from stackviz.desk.freshness.check_links import check_addresses

FEEDS_A_RUN = 3
LINKS_A_RUN = 3  # robots.txt and the page, each at most fetch.WITHIN_S: well below the limit of a task


@shared_task(ignore_result=True, time_limit=300)
def check_due_feeds() -> str:
    """Ask the feeds that are due, a few at a time. Returns the outcome as text."""
    if not settings.WATCH:
        return "off"
    checks = [check_feed(feed) for feed in due_feeds(timezone.now())[:FEEDS_A_RUN]]
    return ", ".join(f"{check.feed}: {check.outcome}" for check in checks) or "nothing due"


@shared_task(ignore_result=True, time_limit=300)
def check_due_links() -> str:
    """Ask a few addresses of sources, each of another host. Returns the outcome as text."""
    if not settings.WATCH:
        return "off"
    return f"{len(check_addresses(LINKS_A_RUN))} links"
