"""A lab's machines by what they have in common: filtered, counted in groups, and all of them as a file."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.db.models.fields.json import KeyTextTransform
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from stackviz.intake.report_parts.cards import PARENT
from stackviz.pages.machines.rows import MachineRow, machine_rows, machines_found
from stackviz.records.labs.heartbeats import SignOfLife, signs_of_life, silent_machines
from stackviz.records.labs.models import Card, Finding, Lab, Machine, Snapshot
from stackviz.records.labs.queries import Visitor
from stackviz.web.http.address import text_parameter
from stackviz.web.http.download import Columns, of_part, table_file

__all__ = ["FleetQuery", "fleet_csv", "fleet_groups", "fleet_machines", "fleet_query"]

FILE_AT_MOST = 5_000
GROUPS_SHOWN = 50
# What machines are grouped by, beside their cards -> the fact that says it.
_FACTS = {
    "driver": "nvidia.driver_version",
    "torch": "torch.version",
    "python": "python.version",
    "system": "os.version",
    "cpu": "cpu.model",
}
GROUPS: Mapping[str, str | Promise] = {
    "card": _("Card"),
    "driver": _("NVIDIA driver"),
    "torch": _("PyTorch"),
    "python": _("Python"),
    "system": _("System version"),
    "cpu": _("CPU"),
}
STATES: Mapping[str, str | Promise] = {
    "broken": _("with something broken"),
    "warning": _("with warnings"),
    "silent": _("silent"),
    "waiting": pgettext_lazy("of machines", "without a report"),
}


@dataclass(frozen=True, slots=True)
class FleetQuery:
    """What an address asks for. `having`: group -> the value its machines share; `state`: a key of STATES or ""."""

    q: str = ""
    state: str = ""
    group: str = ""
    having: tuple[tuple[str, str], ...] = ()

    @property
    def is_filtered(self) -> bool:
        return bool(self.q or self.state or self.having)

    @property
    def chips(self) -> list[tuple[str, str]]:
        """(what is filtered by, the address without it), for each shared value."""
        return [(f"{GROUPS[group]}: {value}", self.address(without=group)) for group, value in self.having]

    def address(self, *, without: str = "", **more: str) -> str:
        """The query string of this, of what it has with `more` and without one group."""
        given = {"q": self.q, "state": self.state, **dict(self.having), "group": self.group, **more}
        return "?" + urlencode({name: value for name, value in given.items() if value and name != without})


def fleet_query(request: HttpRequest) -> FleetQuery:
    """What makes no sense is left out."""
    state, group = text_parameter(request, "state"), text_parameter(request, "group")
    having = tuple((name, value) for name in GROUPS if (value := text_parameter(request, name)))
    return FleetQuery(
        q=text_parameter(request, "q"),
        state=state if state in STATES else "",
        group=group if group in GROUPS else "",
        having=having,
    )


def fleet_machines(visitor: Visitor, lab: Lab, query: FleetQuery) -> QuerySet[Machine]:
    """The lab's machines that match, in no order. One query more for those that are silent."""
    machines = machines_found(visitor, lab=lab)
    if query.q:  # the lab's own name, which `machines_found` looks at too, would find all
        machines = machines.filter(Q(name__icontains=query.q) | Q(slug__icontains=query.q))
    for group, value in query.having:
        if group == "card":
            has_one = Card.objects.filter(snapshot=OuterRef("latest_snapshot"), reported_name=value)
            machines = machines.filter(Exists(has_one))
        else:
            machines = machines.filter(**{f"latest_snapshot__facts__{_FACTS[group]}": value})
    if query.state in {"broken", "warning"}:
        has_finding = Finding.objects.filter(snapshot=OuterRef("latest_snapshot"), severity=query.state)
        machines = machines.filter(Exists(has_finding))
    elif query.state == "silent":
        machines = machines.filter(pk__in=[machine.pk for machine, _sign in silent_machines(lab)])
    elif query.state == "waiting":
        machines = machines.filter(latest_snapshot__isnull=True)
    return machines


def fleet_groups(machines: QuerySet[Machine], query: FleetQuery) -> list[tuple[str, int, str]]:
    """Return (value, how many share it, the address of their list), most first; [] where nobody asked. One query."""
    if not query.group:
        return []
    snapshots = machines.order_by().values("latest_snapshot")
    if query.group == "card":
        cards = Card.objects.filter(snapshot__in=snapshots).exclude(facts__has_key=PARENT).order_by()
        counted: QuerySet[Any, Any] = cards.values_list("reported_name").annotate(n=Count("snapshot", distinct=True))
    else:
        value = KeyTextTransform(_FACTS[query.group], "facts")
        rows = Snapshot.objects.filter(pk__in=snapshots).annotate(value=value).filter(value__isnull=False).order_by()
        counted = rows.values_list("value").annotate(n=Count("pk"))
    most_first = counted.order_by("-n")[:GROUPS_SHOWN]
    return [(value, count, query.address(without="group", **{query.group: value})) for value, count in most_first]


# ---- the file --------------------------------------------------------------------------------------------------------


def fleet_csv(request: HttpRequest, lab: Lab, machines: QuerySet[Machine]) -> HttpResponse:
    """Return the machines, at most FILE_AT_MOST, by name. Five queries for any number.

    A cell is empty where the page says why something is missing; an agent that does not stay is not waited for.
    """
    listed = list(machines.order_by("slug")[:FILE_AT_MOST])
    signs = signs_of_life(listed)
    here = request.build_absolute_uri("/").rstrip("/")
    columns: Columns[tuple[MachineRow, SignOfLife | None]] = {
        **of_part(
            lambda row: row[0],
            {
                "machine": lambda row: row.name,
                "url": lambda row: here + row.url,
                "cards": lambda row: "; ".join(card.label for card in row.cards),
                "cpu": lambda row: row.cpu.text,
                "memory": lambda row: row.memory.text,
                "system": lambda row: row.system.text,
                "python": lambda row: row.python.text,
                "torch": lambda row: row.torch.text,
                "worst_finding": lambda row: row.worst,
                "findings": lambda row: row.findings,
                "last_report": lambda row: _moment(row.taken_at),
            },
        ),
        **of_part(
            lambda row: row[1],
            {
                "last_heard_of": lambda sign: _moment(sign.heard_at),
                "reports_every_s": lambda sign: int(sign.every.total_seconds()),
                "silent": lambda sign: sign.is_silent,
            },
        ),
    }
    rows = [(row, signs.get(machine.pk)) for machine, row in zip(listed, machine_rows(listed), strict=True)]
    return table_file(f"{lab.slug} machines {timezone.now():%Y-%m-%d}", columns, rows)


def _moment(when: datetime | None) -> str | None:
    return when.isoformat(timespec="seconds") if when else None
