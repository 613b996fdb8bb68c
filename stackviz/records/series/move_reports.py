"""Carry reports, with all that was read from them, from one machine of a lab to another. One transaction each.

Series belong to a machine: results go to the series of the other machine with the same setting, which is made where it
is missing. A series that loses all its results stays, so that they find it again when a move is undone.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Count, Exists, OuterRef, QuerySet

from stackviz.records.labs.models import Machine, MachineMove, MovedReport, Report, Snapshot
from stackviz.records.series.models import ChangeDecision, Result, Series
from stackviz.records.series.rollup import refresh

Setting = tuple[str, str, int, str, int | None]
_SETTING = ("params_key", "benchmark", "version", "device", "card_index")
REPORTS_A_STATEMENT = 2_000


def note_reports(move: MachineMove, reports: QuerySet[Report]) -> None:
    """Write down and lock what is moved, in the order in which reports are locked everywhere."""
    ids = list(reports.order_by("pk").select_for_update().values_list("pk", flat=True))
    MovedReport.objects.bulk_create(
        (MovedReport(move=move, report_id=pk) for pk in ids), batch_size=REPORTS_A_STATEMENT
    )
    move.report_count = len(ids)


def carry(move: MachineMove, source: Machine, target: Machine) -> list[int]:
    """Carry the reports of this move that `source` has to `target` -> the series made for them there.

    In the caller's transaction, after `stop_readers`. Reports, series, machines: the order in which everybody locks.
    """
    reports = Report.objects.filter(pk__in=MovedReport.objects.filter(move=move).values("report"), machine=source)
    ids: list[UUID] = list(reports.order_by("pk").select_for_update().values_list("pk", flat=True))
    lost = _result_counts(move, source)
    made = _make_missing_series(lost, target)
    gained = _gains(lost, source, target)
    _repoint(Result._meta.db_table, move, source, target)  # noqa: SLF001 (Django's documented _meta API)
    _repoint(ChangeDecision._meta.db_table, move, source, target)  # noqa: SLF001
    refresh((), {**{key: -count for key, count in lost.items()}, **gained})
    for some in _batches(ids):
        Snapshot.objects.filter(report__in=some).update(machine=target)
        Report.objects.filter(pk__in=some).update(machine=target)
        # What a worker had looked at before is looked at again, at the periodic task's next turn.
        Report.objects.filter(pk__in=some, status=Report.Status.RECEIVED).update(queued_at=None)
    return made


def drop_series(series: Iterable[int]) -> None:
    """Delete those of these series that have no results and that nobody decided about."""
    has_results = Exists(Result.objects.filter(series=OuterRef("pk")))
    has_decisions = Exists(ChangeDecision.objects.filter(series=OuterRef("pk")))
    Series.objects.filter(~has_results, ~has_decisions, pk__in=list(series)).delete()


def _result_counts(move: MachineMove, source: Machine) -> Counter[int]:
    moved = MovedReport.objects.filter(move=move).values("report")
    rows = Result.objects.filter(report__in=moved, series__machine=source).order_by().values("series_id")
    return Counter(dict(rows.annotate(n=Count("pk")).values_list("series_id", "n")))


def _make_missing_series(lost: Iterable[int], target: Machine) -> list[int]:
    known = _settings(Series.objects.filter(machine=target))
    wanted = {row.pk: row for row in Series.objects.filter(pk__in=list(lost)).order_by("pk")}
    missing = [row for row in wanted.values() if _setting(row) not in known]
    made = Series.objects.bulk_create(
        Series(machine=target, params=row.params, **{name: getattr(row, name) for name in _SETTING}) for row in missing
    )
    return [row.pk for row in made]


def _gains(lost: Counter[int], source: Machine, target: Machine) -> dict[int, int]:
    """Series of the target -> how many results it gains."""
    at_target = _settings(Series.objects.filter(machine=target))
    at_source = Series.objects.filter(machine=source, pk__in=list(lost))
    return {at_target[_setting(row)]: lost[row.pk] for row in at_source}


def _settings(series: QuerySet[Series]) -> dict[Setting, int]:
    return {_setting(row): row.pk for row in series.only("pk", *_SETTING)}


def _setting(series: Series) -> Setting:
    return series.params_key, series.benchmark, series.version, series.device, series.card_index


_REPOINT = """
    UPDATE {table} SET series_id = (
        SELECT new.id FROM benchmarks_series new JOIN benchmarks_series old
            ON new.params_key = old.params_key AND new.benchmark = old.benchmark AND new.version = old.version
            AND new.device = old.device AND COALESCE(new.card_index, -1) = COALESCE(old.card_index, -1)
        WHERE new.machine_id = %(target)s AND old.id = {table}.series_id)
    WHERE report_id IN (SELECT report_id FROM labs_movedreport WHERE move_id = %(move)s)
        AND series_id IN (SELECT id FROM benchmarks_series WHERE machine_id = %(source)s)"""


def _repoint(table: str, move: MachineMove, source: Machine, target: Machine) -> None:
    """Give rows that name a series the series of the same setting on the target."""
    values: dict[str, Any] = {"target": target.pk, "source": source.pk, "move": move.pk}
    with connection.cursor() as cursor:
        cursor.execute(_REPOINT.format(table=table), values)


def _batches(ids: list[UUID]) -> Iterable[list[UUID]]:
    return (ids[start : start + REPORTS_A_STATEMENT] for start in range(0, len(ids), REPORTS_A_STATEMENT))
