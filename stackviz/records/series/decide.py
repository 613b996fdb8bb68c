"""What people decide about results: accept, withdraw, supersede. Each decision is a row that stays."""

from collections.abc import Collection
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from stackviz.records.audit.record import record
from stackviz.records.labs.models import Report
from stackviz.records.labs.queries import Visitor
from stackviz.records.series.models import Result, ResultDecision
from stackviz.records.series.reason import checked_reason
from stackviz.records.series.rollup import refresh
from stackviz.records.series.standing import Standing


@transaction.atomic
def record_decision(
    result: Result,
    standing: Standing,
    reason: str,
    by: Visitor,
    replaced_by: Report | None = None,
) -> ResultDecision:
    """Record a decision and let it hold. Raises ValidationError naming the field.

    The row of the report is locked first, as it is while the report is read again: the decision is either carried over
    to the rows written then, or changes them. A decision that repeats the newest one is that one.
    """
    reason = checked_reason(reason)
    if replaced_by is not None and replaced_by.pk == result.report_id:
        raise ValidationError({"replaced_by": _("A report does not supersede itself.")})
    report = Report.objects.select_for_update().only("pk", "withdrawal").get(pk=result.report_id)
    if report.withdrawal is not None:
        raise ValidationError(_("The whole report is withdrawn. Restore it before deciding about its results."))
    newest = ResultDecision.objects.filter(report=result.report_id, position=result.position).order_by("pk").last()
    if newest is not None and newest.says(standing, reason, replaced_by):
        result.standing = standing
        return newest
    decided = Result.objects.filter(report_id=result.report_id, position=result.position)
    decided.update(standing=standing)
    refresh(decided.values_list("series_id", flat=True))
    result.standing = standing
    record(f"result.{standing}", f"result {result.position} of report {result.report_id}", by, reason=reason)
    return ResultDecision.objects.create(
        report_id=result.report_id,
        position=result.position,
        standing=standing,
        reason=reason,
        by_id=by.pk,
        replaced_by=replaced_by,
    )


def decided_standings(reports: Collection[UUID]) -> dict[tuple[UUID, int], str]:
    """(report, position in it) -> the standing a person decided last. One query."""
    rows = ResultDecision.objects.filter(report__in=reports).order_by("pk")
    decided = rows.values_list("report_id", "position", "standing")
    return {(report, position): standing for report, position, standing in decided}
