"""Two machine rows that are one computer become one; one row that was two computers is split. Both can be undone."""

from collections import Counter
from collections.abc import Collection, Iterable
from typing import Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import IntegrityError, connection, transaction
from django.db.models import Count, Exists, OuterRef, QuerySet
from django.utils import timezone
from django.utils.text import slugify
from django.utils.translation import gettext as _

from stackviz.records.audit.record import record
from stackviz.records.labs.delete_reports import point_at_newest
from stackviz.records.labs.models import AgentKey, Machine, MachineMove, MovedReport, Report, Snapshot
from stackviz.records.labs.move_lock import stop_readers
from stackviz.records.labs.queries import Visitor
from stackviz.records.series.decide_standing import checked_reason
from stackviz.records.series.models import ChangeDecision, Result, Series
from stackviz.records.series.rollup import refresh

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


# --- moving reports ---

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
