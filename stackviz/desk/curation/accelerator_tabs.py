"""The tabs of an accelerator in the admin: its form, values, names, machines, proposals and history, with counts."""

from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db.models import Count, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce
from django.urls import reverse
from django.utils.translation import gettext as _

from stackviz.records.catalog.models import Accelerator, Alias, Proposal, SpecValue

CHOSEN = "accelerator__id__exact"


@dataclass(frozen=True, slots=True)
class Tab:
    """`count`: "" where nothing is counted."""

    name: str
    title: str
    count: str
    url: str
    is_current: bool


@dataclass(frozen=True, slots=True)
class AcceleratorTabs:
    name: str
    url: str
    tabs: tuple[Tab, ...]


def accelerator_tabs(user: User, pk: int, current: str) -> AcceleratorTabs | None:
    """None for an accelerator that is not there. One query."""
    row = (
        Accelerator.objects.filter(pk=pk)
        .annotate(values=_number(SpecValue), names=_number(Alias), open=_number(Proposal, Q(state__in=Proposal.OPEN)))
        .first()
    )
    if row is None:
        return None
    query = f"?{CHOSEN}={pk}"
    values, names = reverse("admin:catalog_specvalue_changelist"), reverse("admin:catalog_alias_changelist")
    pages = {
        name: reverse(f"admin:catalog_accelerator_{name}", args=[pk]) for name in ("change", "machines", "history")
    }
    proposals = f"{reverse('admin:catalog_proposal_changelist')}{query}&state=all"
    offered = (
        ("sheet", _("Sheet"), "", pages["change"], "catalog.view_accelerator"),
        ("values", _("Values"), row.values, values + query, "catalog.view_specvalue"),
        ("names", _("Names"), row.names, names + query, "catalog.view_alias"),
        ("machines", _("Machines"), "", pages["machines"], "labs.view_machine"),
        ("proposals", _("Proposals"), row.open, proposals, "catalog.view_proposal"),
        ("history", _("History"), "", pages["history"], "catalog.view_accelerator"),
    )
    tabs = tuple(
        Tab(name, title, str(count), url, name == current)
        for name, title, count, url, permission in offered
        if user.has_perm(permission)
    )
    return AcceleratorTabs(row.name, reverse("accelerators:sheet", args=[row.slug]), tabs)


def _number(model: type[SpecValue] | type[Alias] | type[Proposal], condition: Q | None = None) -> Coalesce:
    rows = model.objects.filter(condition or Q(), accelerator=OuterRef("pk")).order_by().values("accelerator")
    return Coalesce(Subquery(rows.annotate(n=Count("pk")).values("n")), 0)
