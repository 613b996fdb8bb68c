"""Write the events of reports that were read, and of machines that fell silent. No event twice, none lost.

Reading a report leaves a `PendingReport` in its transaction; the row goes in the one that writes the report's events. A
worker that dies in between leaves it for the next turn, and what two workers find at once is one row by its key.
"""

import logging
import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import islice
from uuid import UUID

from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Exists, F, OuterRef
from django.utils import timezone

from stackviz.base.stats.changes import MIN_RESULTS
from stackviz.intake.notices.models import LabEvent, PendingReport
from stackviz.records.labs.delete_reports import standing_snapshots
from stackviz.records.labs.heartbeats import GRACE, SHORTEST_S, TURNS_MISSED, sign_of_life
from stackviz.records.labs.models import AgentHeartbeat, Finding, Machine, Snapshot
from stackviz.records.labs.move_lock import wait_for_moves
from stackviz.records.labs.wording import wording_of
from stackviz.records.series.history import new_changes
from stackviz.records.series.models import Result, Series

# Only these are events: a note asks nobody to act.
_RANK: Mapping[str, int] = {Finding.Severity.WARNING: 1, Finding.Severity.BROKEN: 2}

Subject = tuple[str, str]  # rule, component


def new_findings(before: Iterable[Finding], after: Iterable[Finding]) -> list[Finding]:
    """Broken things and warnings that the report before had not, or had less severe; in the order of `after`.

    Of one rule and component they are distinguished by how many there are: titles name versions, which change.
    """
    earlier, new = _by_subject(before), set[int]()
    for subject, findings in _by_subject(after).items():
        known = earlier.get(subject, ())
        titles = {finding.title for finding in known}
        ranks = sorted((_RANK[finding.severity] for finding in known), reverse=True)
        unknown_last = sorted(findings, key=lambda finding: (-_RANK[finding.severity], finding.title not in titles))
        for index, finding in enumerate(unknown_last):
            if index >= len(ranks) or _RANK[finding.severity] > ranks[index]:
                new.add(id(finding))
    return [finding for finding in after if id(finding) in new]


def _by_subject(findings: Iterable[Finding]) -> dict[Subject, Sequence[Finding]]:
    by_subject: dict[Subject, list[Finding]] = defaultdict(list)
    for finding in findings:
        if finding.severity in _RANK:
            by_subject[finding.rule, finding.component].append(finding)
    return dict(by_subject)


MAX_TRIES = 5
REPORTS_TOGETHER = 50  # of one machine
SERIES_A_REPORT = 300  # the most that a machine's page shows; anyone may send new parameters
SILENCE_IS_NEWS_FOR = timedelta(days=7)  # no event of machines that are silent since long before this site looked
BEATS_TOGETHER = 500

log = logging.getLogger(__name__)


def note_pending(within_s: float) -> int:
    """Write the events of pending reports, machine by machine -> how many reports are done.

    Begins none after `within_s`; the others wait for the next turn, as do those of machines that failed in this one.
    """
    deadline = time.monotonic() + within_s
    failed: set[int] = set()
    done = 0
    while time.monotonic() < deadline:
        waiting = PendingReport.objects.exclude(report__machine__in=failed)
        machine_id = waiting.order_by("tries", "pk").values_list("report__machine", flat=True).first()
        if machine_id is None:
            break
        try:
            done += _note_reports_of(Machine.objects.get(pk=machine_id))
        except (OperationalError, InterfaceError):
            raise
        except Exception:
            log.exception("events of machine %s not written; next attempt in the next turn", machine_id)
            failed.add(machine_id)
            _count_try(machine_id)
    return done


def _count_try(machine_id: int) -> None:
    """Reports that failed MAX_TRIES times are given up: they may not keep this from the others for ever."""
    pending = PendingReport.objects.filter(report__machine=machine_id)
    pending.update(tries=F("tries") + 1)
    given_up, _by_model = pending.filter(tries__gte=MAX_TRIES).delete()
    if given_up:
        log.error("events of %s reports of machine %s given up after %s attempts", given_up, machine_id, MAX_TRIES)


def _note_reports_of(machine: Machine) -> int:
    """Write the events of its oldest pending reports and take these off the list, in one transaction.

    Events are worked out before: that takes seconds where many series are long, and locks nothing.
    """
    snapshots = Snapshot.objects.filter(report__pending__isnull=False, report__machine=machine)
    pending = list(snapshots.order_by("taken_at", "pk")[:REPORTS_TOGETHER])
    reports = [snapshot.report_id for snapshot in pending]
    if not reports:  # read again at this moment, or deleted: the row goes with its report
        PendingReport.objects.filter(report__machine=machine, report__snapshot__isnull=True).delete()
        return 0
    events = [*_finding_events(machine, pending), *_change_events(machine, reports)]
    with transaction.atomic():
        wait_for_moves()
        Machine.objects.select_for_update(of=("self",), no_key=True).get(pk=machine.pk)
        still = PendingReport.objects.filter(report__in=reports, report__machine=machine)
        is_withdrawn = dict(still.values_list("report", "report__withdrawal"))
        if len(is_withdrawn) < len(reports):  # another worker was faster, or some were moved or deleted
            return 0
        standing = [event for event in events if event.report_id is None or is_withdrawn.get(event.report_id) is None]
        LabEvent.objects.bulk_create(standing, ignore_conflicts=True, batch_size=500)
        still.delete()
    return len(reports)


