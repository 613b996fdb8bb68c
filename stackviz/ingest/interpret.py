"""Turns a stored report into a snapshot, cards, findings and results, in one transaction, however often it is asked to.

The worker whose UPDATE changes the status from `received` does the work: a concurrent UPDATE waits, and then finds
nothing to change. So two workers, a repeated message or a worker that died halfway count nothing twice.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from django.db import InterfaceError, OperationalError, transaction
from django.db.models import F
from django.utils import timezone

from stackviz.benchmarks.decide import decided_standings
from stackviz.benchmarks.models import Result, Series
from stackviz.benchmarks.standing import Standing
from stackviz.ingest.bulk_insert import execute, insert_row, insert_rows, json_text, select
from stackviz.ingest.reading import INTERPRETER, ReadReport, ReadResult, read
from stackviz.labs.models import Card, Finding, Report, Snapshot
from stackviz.wire import Absent, ReportError

MAX_TRIES = 5  # after the second ring: a report whose reader was killed that often is not read a sixth time

log = logging.getLogger(__name__)


class _Waiting(NamedTuple):
    """A report that is to be read; the columns the reader needs."""

    pk: UUID
    machine_id: int
    status: str
    received_at: datetime
    rung_at: datetime | None
    interpreter: int | None
    body: bytes
    encoding: str


def interpret(report_id: str | UUID) -> str:
    """Read one report -> its status afterwards, or "gone". Safe to run any number of times, at once or in turn.

    A report that cannot be read becomes `failed`, with why; what was read from it earlier stays. Raises only when the
    database is away: then nothing has changed.
    """
    row = Report.objects.filter(pk=report_id).values_list(*_Waiting._fields).first()
    if row is None:
        return "gone"
    report = _Waiting(*row)
    if report.status != Report.Status.RECEIVED:
        return report.status
    try:
        _check_tries(report)
        return _store(report, read(bytes(report.body), report.encoding, report.received_at))
    except (OperationalError, InterfaceError):
        raise
    except ReportError as error:
        return _fail(report, str(error))
    except Exception as error:
        # Our mistake, not the sender's; the row keeps the body, so that it can be read once the mistake is mended.
        log.exception("report %s could not be read", report.pk)
        return _fail(report, f"internal error: {type(error).__name__}")


def _check_tries(report: _Waiting) -> None:
    """Give up a report that crashes its worker (memory, a crash in C): such a death leaves no other trace.

    Only reports that were rung for again are counted, so that the usual one pays no write for it.
    """
    if report.rung_at in (None, report.received_at):
        return
    Report.objects.filter(pk=report.pk).update(tries=F("tries") + 1)
    if Report.objects.filter(pk=report.pk, tries__gt=MAX_TRIES).exists():
        raise ReportError("body", f"crashed the worker {MAX_TRIES} times; giving up")


@transaction.atomic
def _store(report: _Waiting, reading: ReadReport) -> str:
    if not _claim(report, reading):
        return Report.Status.READ  # another worker was quicker
    was_read_before = report.interpreter is not None
    snapshot_id = _put_snapshot(report, reading, was_read_before=was_read_before)
    _put_cards(snapshot_id, reading)
    _put_findings(snapshot_id, reading)
    if reading.results:
        _put_results(report, reading)
    _point_at(report.machine_id, snapshot_id, reading.taken_at)
    return Report.Status.READ


# As it was found: not read by another worker since, nor put back to be read again.
_CLAIM = """
    UPDATE labs_report
    SET status = 'read', read_at = %(read_at)s, interpreter = %(interpreter)s, error = '',
        warnings = %(warnings)s, unknown_fields = %(unknown_fields)s
    WHERE id = %(id)s AND status = 'received' AND COALESCE(interpreter, 0) = %(earlier_interpreter)s"""


def _claim(report: _Waiting, reading: ReadReport) -> bool:
    """Mark the row as read, if it still waits as we found it. The mark is seen when all the rest is, at commit."""
    values = {
        "id": report.pk,
        "read_at": timezone.now(),
        "interpreter": INTERPRETER,
        "warnings": json_text(list(reading.warnings)),
        "unknown_fields": json_text(list(reading.report.unknown_fields)),
        "earlier_interpreter": report.interpreter or 0,
    }
    return execute(_CLAIM, values) == 1


def _fail(report: _Waiting, why: str) -> str:
    Report.objects.filter(pk=report.pk, status=Report.Status.RECEIVED).update(
        status=Report.Status.FAILED, read_at=timezone.now(), error=why[:1000]
    )
    return Report.Status.FAILED


# --- what is written ---


_SNAPSHOT_FIELDS = ("report", "machine", "taken_at", "agent", "facts", "absent", "software", "probes")


def _put_snapshot(report: _Waiting, reading: ReadReport, *, was_read_before: bool) -> int:
    """Pk of the report's snapshot, new or brought up to date; of an earlier reading only the row itself is left."""
    sent = reading.report
    values = (
        report.pk,
        report.machine_id,
        reading.taken_at,
        f"{sent.agent.name} {sent.agent.version}",
        sent.facts,
        _reasons(sent.absent),
        [{"component": s.component, "version": s.version, "found_by": s.found_by} for s in sent.software],
        [{"probe": p.probe, "state": p.state, "duration_s": p.duration_s, "detail": p.detail} for p in sent.probes],
    )
    if not was_read_before:
        return insert_row(Snapshot, _SNAPSHOT_FIELDS, values)
    # The row stays, so that the machine goes on pointing at it.
    snapshot = Snapshot.objects.get(report_id=report.pk)
    Snapshot.objects.filter(pk=snapshot.pk).update(**dict(zip(_SNAPSHOT_FIELDS[2:], values[2:], strict=True)))
    snapshot.cards.all().delete()
    snapshot.findings.all().delete()
    Result.objects.filter(report_id=report.pk).delete()
    return snapshot.pk


