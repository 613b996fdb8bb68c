"""Two machine rows that are one computer become one; one row that was two computers is split. Both can be undone."""

from collections.abc import Collection
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.text import slugify
from django.utils.translation import gettext as _

from stackviz.records.audit.record import record
from stackviz.records.labs.models import AgentKey, Machine, MachineMove, Report
from stackviz.records.labs.move_lock import stop_readers
from stackviz.records.labs.newest import point_at_newest
from stackviz.records.labs.queries import Visitor
from stackviz.records.series.move_reports import carry, drop_series, note_reports
from stackviz.records.series.reason import checked_reason

NAME_CHARS = 200
SPLIT_AT_ONCE = 500
ATTEMPTS = 10  # to find an address that no upload takes at the same moment
_SLUG_CHARS = 70


@transaction.atomic
def merge_machines(source: Machine, target: Machine, reason: str, by: Visitor) -> MachineMove:
    """Join `source` to `target`: reports, snapshots, results, findings, keys; its address and identity lead there.

    A report that comes in meanwhile ends at `target`, too. Raises ValidationError.
    """
    reason = checked_reason(reason)
    stop_readers()
    source, target = _locked_pair(source, target)
    move = MachineMove(
        action=MachineMove.Action.MERGE, source=source, target=target, reason=reason, made_by_id=by.pk, before={}
    )
    move.save()
    note_reports(move, Report.objects.filter(machine=source))
    made = carry(move, source, target)
    keys = list(AgentKey.objects.filter(machine=source).order_by("pk").values_list("pk", flat=True))
    AgentKey.objects.filter(pk__in=keys).update(machine=target)
    merged_before = list(Machine.objects.filter(merged_into=source).order_by("pk").values_list("pk", flat=True))
    Machine.objects.filter(pk__in=merged_before).update(merged_into=target)
    is_identity_moved = target.identity is None and source.identity is not None
    _become_signpost(source, target, is_identity_moved=is_identity_moved)
    point_at_newest([source.pk, target.pk])
    move.before = {"keys": keys, "merged": merged_before, "series_made": made, "is_identity_moved": is_identity_moved}
    move.save()
    record("machine.merged", _audited(move), by, reason=reason)
    return move


@transaction.atomic
def split_machine(machine: Machine, reports: Collection[UUID], name: str, reason: str, by: Visitor) -> MachineMove:
    """Move these reports of the machine to a new one of this name in its lab. Raises ValidationError."""
    reason, name = checked_reason(reason), checked_name(name)
    if len(reports) > SPLIT_AT_ONCE:
        raise ValidationError({"reports": _("At most %(n)d reports at a time.") % {"n": SPLIT_AT_ONCE}})
    stop_readers()
    source = _standing(machine)
    chosen = Report.objects.filter(machine=source, pk__in=reports)
    if not chosen.exists():
        raise ValidationError({"reports": _("Choose reports of this machine.")})
    if not Report.objects.filter(machine=source).exclude(pk__in=reports).exists():
        raise ValidationError({"reports": _("Leave at least one report, or rename the machine instead.")})
    target = _new_machine(source.lab_id, name)
    move = MachineMove(
        action=MachineMove.Action.SPLIT, source=source, target=target, reason=reason, made_by_id=by.pk, before={}
    )
    move.save()
    note_reports(move, chosen)
    carry(move, source, target)
    point_at_newest([source.pk, target.pk])
    move.save()
    record("machine.split", _audited(move), by, reason=reason)
    return move


def _audited(move: MachineMove) -> str:
    return f"machine {move.source_id} to machine {move.target_id}"


