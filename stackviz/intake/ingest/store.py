"""Writes what reports say: claims, snapshots, cards, findings, series, results. One transaction for all of them.

The worker that changes the status of a row from `received` does the work for it: another one waits, and then finds
nothing to change. Rows are locked in the order of this file, in each table by key: no two workers wait in a circle.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection, transaction
from django.utils import timezone

from stackviz.intake.ingest.reading import INTERPRETER, ReadReport, ReadResult
from stackviz.intake.notices.models import PendingReport
from stackviz.records.labs.models import WORDED, Card, Finding, Snapshot
from stackviz.records.labs.move_lock import wait_for_moves
from stackviz.records.labs.wording import Wording, wording_of
from stackviz.records.series.decide_standing import decided_standings
from stackviz.records.series.models import Result, Series
from stackviz.records.series.rollup import refresh
from stackviz.records.series.standing import Standing
from stackviz.report import rules
from stackviz.report.format import Absent
from stackviz.web.bulk_insert import execute, insert_numbered, insert_rows, json_text, select


class Waiting(NamedTuple):
    """A report that is to be read; the columns the reader needs."""

    pk: UUID
    machine_id: int
    status: str
    received_at: datetime
    queued_at: datetime | None
    interpreter: int | None
    body: bytes
    encoding: str
    withdrawal: str | None
    merged_into: int | None  # of its machine: a report that came in while its machine was merged


WAITING_COLUMNS = (*Waiting._fields[:-1], "machine__merged_into")


class _Stored(NamedTuple):
    """A claimed report, what it says, and the key of its snapshot."""

    report: Waiting
    reading: ReadReport
    snapshot_id: int


def store_reports(readings: Sequence[tuple[Waiting, ReadReport]]) -> None:
    """Store these reports, except those another worker has stored, or that were put back, since they were looked at."""
    with transaction.atomic():
        wait_for_moves()
        ours = _claim(readings)
        if not ours:
            return
        stored = [_Stored(*each, snapshot) for each, snapshot in zip(ours, _put_snapshots(ours), strict=True)]
        _put_cards(stored)
        _put_findings(stored)
        _put_results(stored)
        _point_at(stored)
        _put_pending(stored)


# Locked in the order of their ids first, then changed: an UPDATE alone locks rows in any order.
_CLAIM_ON_POSTGRES = """
    WITH waiting AS (
        SELECT labs_report.id, new.warnings, new.unknown_fields
        FROM labs_report JOIN unnest(%s::uuid[], %s::int[], %s::bigint[], %s::text[], %s::text[])
            AS new (id, interpreter, machine, warnings, unknown_fields) ON labs_report.id = new.id
        JOIN labs_machine ON labs_machine.id = labs_report.machine_id AND labs_machine.merged_into_id IS NULL
        WHERE status = 'received' AND COALESCE(labs_report.interpreter, 0) = new.interpreter
            AND labs_report.machine_id = new.machine
        ORDER BY labs_report.id FOR UPDATE OF labs_report)
    UPDATE labs_report
    SET status = 'read', read_at = %s, interpreter = %s, error = '', retry_at = NULL,
        warnings = waiting.warnings::jsonb, unknown_fields = waiting.unknown_fields::jsonb
    FROM waiting WHERE labs_report.id = waiting.id
    RETURNING labs_report.id, labs_report.withdrawal"""
# Here the transaction has locked all tables already.
_CLAIM_ON_SQLITE = """
    UPDATE labs_report
    SET status = 'read', read_at = %s, interpreter = %s, error = '', retry_at = NULL,
        warnings = json_extract(new.value, '$[3]'), unknown_fields = json_extract(new.value, '$[4]')
    FROM json_each(%s) AS new
    WHERE labs_report.id = json_extract(new.value, '$[0]') AND status = 'received'
        AND COALESCE(interpreter, 0) = json_extract(new.value, '$[1]')
        AND machine_id = json_extract(new.value, '$[2]')
        AND NOT EXISTS (SELECT 1 FROM labs_machine WHERE id = machine_id AND merged_into_id IS NOT NULL)
    RETURNING labs_report.id, labs_report.withdrawal"""


def _claim(readings: Sequence[tuple[Waiting, ReadReport]]) -> list[tuple[Waiting, ReadReport]]:
    """Mark those as read that wait as they were found: not read by another worker since, nor put back to be read again,
    nor moved to another machine.

    -> those marked, withdrawn or not as they are now. The mark is seen when all the rest is, at commit.
    """
    rows = [
        (
            report.pk, report.interpreter or 0, report.machine_id, json_text(list(reading.warnings)),
            json_text(list(reading.report.unknown_fields)),
        )
        for report, reading in readings
    ]  # fmt: skip
    if connection.vendor == "postgresql":
        columns = (list(column) for column in zip(*rows, strict=True))
        claimed = dict(select(_CLAIM_ON_POSTGRES, *columns, timezone.now(), INTERPRETER))
    else:
        texts = json_text([(pk.hex, *values) for pk, *values in rows])
        claimed = {UUID(pk): as_ for pk, as_ in select(_CLAIM_ON_SQLITE, timezone.now(), INTERPRETER, texts)}
    return [
        (report._replace(withdrawal=claimed[report.pk]), reading)
        for report, reading in readings
        if report.pk in claimed
    ]


_SNAPSHOT_FIELDS = ("report", "machine", "taken_at", "agent", "facts", "absent", "software", "probes")


def _put_snapshots(claimed: Sequence[tuple[Waiting, ReadReport]]) -> list[int]:
    """Key of the snapshot of each report, new or brought up to date."""
    fresh = [pair for pair in claimed if pair[0].interpreter is None]
    reread = [pair for pair in claimed if pair[0].interpreter is not None]
    keys = iter(insert_numbered(Snapshot, _SNAPSHOT_FIELDS, [_snapshot_row(*pair) for pair in fresh]))
    renewed = _renew_snapshots(reread) if reread else {}
    return [next(keys) if pair[0].interpreter is None else renewed[pair[0].pk] for pair in claimed]


def _renew_snapshots(reread: Sequence[tuple[Waiting, ReadReport]]) -> dict[UUID, int]:
    """Report -> key of its snapshot. Of an earlier reading only the snapshots' rows are left, so that machines go on
    pointing at them.
    """
    keys = dict(Snapshot.objects.filter(report__in=[report.pk for report, _ in reread]).values_list("report", "pk"))
    values = [dict(zip(_SNAPSHOT_FIELDS[2:], _snapshot_row(*pair)[2:], strict=True)) for pair in reread]
    renewed = [Snapshot(pk=keys[pair[0].pk], **each) for pair, each in zip(reread, values, strict=True)]
    Snapshot.objects.bulk_update(renewed, _SNAPSHOT_FIELDS[2:])
    for rows in (Card, Finding):
        rows.objects.filter(snapshot__in=keys.values()).delete()
    return keys


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
    "source_url", "wording",
)  # fmt: skip


def _put_findings(stored: Sequence[_Stored]) -> None:
    insert_rows(
        Finding,
        _FINDING_FIELDS,
        (
            (
                each.snapshot_id, finding.rule, str(finding.severity), finding.component, str(finding.title),
                dict(finding.evidence), str(finding.explanation), str(finding.advice), finding.source_title,
                finding.source_url, _wording(finding),
            )
            for each in stored
            for finding in each.reading.findings
        ),
    )  # fmt: skip


def _wording(finding: rules.Finding) -> dict[str, Wording] | None:
    wordings = {name: wording for name in WORDED if (wording := wording_of(getattr(finding, name)))}
    return wordings or None


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
    decided = decided_standings(reread) if reread else {}
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
                each.report.withdrawal
                or decided.get((each.report.pk, position))
                or (Standing.FLAGGED if result.flags else None),
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
        sent.duration_s, result.conditions, " ".join(result.flags) or None,
    )  # fmt: skip


def _set_newest(snapshot: str, taken_at: str) -> str:
    newer = f"latest_taken_at IS NULL OR latest_taken_at <= {taken_at}"
    return f"""
    UPDATE labs_machine SET times_read = times_read + 1,
        latest_snapshot_id = CASE WHEN {newer} THEN {snapshot} ELSE latest_snapshot_id END,
        latest_taken_at = CASE WHEN {newer} THEN {taken_at} ELSE latest_taken_at END"""  # noqa: S608 - texts of ours


_POINT_AT = f"{_set_newest('%(snapshot)s', '%(taken_at)s')} WHERE id = %(machine)s"
_POINT_MANY_ON_POSTGRES = f"""
    WITH new AS (
        SELECT labs_machine.id, given.snapshot, given.taken_at
        FROM labs_machine JOIN unnest(%s::bigint[], %s::bigint[], %s::timestamptz[])
            AS given (machine, snapshot, taken_at) ON labs_machine.id = given.machine
        ORDER BY labs_machine.id FOR NO KEY UPDATE OF labs_machine)
    {_set_newest("new.snapshot", "new.taken_at")}
    FROM new WHERE labs_machine.id = new.id RETURNING labs_machine.id"""  # noqa: S608 - texts of ours
_POINT_MANY_ON_SQLITE = f"""
    {_set_newest("json_extract(new.value, '$[1]')", "json_extract(new.value, '$[2]')")}
    FROM json_each(%s) AS new WHERE labs_machine.id = json_extract(new.value, '$[0]') RETURNING labs_machine.id"""


def _point_at(stored: Sequence[_Stored]) -> None:
    """Make these their machines' newest snapshots, unless they have newer ones: decided by the database.

    A withdrawn report, read again, is nobody's newest.
    """
    newest: dict[int, _Stored] = {}
    for each in stored:
        if each.report.withdrawal is not None:
            continue
        known = newest.get(each.report.machine_id)
        if known is None or known.reading.taken_at <= each.reading.taken_at:
            newest[each.report.machine_id] = each
    rows = [(machine, each.snapshot_id, each.reading.taken_at) for machine, each in sorted(newest.items())]
    if not rows:
        return
    if len(rows) == 1:
        execute(_POINT_AT, dict(zip(("machine", "snapshot", "taken_at"), rows[0], strict=True)))
    elif connection.vendor == "postgresql":
        select(_POINT_MANY_ON_POSTGRES, *(list(column) for column in zip(*rows, strict=True)))
    else:
        adapt = connection.ops.adapt_datetimefield_value
        select(_POINT_MANY_ON_SQLITE, json_text([(machine, pk, adapt(at)) for machine, pk, at in rows]))


def _put_pending(stored: Sequence[_Stored]) -> None:
    """Have the events of these reports written. One that is read again brings no news: its machine has not changed."""
    fresh = (each.report for each in stored if each.report.interpreter is None and each.report.withdrawal is None)
    insert_rows(PendingReport, ("report",), [(report.pk,) for report in fresh])


# --- series ---

Setting = tuple[str, str, int, str, int | None]


def setting_of(result: ReadResult) -> Setting:
    """What makes a series on one machine, in the order of the unique index."""
    reported = result.reported
    return result.params_key, reported.benchmark, reported.version, reported.device, reported.card


def series_of(machines: Iterable[tuple[int, Sequence[ReadResult]]]) -> dict[tuple[int, Setting], int]:
    """(machine, setting) -> key of its series. One query when the machines have run all of it before."""
    wanted = {(machine, setting_of(result)): result for machine, results in machines for result in results}
    known = _find(wanted)
    missing = sorted((key for key in wanted if key not in known), key=str)
    if missing:
        # In one order for everybody: two workers that make the same series wait for each other, and never in a circle.
        # The loser's rows are left out and found by the second look.
        new = (_new(machine, wanted[machine, setting]) for machine, setting in missing)
        Series.objects.bulk_create(new, ignore_conflicts=True)
        known = _find(wanted)
    return known


def _find(wanted: Mapping[tuple[int, Setting], ReadResult]) -> dict[tuple[int, Setting], int]:
    """Those of these series that are there, and perhaps others of the same machines."""
    machines, keys = {machine for machine, _setting in wanted}, {setting[0] for _machine, setting in wanted}
    rows = Series.objects.filter(machine__in=machines, params_key__in=keys)
    columns = ("machine_id", "pk", "params_key", "benchmark", "version", "device", "card_index")
    return {(machine, tuple(setting)): pk for machine, pk, *setting in rows.values_list(*columns)}


def _new(machine_id: int, result: ReadResult) -> Series:
    reported = result.reported
    return Series(
        machine_id=machine_id,
        benchmark=reported.benchmark,
        version=reported.version,
        device=reported.device,
        card_index=reported.card,
        params=dict(result.params),
        params_key=result.params_key,
    )
