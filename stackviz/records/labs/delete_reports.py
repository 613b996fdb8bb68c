"""Delete reports with everything read from them, for uploads sent by mistake."""

from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet

from stackviz.records.audit.record import record
from stackviz.records.labs.models import Machine, Report
from stackviz.records.labs.newest import point_at_newest
from stackviz.records.labs.signals import reports_leave

NAMED = 100  # reports of one deletion that the audit log names


@transaction.atomic
def forget_reports(reports: QuerySet[Report]) -> int:
    """Delete these reports. Returns their number; affected machines show their newest remaining report."""
    locked = Report.objects.filter(pk__in=list(reports.values_list("pk", flat=True))).select_for_update()
    leaving = list(locked.order_by("pk").values_list("pk", "machine_id"))
    ids, of_machines = [pk for pk, _machine in leaving], {machine for _pk, machine in leaving}
    all_machines = set(of_machines)
    # Reports, series, machines: in this order they are locked while reports are stored, too (`ingest/store.py`).
    afterwards: list[Any] = [done for _receiver, done in reports_leave.send(Report, report_ids=ids)]
    affected = Machine.objects.filter(latest_snapshot__report__in=ids).order_by("pk")
    machines = [machine.pk for machine in affected.select_for_update(of=("self",))]
    Report.objects.filter(pk__in=ids).delete()
    for done in afterwards:
        done()
    point_at_newest(machines)
    of_machines.difference_update(machines)
    record(
        "report.deleted", f"{len(ids)} reports", reports=[str(pk) for pk in ids[:NAMED]], machines=sorted(all_machines)
    )
    Machine.objects.filter(pk__in=of_machines).update(times_read=F("times_read") + 1)
    return len(ids)
