"""Writes what reports say: claims, snapshots, cards, findings, series, results. One transaction for all of them.

The worker that changes the status of a row from `received` does the work for it: another one waits, and then finds
nothing to change. Rows are locked in the order of this file, in each table by key: no two workers wait in a circle.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection, transaction
from django.utils import timezone

from stackviz.benchmarks.decide import decided_standings
from stackviz.benchmarks.models import Result
from stackviz.benchmarks.rollup import refresh
from stackviz.benchmarks.standing import Standing
from stackviz.ingest.bulk_insert import execute, execute_each, insert_numbered, insert_rows, json_text, select
from stackviz.ingest.reading import INTERPRETER, ReadReport, ReadResult
from stackviz.ingest.series_of import series_of, setting_of
from stackviz.labs.models import Card, Finding, Snapshot
from stackviz.wire import Absent


class Waiting(NamedTuple):
    """A report that is to be read; the columns the reader needs."""

    pk: UUID
    machine_id: int
    status: str
    received_at: datetime
    rung_at: datetime | None
    interpreter: int | None
    body: bytes
    encoding: str


class _Stored(NamedTuple):
    """A claimed report, what it says, and the key of its snapshot."""

    report: Waiting
    reading: ReadReport
    snapshot_id: int


def store_reports(readings: Sequence[tuple[Waiting, ReadReport]]) -> None:
    """Store these reports, except those another worker has stored, or that were put back, since they were looked at."""
    with transaction.atomic():
        claimed = _claim([report for report, _reading in readings])
        ours = [(report, reading) for report, reading in readings if report.pk in claimed]
        if not ours:
            return
        _mark(ours)
        stored = [_Stored(*each, snapshot) for each, snapshot in zip(ours, _put_snapshots(ours), strict=True)]
        _put_cards(stored)
        _put_findings(stored)
        _put_results(stored)
        _point_at(stored)


_LOCK = "SELECT id, COALESCE(interpreter, 0) FROM labs_report WHERE status = 'received' AND id {among} ORDER BY id"
_LOCK_ON_POSTGRES = _LOCK.format(among="= ANY(%s)") + " FOR UPDATE"
_LOCK_ON_SQLITE = _LOCK.format(among="IN (SELECT value FROM json_each(%s))")  # the transaction has the lock already


def _claim(reports: Sequence[Waiting]) -> set[UUID]:
    """Those that wait as they were found: not read by another worker since, nor put back to be read again."""
    if connection.vendor == "postgresql":
        rows = select(_LOCK_ON_POSTGRES, [report.pk for report in reports])
    else:
        rows = select(_LOCK_ON_SQLITE, json_text([report.pk.hex for report in reports]))
    interpreters = {pk if isinstance(pk, UUID) else UUID(pk): interpreter for pk, interpreter in rows}
    return {report.pk for report in reports if interpreters.get(report.pk) == (report.interpreter or 0)}


_MARK = """
    UPDATE labs_report
    SET status = 'read', read_at = %s, interpreter = %s, error = '', warnings = %s, unknown_fields = %s
    WHERE id = %s"""
_MARK_ALL = """
    UPDATE labs_report
    SET status = 'read', read_at = %s, interpreter = %s, error = '',
        warnings = new.warnings::jsonb, unknown_fields = new.unknown_fields::jsonb
    FROM unnest(%s::text[], %s::text[], %s::uuid[]) AS new (warnings, unknown_fields, id)
    WHERE labs_report.id = new.id"""


def _mark(claimed: Sequence[tuple[Waiting, ReadReport]]) -> None:
    """As read. The mark is seen when all the rest is, at commit."""
    now = timezone.now()
    rows = [
        (json_text(list(reading.warnings)), json_text(list(reading.report.unknown_fields)), report.pk)
        for report, reading in claimed
    ]
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(_MARK_ALL, [now, INTERPRETER, *(list(column) for column in zip(*rows, strict=True))])
    else:
        execute_each(_MARK, [(now, INTERPRETER, *row) for row in rows])


_SNAPSHOT_FIELDS = ("report", "machine", "taken_at", "agent", "facts", "absent", "software", "probes")


def _put_snapshots(claimed: Sequence[tuple[Waiting, ReadReport]]) -> list[int]:
    """Key of the snapshot of each report, new or brought up to date."""
    fresh = [pair for pair in claimed if pair[0].interpreter is None]
    keys = iter(insert_numbered(Snapshot, _SNAPSHOT_FIELDS, [_snapshot_row(*pair) for pair in fresh]))
    return [next(keys) if pair[0].interpreter is None else _renew_snapshot(*pair) for pair in claimed]


def _renew_snapshot(report: Waiting, reading: ReadReport) -> int:
    """Of an earlier reading only the snapshot's row is left, so that the machine goes on pointing at it."""
    snapshot = Snapshot.objects.get(report_id=report.pk)
    values = _snapshot_row(report, reading)
    Snapshot.objects.filter(pk=snapshot.pk).update(**dict(zip(_SNAPSHOT_FIELDS[2:], values[2:], strict=True)))
    snapshot.cards.all().delete()
    snapshot.findings.all().delete()
    return snapshot.pk


