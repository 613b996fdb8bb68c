"""Ask feeds and links now, whatever is due; prints each outcome. `--feed KEY`, `--links N` choose."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from stackviz.desk.freshness.check_feeds import check_feed
from stackviz.desk.freshness.check_links import check_addresses
from stackviz.desk.freshness.feeds import feeds
from stackviz.desk.freshness.models import ProposedChange


class Command(BaseCommand):
    help = "Ask the watched feeds, and links of sources, now. What differs is proposed; nothing changes."

    def add_arguments(self, parser: ArgumentParser) -> None:
        keys = [feed.key for feed in feeds()]
        parser.add_argument(
            "--feed",
            action="append",
            choices=keys,
            metavar="KEY",
            help=f"only this feed; may be repeated: {', '.join(keys)}",
        )
        parser.add_argument("--links", type=int, default=0, help="how many links to ask as well; 0 by default")

    def handle(self, *_arguments: Any, **options: Any) -> None:  # noqa: ANN401 - as Django's
        chosen = options["feed"]
        for feed in feeds():
            if chosen and feed.key not in chosen:
                continue
            if not feed.url:
                self.stdout.write(f"{feed.key}: off, WATCH_PACKAGE_INDEX is empty")
                continue
            check = check_feed(feed)
            self.stdout.write(f"{feed.key}: {check.outcome} {check.newest} {check.problem}".rstrip())
        for link in check_addresses(options["links"]) if options["links"] else ():
            self.stdout.write(f"{link.outcome} {link.status or ''} {link.url} {link.problem}".rstrip())
        waiting = ProposedChange.objects.filter(state=ProposedChange.State.WAITING).count()
        self.stdout.write(f"{waiting} proposed changes wait for a person")
