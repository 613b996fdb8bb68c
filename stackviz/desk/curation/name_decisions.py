"""Decide which accelerators a reported name belongs to; unmatched cards with this name are matched at once.

Each decision is stored with who, when and why, and can be undone while its names are unchanged. Of two people who
decide on one name at the same time, the second sees what the first has done.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from stackviz.records.audit.record import record
from stackviz.records.catalog.models import Accelerator, Alias
from stackviz.records.labs.models import NameDecision
from stackviz.records.labs.rematch import Rematched, rematch_name
from stackviz.report.rules.known_cards import normalized

Action = NameDecision.Action
DEFAULT_REASON = "from what machines report"  # shown in public, so it names none


class DecidedMeanwhile(Exception):
    """Another person decided about the name after the page was rendered; `latest` is that decision."""

    def __init__(self, name: str, latest: NameDecision | None) -> None:
        super().__init__(name)
        self.latest = latest


class CannotUndo(Exception):
    """The decision was undone already, or its names were changed since."""


@dataclass(frozen=True, slots=True)
class Target:
    """An accelerator a name shall belong to, and what must be reported with it: a memory size, a number of GPU cores.

    `is_undecided`: the name is the accelerator's, but never enough by itself.
    """

    accelerator: Accelerator
    memory_bytes: int | None = None
    gpu_cores: int | None = None
    is_undecided: bool = False

    def __str__(self) -> str:
        parts = [self.accelerator.name]
        if self.memory_bytes:
            parts.append(_("with %(size)s GB of memory") % {"size": f"{self.memory_bytes / 1e9:g}"})
        if self.gpu_cores:
            parts.append(_("with %(n)d GPU cores") % {"n": self.gpu_cores})
        if self.is_undecided:
            parts.append(_("undecided by the name alone"))
        return ", ".join(parts)


def steps_taken(name: str) -> int:
    """How many decisions there are about the name: a page carries it, so that a later one can tell. One query."""
    return NameDecision.objects.filter(normalized=key_of(name)).count()


def key_of(name: str) -> str:
    """What all spellings of the name share; a name of signs only is itself."""
    return normalized(name) or name.casefold()


@transaction.atomic
def give_name(
    name: str, vendor: str, targets: Sequence[Target], *, by: AbstractBaseUser | None, reason: str = "", seen: int
) -> tuple[NameDecision, Rematched]:
    """Let these accelerators be known by the name, and match the cards that report it.

    Of several each must say what tells it apart. An accelerator that has the name already has it under the new terms.
    Raises ValidationError when the catalogue refuses the name, DecidedMeanwhile when `seen` is not the newest state.
    """
    if not normalized(name):
        raise ValidationError(_("This name consists only of the vendor's name."))
    _check(targets)
    action = Action.ACCEPT if len(targets) == 1 else Action.SPLIT
    text = "; ".join(map(str, targets))[:600]
    decision = _record(name, vendor, action, text, by=by, reason=reason, seen=seen)
    made: list[int] = []
    changed: list[tuple[int, dict[str, Any]]] = []
    for target in targets:
        alias, before = _named(name, target, reason)
        if before is None:
            made.append(alias.pk)
        else:
            changed.append((alias.pk, before))
    decision.kept = {"made": made, "changed": changed, "left": _content([*made, *(pk for pk, _before in changed)])}
    decision.save(update_fields=["kept"])
    return decision, rematch_name(name, [target.accelerator.pk for target in targets])


def _check(targets: Sequence[Target]) -> None:
    if not targets:
        raise ValidationError(_("Choose an accelerator."))
    if len({target.accelerator.pk for target in targets}) < len(targets):
        raise ValidationError(_("Each accelerator can be chosen once."))
    if len(targets) == 1:
        return
    plain = [item for item in targets if not (item.memory_bytes or item.gpu_cores or item.is_undecided)]
    if plain:
        text = _("Give a memory size or a number of GPU cores for each of these, to tell them apart: %(names)s.")
        raise ValidationError(text % {"names": ", ".join(item.accelerator.name for item in plain)})
    terms = [(item.memory_bytes, item.gpu_cores) for item in targets if not item.is_undecided]
    if len(set(terms)) < len(terms):
        raise ValidationError(
            _("Two accelerators have the same memory size and GPU cores, so these values cannot tell them apart.")
        )


def _named(name: str, target: Target, reason: str) -> tuple[Alias, dict[str, Any] | None]:
    """The accelerator's alias under the target's terms, and how it was before, None where it is new."""
    same = Alias.objects.filter(accelerator=target.accelerator, normalized=normalized(name))
    plain = same.filter(memory_bytes=None, gpu_cores=None).first()
    alias = plain or Alias(accelerator=target.accelerator, name=name)
    before = _state(plain) if plain else None
    alias.memory_bytes, alias.gpu_cores = target.memory_bytes, target.gpu_cores
    alias.kind = Alias.Kind.UNDECIDED if target.is_undecided else Alias.Kind.REPORTED
    if target.is_undecided:
        alias.note = reason or alias.note
    _save(alias, reason or DEFAULT_REASON)
    return alias, before


def _save(alias: Alias, why: str) -> None:
    alias.full_clean()
    alias._change_reason = why  # noqa: SLF001 - simple_history's
    alias.save()


def _state(alias: Alias) -> dict[str, Any]:
    return {
        "accelerator_id": alias.accelerator_id,
        "name": alias.name,
        "kind": str(alias.kind),
        "memory_bytes": alias.memory_bytes,
        "gpu_cores": alias.gpu_cores,
        "note": alias.note,
    }


def _content(pks: Iterable[int]) -> dict[str, dict[str, Any]]:
    return {str(alias.pk): _state(alias) for alias in Alias.objects.filter(pk__in=list(pks))}


@transaction.atomic
def leave_name(name: str, vendor: str, *, by: AbstractBaseUser | None, reason: str, seen: int) -> NameDecision:
    """Take the name out of the queue without giving it to anybody, for a reason. Raises as `give_name` does."""
    if not reason:
        raise ValidationError(_("Give a reason for people who look up this name later."))
    return _record(name, vendor, Action.IGNORE, "", by=by, reason=reason, seen=seen)


def _record(
    name: str, vendor: str, action: Action, text: str, by: AbstractBaseUser | None, reason: str, seen: int
) -> NameDecision:
    """Store the next decision about the name; raises DecidedMeanwhile if there are more than `seen`."""
    decision = NameDecision(
        name=name, vendor=vendor, normalized=key_of(name), step=seen + 1, action=action, text=text, reason=reason
    )
    decision.made_by_id = by.pk if by else None
    try:
        with transaction.atomic():
            decision.save(force_insert=True)
    except IntegrityError:
        latest = (
            NameDecision.objects.filter(normalized=decision.normalized)
            .select_related("made_by")
            .order_by("-step")
            .first()
        )
        raise DecidedMeanwhile(name, latest) from None
    record(f"name.{action}", f"name {name}", by, reason=reason)
    return decision


@transaction.atomic
def undo(decision: NameDecision, *, by: AbstractBaseUser | None) -> Rematched:
    """Take a decision back, and match the cards again. Raises CannotUndo."""
    done = NameDecision.objects.filter(pk=decision.pk, undone_at__isnull=True)
    if not done.update(undone_at=timezone.now(), undone_by=by.pk if by else None):
        raise CannotUndo(_("This decision has already been undone."))
    record("name.undone", f"name {decision.name}", by)
    if decision.action == Action.IGNORE:
        return Rematched(0, None)
    left: dict[str, Any] = decision.kept["left"]
    if _content(map(int, left)) != left:
        raise CannotUndo(_("The name has changed since this decision. Correct it under Aliases."))
    for pk in decision.kept["made"]:
        alias = Alias.objects.get(pk=pk)
        alias._change_reason = _undone(decision)  # noqa: SLF001
        alias.delete()
    for pk, before in decision.kept["changed"]:
        alias = Alias.objects.get(pk=pk)
        for column, value in before.items():
            setattr(alias, column, value)
        _save(alias, _undone(decision))
    return rematch_name(decision.name, {state["accelerator_id"] for state in left.values()})


def _undone(decision: NameDecision) -> str:
    return f"undone: {decision.reason or DEFAULT_REASON}"