def _reasons(absent: Mapping[str, Absent]) -> dict[str, dict[str, str | None]]:
    return {name: {"reason": why.reason, "detail": why.detail} for name, why in absent.items()}


_CARD_FIELDS = (
    "snapshot", "index", "kind", "vendor", "reported_name", "accelerator", "match_how", "memory_bytes", "uuid_hash",
    "facts", "absent",
)  # fmt: skip


def _put_cards(snapshot_id: int, reading: ReadReport) -> None:
    insert_rows(
        Card,
        _CARD_FIELDS,
        [
            (
                snapshot_id, card.index, card.kind, card.vendor, card.reported_name,
                match.accelerator.pk if match.accelerator else None, match.how, card.memory_bytes,
                card.uuid_hash or "", card.facts, _reasons(card.absent),
            )
            for card, match in zip(reading.report.cards, reading.matches, strict=True)
        ],
    )  # fmt: skip


_FINDING_FIELDS = (
    "snapshot", "rule", "severity", "component", "title", "evidence", "explanation", "advice", "source_title",
    "source_url",
)  # fmt: skip


def _put_findings(snapshot_id: int, reading: ReadReport) -> None:
    insert_rows(
        Finding,
        _FINDING_FIELDS,
        [
            (
                snapshot_id, finding.rule, str(finding.severity), finding.component, finding.title,
                dict(finding.evidence), finding.explanation, finding.advice, finding.source_title, finding.source_url,
            )
            for finding in reading.findings
        ],
    )  # fmt: skip


_RESULT_FIELDS = (
    "series", "report", "position", "measured_at", "state", "reason", "unit", "median", "q1", "q3", "low", "high",
    "sample_count", "samples", "duration_s", "conditions", "flags", "standing",
)  # fmt: skip


def _put_results(report: _Waiting, reading: ReadReport) -> None:
    series = _series_of(report.machine_id, reading.results)
    decided = decided_standings(report.pk) if report.interpreter is not None else {}
    insert_rows(
        Result,
        _RESULT_FIELDS,
        [
            (
                series[_setting(result)], report.pk, position, result.measured_at, result.reported.state,
                result.reported.reason or "", result.reported.unit, *_figures(result), len(result.reported.samples),
                result.reported.samples, result.reported.duration_s, result.reported.conditions,
                " ".join(result.flags) or None,
                decided.get(position) or (Standing.FLAGGED if result.flags else None),
            )
            for position, result in enumerate(reading.results)
        ],
    )  # fmt: skip


def _figures(result: ReadResult) -> tuple[float | None, ...]:
    summary = result.summary
    if summary is None:
        return (None,) * 5
    return summary.median, summary.q1, summary.q3, summary.low, summary.high


Setting = tuple[str, str, int, str, int | None]


def _setting(result: ReadResult) -> Setting:
    """What makes a series on one machine, in the order of the unique index."""
    reported = result.reported
    return result.params_key, reported.benchmark, reported.version, reported.device, reported.card


def _series_of(machine_id: int, results: Sequence[ReadResult]) -> dict[Setting, int]:
    """Setting -> pk of its series, missing ones made. One query when the machine has run all of it before."""
    wanted = {_setting(result): result for result in results}
    known = _find_series(machine_id, wanted)
    missing = sorted((setting for setting in wanted if setting not in known), key=str)
    if missing:
        # In one order for everybody: two workers that make the same series wait for each other, and never in a circle.
        # The loser's rows are left out and found by the second look.
        Series.objects.bulk_create(
            (_new_series(machine_id, wanted[setting]) for setting in missing), ignore_conflicts=True
        )
        known = _find_series(machine_id, wanted)
    return known


_FIND_SERIES = """
    SELECT params_key, benchmark, version, device, card_index, id
    FROM benchmarks_series WHERE machine_id = %s AND params_key IN ({keys})"""


def _find_series(machine_id: int, wanted: Iterable[Setting]) -> dict[Setting, int]:
    keys = sorted({setting[0] for setting in wanted})
    sql = _FIND_SERIES.format(keys=", ".join(["%s"] * len(keys)))
    return {
        (key, name, version, device, card): pk
        for key, name, version, device, card, pk in select(sql, machine_id, *keys)
    }


def _new_series(machine_id: int, result: ReadResult) -> Series:
    reported = result.reported
    return Series(
        machine_id=machine_id,
        benchmark=reported.benchmark,
        version=reported.version,
        device=reported.device,
        card_index=reported.card,
        params=dict(reported.params),
        params_key=result.params_key,
    )


_POINT_AT = """
    UPDATE labs_machine SET latest_snapshot_id = %(snapshot)s, latest_taken_at = %(taken_at)s
    WHERE id = %(machine)s AND (latest_taken_at IS NULL OR latest_taken_at <= %(taken_at)s)"""


def _point_at(machine_id: int, snapshot_id: int, taken_at: datetime) -> None:
    """Make this the machine's newest snapshot, unless it has a newer one. Decided by the database in one statement."""
    execute(_POINT_AT, {"snapshot": snapshot_id, "taken_at": taken_at, "machine": machine_id})