def _finding_events(machine: Machine, pending: Sequence[Snapshot]) -> Iterator[LabEvent]:
    """What each of these reports, oldest first, found that the one before it did not. Two queries.

    A report that is older than one whose events are written came late: what it found is no news.
    """
    known = standing_snapshots(machine).filter(report__pending__isnull=True).first()
    line = [snapshot for snapshot in pending if known is None or _age(snapshot) > _age(known)]
    findings: dict[int, list[Finding]] = {}
    for finding in Finding.objects.filter(snapshot__in=[*line, *([known] if known else [])]).order_by("pk"):
        findings.setdefault(finding.snapshot_id, []).append(finding)
    before = findings.get(known.pk, []) if known else []
    for snapshot in line:
        after = findings.get(snapshot.pk, [])
        for number, finding in enumerate(new_findings(before, after)):
            yield LabEvent(
                lab_id=machine.lab_id,
                machine=machine,
                report_id=snapshot.report_id,
                kind=LabEvent.Kind.FINDING,
                key=f"{snapshot.report_id} {number}",
                happened_at=snapshot.taken_at,
                details={
                    "rule": finding.rule,
                    "severity": finding.severity,
                    "component": finding.component,
                    "title": str(finding.title),
                    "wording": wording_of(finding.title),
                },
            )
        before = after


def _age(snapshot: Snapshot) -> tuple[datetime, int]:
    return snapshot.taken_at, snapshot.pk


def _change_events(machine: Machine, reports: Collection[UUID]) -> Iterator[LabEvent]:
    """The change points that show since these reports. Two queries, and one for each of their series."""
    measured = Result.objects.filter(report__in=reports).order_by().values("series")
    long_enough = Series.objects.filter(machine=machine, result_count__gte=MIN_RESULTS, pk__in=measured)
    series = list(long_enough.order_by("-latest_at", "pk")[:SERIES_A_REPORT])
    noted: dict[int, dict[UUID, float]] = {}
    changes = LabEvent.objects.filter(series__in=series, kind=LabEvent.Kind.CHANGE_POINT)
    for series_id, report_id, factor in changes.values_list("series", "report", "details__factor"):
        noted.setdefault(series_id, {})[report_id] = factor
    for each in series:
        for change in new_changes(each, reports, noted.get(each.pk, {})):
            yield LabEvent(
                lab_id=machine.lab_id,
                machine=machine,
                report_id=change.point.report_id,
                series=each,
                kind=LabEvent.Kind.CHANGE_POINT,
                key=f"{each.pk} {change.point.report_id}",
                happened_at=change.point.measured_at,
                details={
                    "benchmark": each.benchmark,
                    "version": each.version,
                    "device": each.device,
                    "params": each.params,
                    "factor": change.factor,
                },
            )


def note_silence(now: datetime | None = None) -> int:
    """Write an event for each machine that fell silent -> how many. Once for each silence.

    Two queries, and one more for every BEATS_TOGETHER of them.
    """
    now = now or timezone.now()
    least_silence = GRACE + TURNS_MISSED * timedelta(seconds=SHORTEST_S)
    noted = LabEvent.objects.filter(
        machine=OuterRef("machine"), kind=LabEvent.Kind.SILENCE, happened_at__gt=OuterRef("heard_at")
    )
    beats = AgentHeartbeat.objects.filter(
        ~Exists(noted), machine__merged_into__isnull=True, heard_at__lte=now - least_silence
    )
    silences = _silences(beats.select_related("machine").iterator(chunk_size=BEATS_TOGETHER), now)
    count = 0
    while events := list(islice(silences, BEATS_TOGETHER)):
        LabEvent.objects.bulk_create(events, ignore_conflicts=True)
        count += len(events)
    return count


def _silences(beats: Iterator[AgentHeartbeat], now: datetime) -> Iterator[LabEvent]:
    for beat in beats:
        since = sign_of_life(beat, now).silent_since
        if since is not None and since > now - SILENCE_IS_NEWS_FOR:
            yield LabEvent(
                lab_id=beat.machine.lab_id,
                machine=beat.machine,
                kind=LabEvent.Kind.SILENCE,
                key=beat.heard_at.isoformat(),
                happened_at=since,
                details={"heard_at": beat.heard_at.isoformat(), "every_s": beat.every_s},
            )
