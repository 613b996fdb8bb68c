"""Visibility of labs and machines, and a snapshot as the report it came from.

Every page and API that lists machines starts from these querysets.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import uuid4

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, PermissionsMixin
from django.db.models import OuterRef, Prefetch, Q, QuerySet, Subquery, prefetch_related_objects

from stackviz.records.catalog.queries import public_catalogue
from stackviz.records.labs.models import Card, Finding, Lab, Machine, Membership, Report, Snapshot
from stackviz.report import format as wire
from stackviz.report import rules

Visitor = AbstractBaseUser | AnonymousUser


class LabReader(AnonymousUser):
    """Who sent a key that reads: sees what is public and one lab, belongs to none and changes nothing."""

    def __init__(self, lab_id: int) -> None:
        super().__init__()
        self.lab_id = lab_id


def visible_labs(user: Visitor) -> QuerySet[Lab]:
    """Public labs and those of the visitor; all for a superuser. One query."""
    if getattr(user, "is_superuser", False):
        return Lab.objects.all()
    return Lab.objects.filter(_may_see(user, ""))


def visible_machines(user: Visitor) -> QuerySet[Machine]:
    """Machines of visible labs, with their lab; without those merged into another. One query."""
    machines = Machine.objects.filter(merged_into__isnull=True).select_related("lab")
    if getattr(user, "is_superuser", False):
        return machines
    return machines.filter(_may_see(user, "lab__"))


def machines_at(user: Visitor, lab: str, slug: str) -> QuerySet[Machine]:
    """The machine at this address with its lab and newest snapshot; none if the visitor may not see it. One query."""
    return visible_machines(user).select_related("lab", "latest_snapshot").filter(lab__slug=lab, slug=slug)


def visible_machine(user: Visitor, lab: str, slug: str) -> Machine | None:
    """The machine at this address with its lab and newest snapshot; None if the visitor may not see it. One query."""
    return machines_at(user, lab, slug).first()


def merged_machines(user: Visitor) -> QuerySet[Machine]:
    """Machines of visible labs that were merged into another one, with both labs. One query."""
    merged = Machine.objects.filter(merged_into__isnull=False).select_related("lab", "merged_into__lab")
    return merged if getattr(user, "is_superuser", False) else merged.filter(_may_see(user, "lab__"))


def machine_merged_into(user: Visitor, lab: str, slug: str) -> tuple[Machine, Machine] | None:
    """(the machine that had this address, the one it was merged into), if the visitor may see them. One query."""
    machine = merged_machines(user).filter(lab__slug=lab, slug=slug).first()
    return (machine, machine.merged_into) if machine is not None and machine.merged_into is not None else None


def visible_reports(user: Visitor) -> QuerySet[Report]:
    """Reports of visible labs, with machine and lab, without the body. One query."""
    reports = Report.objects.select_related("machine__lab").defer("body")
    if getattr(user, "is_superuser", False):
        return reports
    return reports.filter(_may_see(user, "machine__lab__"))


def _may_see(user: Visitor, lab: str) -> Q:
    """The condition on the lab at the lookup path `lab`. A subquery, because a join would duplicate rows."""
    is_public = Q(**{f"{lab}is_public": True})
    if isinstance(user, LabReader):
        return is_public | Q(**{f"{lab}pk": user.lab_id})
    if not user.is_authenticated:
        return is_public
    joined = Lab.objects.filter(memberships__user_id=user.pk).values("pk")
    return is_public | Q(**{f"{lab}pk__in": joined})


def latest_snapshots(machines: Iterable[Machine]) -> dict[int, Snapshot]:
    """Machine pk -> its newest snapshot, with cards, their public sheets and findings loaded.

    Two queries at most, a third for machines that were loaded without their snapshot, and those of the public
    catalogue.
    """
    reporting = [machine for machine in machines if machine.latest_snapshot_id is not None]
    pks = [pk for machine in reporting if (pk := machine.latest_snapshot_id) is not None]
    if not pks:
        return {}
    snapshots = _snapshots_with_machines(reporting) or list(Snapshot.objects.filter(pk__in=pks))
    _load_cards(snapshots, Finding.objects.order_by("pk"))
    return {snapshot.machine_id: snapshot for snapshot in snapshots}


def snapshots_until(machines: Iterable[Machine], at: datetime) -> dict[int, Snapshot]:
    """Machine pk -> the newest snapshot of the reports that had arrived at the moment, with cards and their sheets.

    Without reports that are withdrawn by now. Its findings are none: they are those of the rules of today. Two queries,
    and those of the public catalogue.
    """
    arrived = Snapshot.objects.filter(report__received_at__lte=at, report__withdrawal__isnull=True)
    newest = arrived.filter(machine=OuterRef("pk")).order_by("-taken_at", "-pk").values("pk")[:1]
    of_machines = Machine.objects.filter(pk__in=[machine.pk for machine in machines]).annotate(then=Subquery(newest))
    snapshots = list(Snapshot.objects.filter(pk__in=of_machines.values("then")))
    _load_cards(snapshots, Finding.objects.none())
    return {snapshot.machine_id: snapshot for snapshot in snapshots}


def _snapshots_with_machines(machines: Sequence[Machine]) -> list[Snapshot]:
    """The newest snapshots, where each was loaded with its machine; none otherwise."""
    if not all(Machine.latest_snapshot.is_cached(machine) for machine in machines):
        return []
    return [machine.latest_snapshot for machine in machines if machine.latest_snapshot is not None]


def _load_cards(snapshots: Sequence[Snapshot], findings: QuerySet[Finding]) -> None:
    """Load cards and these findings with the snapshots; cards find their public sheets in the catalogue in memory."""
    prefetch_related_objects(
        snapshots, Prefetch("cards", Card.objects.order_by("index")), Prefetch("findings", findings)
    )
    cards = [card for snapshot in snapshots for card in snapshot.cards.all()]
    named = [card for card in cards if card.accelerator_id is not None]
    sheets = public_catalogue().by_pk if named else {}
    for card in named:
        if card.accelerator_id in sheets:
            related = card._state.fields_cache  # noqa: SLF001 - what select_related fills
            related["accelerator"] = sheets[card.accelerator_id]


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
    """The machine at this address. At most three queries. Raises Machine.DoesNotExist, also if it is not visible."""
    machine = visible_machine(user, lab, slug)
    if machine is None:
        raise Machine.DoesNotExist
    snapshot = latest_snapshots([machine]).get(machine.pk)
    if snapshot is None:
        return MachineDetail(machine, None, (), ())
    return MachineDetail(machine, snapshot, tuple(snapshot.cards.all()), tuple(snapshot.findings.all()))


# --- a snapshot as the report it came from ---


def as_report(snapshot: Snapshot, cards: Iterable[Card], at: datetime) -> wire.Report:
    """The report without its results, dated `at` (aware), which rules take as the current day."""
    return wire.Report(
        id=uuid4(),
        created_at=at,
        agent=wire.Agent("snapshot", "0"),
        machine=wire.Machine(wire.NOBODY),
        facts=snapshot.facts,
        absent=absences(snapshot.absent),
        cards=tuple(_card(card) for card in cards),
        software=tuple(_software(software) for software in snapshot.software),
    )


def _card(card: Card) -> wire.Card:
    return wire.Card(
        index=card.index,
        kind=card.kind,
        vendor=card.vendor,
        reported_name=card.reported_name,
        memory_bytes=card.memory_bytes,
        facts=card.facts,
        absent=absences(card.absent),
    )


def absences(written: Mapping[str, Any]) -> dict[str, wire.Absent]:
    """Name -> why it is missing, of what a snapshot or a card stores; a reason that is none is an unknown one."""
    return {name: _absent(why if isinstance(why, Mapping) else {}) for name, why in written.items()}


def _absent(why: Mapping[str, Any]) -> wire.Absent:
    return wire.Absent(str(why.get("reason") or ""), str(why.get("detail") or "") or None)


def _software(software: Mapping[str, Any]) -> wire.Software:
    return wire.Software(
        str(software.get("component", "")), software.get("version"), str(software.get("found_by") or "")
    )


def stored_findings(snapshot: Snapshot) -> tuple[rules.Finding, ...]:
    """The findings of the rules when the report was read, in their order."""
    return tuple(
        rules.Finding(
            rule=row.rule,
            severity=row.severity,
            component=row.component,
            title=row.title,
            evidence={str(name): str(value) for name, value in row.evidence.items()},
            explanation=row.explanation,
            advice=row.advice,
            source_title=row.source_title,
            source_url=row.source_url,
        )
        for row in snapshot.findings.all()
    )


# --- who may change what ---


@dataclass(frozen=True, slots=True)
class LabRights:
    """What a visitor may do in a lab: see its keys and people, work in it, rule it. Each includes the one before.

    `is_of_lab`: any role, viewers too. `may_work`: make keys and revoke their own, add machines from a dump, decide
    about changes. `may_rule`: all keys, people, invitations, visibility.
    """

    is_of_lab: bool = False
    may_work: bool = False
    may_rule: bool = False


def rights_in(user: Visitor, lab: Lab) -> LabRights:
    """One query; none for visitors who are not logged in, and superusers, who rule every lab."""
    if not user.is_authenticated:
        return LabRights()
    if getattr(user, "is_superuser", False):
        return LabRights(is_of_lab=True, may_work=True, may_rule=True)
    role = Membership.objects.filter(lab=lab, user_id=user.pk).values_list("role", flat=True).first()
    return LabRights(
        is_of_lab=role is not None,
        may_work=role in WORKING_ROLES,
        may_rule=role == Membership.Role.OWNER,
    )


WORKING_ROLES = (Membership.Role.MEMBER, Membership.Role.OWNER)


def owns_lab(user: Visitor, lab: Lab) -> bool:
    """One query; none for visitors who are not logged in."""
    if not user.is_authenticated:
        return False
    return Membership.objects.filter(lab=lab, user_id=user.pk, role=Membership.Role.OWNER).exists()


def may_manage(user: Visitor, lab: Lab) -> bool:
    """The lab's machines. One query at most."""
    return manages_all(user) or owns_lab(user, lab)


def manages_all(user: Visitor) -> bool:
    """The machines of every lab."""
    return is_staff_who_may(user, "labs.change_machine")


def is_staff_who_may(user: Visitor, permission: str) -> bool:
    """`permission` as Django writes it: `labs.change_machine`."""
    is_staff = getattr(user, "is_staff", False)
    return isinstance(user, PermissionsMixin) and is_staff and user.has_perm(permission)
