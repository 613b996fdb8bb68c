"""`manage.py reread_reports --failed`: reads stored reports again, here and now, and says how far it is."""

import sys
import time
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError
from django.db.models import Q, QuerySet
from django.utils.dateparse import parse_date, parse_datetime
from django.utils.timezone import is_naive, make_aware

from stackviz.intake.ingest.interpret import interpret_all
from stackviz.intake.ingest.reading import INTERPRETER
from stackviz.intake.ingest.reread import failed_counts, failed_of_kinds, kind_of, put_back, without_body
from stackviz.records.labs.models import Report

BATCH = 100  # put back at a time: what an interrupted run leaves waiting, a worker reads within a minute
PROGRESS_EVERY_S = 2.0


class Command(BaseCommand):
    help = "Read stored reports again. Until a report is done, pages show its previous content."

    def add_arguments(self, parser: ArgumentParser) -> None:
        which = parser.add_mutually_exclusive_group(required=True)
        which.add_argument("--all", action="store_true", help="every report")
        which.add_argument("--failed", action="store_true", help="reports that could not be read")
        which.add_argument("--outdated", action="store_true", help=f"reports read before interpreter {INTERPRETER}")
        which.add_argument("--id", action="append", type=UUID, metavar="UUID", help="this report; may be repeated")
        parser.add_argument(
            "--kind",
            action="append",
            metavar="ERROR",
            help='with --failed: only those whose error begins like this; "internal error"; may be repeated',
        )
        parser.add_argument("--dry-run", action="store_true", help="with --failed: say how many of which kind, no more")
        parser.add_argument("--since", type=_moment, metavar="DATE", help="only those received on or after 2026-11-20")

    def handle(self, *_args: Any, **options: Any) -> None:  # noqa: ANN401 (Django's signature)
        if (options["kind"] or options["dry_run"]) and not options["failed"]:
            raise CommandError("--kind and --dry-run need --failed")
        if options["dry_run"]:
            self._list_kinds(options["kind"] or ())
            return
        ids = list(_chosen(options).order_by("received_at", "pk").values_list("pk", flat=True))
        unknown = set(options["id"] or ()) - set(ids)
        if unknown:
            raise CommandError(f"no such report: {', '.join(sorted(map(str, unknown)))}")
        if dropped := without_body(options["id"] or ()):
            raise CommandError(f"the raw report is no longer stored (RAW_REPORT_DAYS): {', '.join(map(str, dropped))}")
        self._tell(len(ids), self._read(ids))

    def _tell(self, chosen: int, outcome: Counter[str]) -> None:
        read, failed = outcome[Report.Status.READ], outcome[Report.Status.FAILED]
        self.stdout.write(f"{read} of {chosen} reports read, {failed} failed")
        if skipped := chosen - outcome.total():
            self.stdout.write(f"{skipped} left as they are: the raw report is no longer stored (RAW_REPORT_DAYS)")
        if waiting := outcome[Report.Status.RECEIVED]:
            self.stdout.write(f"{waiting} put off: the site had a fault, they are read once it is over")
        if failed:
            self.stdout.write("each receipt and the admin show the reason")

    def _list_kinds(self, beginnings: Iterable[str]) -> None:
        counts = failed_counts(_kinds(beginnings))
        for kind, count in counts.items():
            self.stdout.write(f"{count:>7}  {kind}")
        self.stdout.write(f"{sum(counts.values())} failed reports could be read again")

    def _read(self, ids: list[UUID]) -> Counter[str]:
        outcome: Counter[str] = Counter()
        shown_at = time.monotonic()
        for start in range(0, len(ids), BATCH):
            outcome.update(interpret_all(put_back(ids[start : start + BATCH])))
            if time.monotonic() - shown_at >= PROGRESS_EVERY_S:
                shown_at = time.monotonic()
                self.stderr.write(f"{outcome.total()} of {len(ids)}", ending="\r" if sys.stderr.isatty() else "\n")
        return outcome


def _chosen(options: dict[str, Any]) -> QuerySet[Report]:
    chosen = Report.objects.all()
    if options["failed"]:
        chosen = chosen.filter(status=Report.Status.FAILED)
    if options["kind"]:
        chosen = chosen.filter(pk__in=failed_of_kinds(_kinds(options["kind"])))
    if options["outdated"]:
        chosen = chosen.filter(Q(interpreter__isnull=True) | Q(interpreter__lt=INTERPRETER))
    if options["id"]:
        chosen = chosen.filter(pk__in=options["id"])
    if options["since"]:
        chosen = chosen.filter(received_at__gte=options["since"])
    return chosen


def _kinds(beginnings: Iterable[str]) -> list[str]:
    """The kinds of errors of failed reports that begin like this. Raises CommandError where none does."""
    starts = tuple(map(kind_of, beginnings))
    kinds = [kind for kind in failed_counts() if kind.startswith(starts or "")]
    if starts and not kinds:
        raise CommandError("no failed report has such an error; --failed --dry-run lists the kinds")
    return kinds


def _moment(text: str) -> datetime:
    """A date or a time of UTC. Raises ValueError, which argparse turns into a message."""
    moment = parse_datetime(text)
    if moment is None:
        day = parse_date(text)
        if day is None:
            raise ValueError(text)
        moment = datetime(day.year, day.month, day.day)  # noqa: DTZ001 (made aware in the next line)
    return make_aware(moment) if is_naive(moment) else moment