@transaction.atomic
def undo_move(move: MachineMove, by: Visitor) -> int:
    """Bring the reports of the move back -> how many that came in since stay. Raises ValidationError.

    After a merge both machines are as they were, but for what was sent since; the new machine of a split leads to the
    old one, unless it has reports of its own by now.
    """
    stop_readers()
    move = MachineMove.objects.select_for_update(of=("self",)).get(pk=move.pk)
    if move.undone_at is not None:
        raise ValidationError(_("This is undone already."))
    machines = Machine.objects.in_bulk([move.source_id, move.target_id])
    source, target = machines[move.source_id], machines[move.target_id]
    if target.merged_into_id is not None or (move.action == MachineMove.Action.SPLIT and source.merged_into_id):
        raise ValidationError(_("One of the two was merged into another machine since. Undo that first."))
    if move.action == MachineMove.Action.MERGE:
        _take_down_signpost(move, source, target)
    carry(move, target, source)
    drop_series(move.before.get("series_made", ()))
    staying = Report.objects.filter(machine=target).order_by()
    if move.action == MachineMove.Action.SPLIT and not staying.exists() and not target.keys.exists():
        Machine.objects.filter(merged_into=target).update(merged_into=source)
        _become_signpost(target, source, is_identity_moved=False)
    point_at_newest([source.pk, target.pk])
    move.undone_at, move.undone_by_id = timezone.now(), by.pk
    move.save(update_fields=["undone_at", "undone_by"])
    record("machine.move-undone", _audited(move), by)
    return staying.filter(received_at__gt=move.made_at)[:SPLIT_AT_ONCE].count()


def checked_name(name: str) -> str:
    """The name of a machine without needless white space. Raises ValidationError."""
    name = " ".join("".join(char for char in name if char.isprintable() or char.isspace()).split())
    if not name:
        raise ValidationError({"name": _("Give the machine a name.")})
    if len(name) > NAME_CHARS:
        raise ValidationError({"name": _("The name is too long: at most %(n)d characters.") % {"n": NAME_CHARS}})
    return name


def free_slug(lab_id: int, name: str) -> str:
    """An address no machine of the lab has."""
    start = slugify(name)[:_SLUG_CHARS].strip("-_") or "machine"
    taken = set(Machine.objects.filter(lab=lab_id, slug__startswith=start).values_list("slug", flat=True))
    number = 1
    while (slug := start if number == 1 else f"{start}-{number}") in taken:
        number += 1
    return slug


def _new_machine(lab_id: int, name: str) -> Machine:
    """A machine at a free address. An upload of a new machine may take that meanwhile: then at the next one."""
    for _attempt in range(ATTEMPTS):
        try:
            with transaction.atomic():
                return Machine.objects.create(lab_id=lab_id, slug=free_slug(lab_id, name), name=name)
        except IntegrityError:
            continue
    raise ValidationError(_("Other machines took every address of this name. Try again, or choose another name."))


def _locked_pair(source: Machine, target: Machine) -> tuple[Machine, Machine]:
    if source.pk == target.pk:
        raise ValidationError({"target": _("Choose another machine than this one.")})
    if source.lab_id != target.lab_id:
        raise ValidationError({"target": _("Both machines must belong to the same lab.")})
    return _standing(source), _standing(target)


def _standing(machine: Machine) -> Machine:
    """The machine as it is now. Raises ValidationError for one that is merged by now, or gone."""
    now = Machine.objects.filter(pk=machine.pk).first()
    if now is None or now.merged_into_id is not None:
        raise ValidationError(_("%(name)s was merged into another machine meanwhile.") % {"name": machine.name})
    return now


def _become_signpost(machine: Machine, target: Machine, *, is_identity_moved: bool) -> None:
    identity = machine.identity
    machine.merged_into, machine.latest_snapshot, machine.latest_taken_at = target, None, None
    if is_identity_moved:
        machine.identity = None
    machine.save(update_fields=["merged_into", "latest_snapshot", "latest_taken_at", "identity"])
    if is_identity_moved:
        target.identity = identity
        target.save(update_fields=["identity"])


def _take_down_signpost(move: MachineMove, source: Machine, target: Machine) -> None:
    if move.before.get("is_identity_moved"):
        source.identity, target.identity = target.identity, None
        target.save(update_fields=["identity"])
    source.merged_into = None
    source.save(update_fields=["merged_into", "identity"])
    AgentKey.objects.filter(pk__in=move.before.get("keys", ()), machine=target).update(machine=source)
    Machine.objects.filter(pk__in=move.before.get("merged", ()), merged_into=target).update(merged_into=source)