def _snapshot_row(report: Waiting, reading: ReadReport) -> tuple[Any, ...]:
    sent = reading.report
    return (
        report.pk,
        report.machine_id,
        reading.taken_at,
        f"{sent.agent.name} {sent.agent.version}",
        sent.facts,
        _reasons(sent.absent),
        [{"component": s.component, "version": s.version, "found_by": s.found_by} for s in sent.software],
        [{"probe": p.probe, "state": p.state, "duration_s": p.duration_s, "detail": p.detail} for p in sent.probes],
    )


def _reasons(absent: Mapping[str, Absent]) -> dict[str, dict[str, str | None]]:
    return {name: {"reason": why.reason, "detail": why.detail} for name, why in absent.items()}


_CARD_FIELDS = (
    "snapshot", "index", "kind", "vendor", "reported_name", "accelerator", "match_how", "memory_bytes", "uuid_hash",
    "facts", "absent",
)  # fmt: skip


def _put_cards(stored: Sequence[_Stored]) -> None:
    insert_rows(
        Card,
        _CARD_FIELDS,
        (
            (
                each.snapshot_id, card.index, card.kind, card.vendor, card.reported_name,
                match.accelerator.pk if match.accelerator else None, match.how, card.memory_bytes,
                card.uuid_hash or "", card.facts, _reasons(card.absent),
            )
            for each in stored
            for card, match in zip(each.reading.report.cards, each.reading.matches, strict=True)
        ),
    )  # fmt: skip


_FINDING_FIELDS = (
    "snapshot", "rule", "severity", "component", "title", "evidence", "explanation", "advice", "source_title",
    "source_url",
)  # fmt: skip


def _put_findings(stored: Sequence[_Stored]) -> None:
    insert_rows(
        Finding,
        _FINDING_FIELDS,
        (
            (
                each.snapshot_id, finding.rule, str(finding.severity), finding.component, finding.title,
                dict(finding.evidence), finding.explanation, finding.advice, finding.source_title, finding.source_url,
            )
            for each in stored
            for finding in each.reading.findings
        ),
    )  # fmt: skip


_RESULT_FIELDS = (
    "series", "report", "position", "measured_at", "state", "reason", "unit", "median", "q1", "q3", "low", "high",
    "sample_count", "samples", "duration_s", "conditions", "flags", "standing",
)  # fmt: skip


def _put_results(stored: Sequence[_Stored]) -> None:
    series = series_of((each.report.machine_id, each.reading.results) for each in stored)
    added = Counter(
        series[each.report.machine_id, setting_of(result)] for each in stored for result in each.reading.results
    )
    reread = [each.report.pk for each in stored if each.report.interpreter is not None]
    decided = {report: decided_standings(report) for report in reread}
    if reread:
        earlier = Result.objects.filter(report__in=reread)
        added.subtract(earlier.values_list("series_id", flat=True))
        earlier.delete()
    insert_rows(
        Result,
        _RESULT_FIELDS,
        (
            (
                series[each.report.machine_id, setting_of(result)],
                each.report.pk,
                position,
                *_figures(result),
                decided.get(each.report.pk, {}).get(position) or (Standing.FLAGGED if result.flags else None),
            )
            for each in stored
            for position, result in enumerate(each.reading.results)
        ),
    )
    refresh((), added)


def _figures(result: ReadResult) -> tuple[Any, ...]:
    sent, summary = result.reported, result.summary
    figures = (summary.median, summary.q1, summary.q3, summary.low, summary.high) if summary else (None,) * 5
    return (
        result.measured_at, sent.state, sent.reason or "", sent.unit, *figures, len(sent.samples), sent.samples,
        sent.duration_s, sent.conditions, " ".join(result.flags) or None,
    )  # fmt: skip


_POINT_AT = """
    UPDATE labs_machine SET latest_snapshot_id = %(snapshot)s, latest_taken_at = %(taken_at)s
    WHERE id = %(machine)s AND (latest_taken_at IS NULL OR latest_taken_at <= %(taken_at)s)"""


def _point_at(stored: Sequence[_Stored]) -> None:
    """Make these their machines' newest snapshots, unless they have newer ones: decided by the database."""
    newest: dict[int, _Stored] = {}
    for each in stored:
        known = newest.get(each.report.machine_id)
        if known is None or known.reading.taken_at <= each.reading.taken_at:
            newest[each.report.machine_id] = each
    for machine, each in sorted(newest.items()):
        values = {"snapshot": each.snapshot_id, "taken_at": each.reading.taken_at, "machine": machine}
        execute(_POINT_AT, values)
