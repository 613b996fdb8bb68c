"""Visibility of labs and machines. Every page and API that lists machines starts from these querysets."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db.models import Prefetch, Q, QuerySet

from stackviz.labs.models import Card, Finding, Lab, Machine, Report, Snapshot

Visitor = AbstractBaseUser | AnonymousUser


def visible_labs(user: Visitor) -> QuerySet[Lab]:
    """Public labs and those of the visitor; all for a superuser. One query."""
    if getattr(user, "is_superuser", False):
        return Lab.objects.all()
    return Lab.objects.filter(_may_see(user, ""))


def visible_machines(user: Visitor) -> QuerySet[Machine]:
    """Machines of visible labs, with their lab. One query."""
    machines = Machine.objects.select_related("lab")
    if getattr(user, "is_superuser", False):
        return machines
    return machines.filter(_may_see(user, "lab__"))


def visible_reports(user: Visitor) -> QuerySet[Report]:
    """Reports of visible labs, with machine and lab, without the body. One query."""
    reports = Report.objects.select_related("machine__lab").defer("body")
    if getattr(user, "is_superuser", False):
        return reports
    return reports.filter(_may_see(user, "machine__lab__"))


def _may_see(user: Visitor, lab: str) -> Q:
    """The condition on the lab at the lookup path `lab`. A subquery, because a join would duplicate rows."""
    is_public = Q(**{f"{lab}is_public": True})
    if not user.is_authenticated:
        return is_public
    joined = Lab.objects.filter(memberships__user_id=user.pk).values("pk")
    return is_public | Q(**{f"{lab}pk__in": joined})


def latest_snapshots(machines: Iterable[Machine]) -> dict[int, Snapshot]:
    """Machine pk -> its newest snapshot, with cards (and their sheets) and findings loaded. Three queries at most."""
    pks = [machine.latest_snapshot_id for machine in machines if machine.latest_snapshot_id is not None]
    if not pks:
        return {}
    cards = Card.objects.select_related("accelerator__vendor").order_by("index")
    snapshots = Snapshot.objects.filter(pk__in=pks).prefetch_related(
        Prefetch("cards", cards), Prefetch("findings", Finding.objects.order_by("pk"))
    )
    return {snapshot.machine_id: snapshot for snapshot in snapshots}


@dataclass(frozen=True, slots=True)
class MachineDetail:
    """One machine as its page shows it. `snapshot` None: no report was read yet.

    `answers`: all outcomes of rules, including FITS; `findings`: those without FITS.
    """

    machine: Machine
    snapshot: Snapshot | None
    cards: tuple[Card, ...]
    answers: tuple[Finding, ...]

    @property
    def findings(self) -> tuple[Finding, ...]:
        return tuple(answer for answer in self.answers if answer.severity != Finding.Severity.FITS)


def machine_detail(user: Visitor, lab: str, slug: str) -> MachineDetail:
    """The machine at this address. At most four queries. Raises Machine.DoesNotExist, also if it is not visible."""
    machine = visible_machines(user).get(lab__slug=lab, slug=slug)
    snapshot = latest_snapshots([machine]).get(machine.pk)
    if snapshot is None:
        return MachineDetail(machine, None, (), ())
    return MachineDetail(machine, snapshot, tuple(snapshot.cards.all()), tuple(snapshot.findings.all()))
