"""Delete reports with everything read from them, for uploads sent by mistake."""

from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from stackviz.labs.models import Machine, Report, Snapshot
from stackviz.labs.signals import reports_leave


@transaction.atomic
def forget_reports(reports: QuerySet[Report]) -> int:
    """Delete these reports. Returns their number; affected machines show their newest remaining report."""
    ids = list(reports.values_list("pk", flat=True))
    machines = list(Machine.objects.filter(latest_snapshot__report__in=ids).select_for_update(of=("self",)))
    afterwards: list[Any] = [done for _receiver, done in reports_leave.send(Report, report_ids=ids)]
    Report.objects.filter(pk__in=ids).delete()
    for done in afterwards:
        done()
    for machine in machines:
        newest = Snapshot.objects.filter(machine=machine).order_by("-taken_at").first()
        machine.latest_snapshot = newest
        machine.latest_taken_at = newest.taken_at if newest else None
        machine.save(update_fields=["latest_snapshot", "latest_taken_at"])
    return len(ids)
