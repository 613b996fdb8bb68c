"""Withdraw a machine or a lab: all that was reported goes. How many rows that were stays in the audit log."""

from django.db import transaction
from django.utils.translation import gettext as _

from stackviz.records.audit.record import record
from stackviz.records.labs.models import Lab, Machine
from stackviz.records.labs.queries import Visitor, is_staff_who_may, owns_lab
from stackviz.records.labs.readonly_admin import cascade_counts


def may_withdraw(user: Visitor, lab: Lab) -> bool:
    """Whether this person may withdraw the lab and its machines: owners, and staff who may delete labs. One query."""
    return is_staff_who_may(user, "labs.delete_lab") or owns_lab(user, lab)


def what_goes(row: Machine | Lab) -> dict[str, str]:
    """Plural name -> how many rows go with it, in words. One query for each table."""
    return cascade_counts(type(row), [row.pk])


@transaction.atomic
def withdraw_machine(machine: Machine, by: Visitor | None = None) -> dict[str, int]:
    """Delete the machine, those merged into it, and all that they reported -> table -> rows."""
    subject = f"machine {machine.pk} of lab {machine.lab_id}"
    return _withdraw(Machine.objects.select_for_update(of=("self",)).get(pk=machine.pk), "machine", subject, by)


@transaction.atomic
def withdraw_lab(lab: Lab, by: Visitor | None = None) -> dict[str, int]:
    """Delete the lab, its machines, keys and members' places in it -> table -> rows. Accounts stay."""
    return _withdraw(Lab.objects.select_for_update().get(pk=lab.pk), "lab", f"lab {lab.pk}", by)


def _withdraw(row: Machine | Lab, name: str, subject: str, by: Visitor | None) -> dict[str, int]:
    _total, gone = row.delete()
    record(f"{name}.withdrawn", subject, by, rows=gone)
    return gone


def confirmation_problem(typed: str, wanted: str) -> str:
    """What is wrong with what a person typed to confirm; "" where it is right."""
    return "" if typed.strip() == wanted else _("Type “%(slug)s” to confirm.") % {"slug": wanted}
