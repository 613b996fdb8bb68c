"""Decide on proposals: approved, rejected, withdrawn. The one place that changes a public value."""

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from stackviz.desk.curation.differences import figure_text, snapshot
from stackviz.records.audit.record import record
from stackviz.records.catalog.models import Proposal, Source, SpecValue
from stackviz.records.curated.change import wait_for_other_loads
from stackviz.records.curated.rows import is_readable

Action, State = Proposal.Action, Proposal.State
# Which source takes precedence when the preferred value is removed: see docs/catalogue.md.
_BEST_SOURCES = (Source.Kind.MAKER, Source.Kind.DEVICE, Source.Kind.PRESS, Source.Kind.COMMUNITY)
_BEST_BASES = tuple(SpecValue.Basis)


class Undecidable(ValueError):
    """The proposal cannot be decided like that; the text says why, for people."""


class Conflict(Undecidable):
    """The value has changed since the proposal was made."""

    def __init__(self, proposal: Proposal, now: SpecValue | None) -> None:
        current = figure_text(snapshot(now)) if now else _("deleted")
        super().__init__(
            _("%(value)s changed after this proposal was made (was %(old)s, now %(now)s). Nothing was saved.")
            % {"value": proposal, "old": figure_text(proposal.before), "now": current}
        )
        self.proposal, self.now = proposal, now


def needs_second_person() -> bool:
    return settings.CURATION_APPROVALS > 1


def may_approve(proposal: Proposal, user: User) -> bool:
    """Whether this person may approve it: not their own proposal, unless the site requires only one person."""
    is_own = proposal.proposed_by_id is not None and proposal.proposed_by_id == user.pk
    return user.has_perm("catalog.approve") and not (is_own and needs_second_person())


def is_stale(proposal: Proposal) -> bool:
    """Whether the value has changed since the proposal. Reads `target`."""
    if proposal.action == Action.ADD:
        return False
    return proposal.target is None or proposal.target.digest != proposal.digest


def approve(proposal_id: int, user: User, answer: str = "") -> Proposal:
    """Apply the proposal in one transaction. Of concurrent approvals one is applied, the others raise Undecidable.

    Raises PermissionDenied, Conflict, Undecidable, or ValidationError where the registry no longer takes the value.
    """
    with transaction.atomic():
        proposal = _in_review(proposal_id)
        if not may_approve(proposal, user):
            raise PermissionDenied(_("A proposal must be decided by a second person with approval rights."))
        wait_for_other_loads()
        target = _locked(proposal)
        proposal.target = _applied(proposal, target, user)
        return _decided(proposal, State.APPROVED, user, answer)


def reject(proposal_id: int, user: User, answer: str) -> Proposal:
    """Reject a proposal or draft with a reason. Raises PermissionDenied or Undecidable."""
    if not user.has_perm("catalog.approve"):
        raise PermissionDenied(_("You do not have permission to decide on proposals."))
    if not answer.strip():
        raise Undecidable(_("Give a reason for the rejection."))
    with transaction.atomic():
        return _decided(_open(proposal_id), State.REJECTED, user, answer)


def withdraw(proposal_id: int, user: User) -> Proposal:
    """Withdraw one's proposal. Raises PermissionDenied or Undecidable."""
    with transaction.atomic():
        proposal = _open(proposal_id)
        _require_author(proposal, user)
        return _decided(proposal, State.WITHDRAWN, user, "")


def send(proposal_id: int, user: User) -> Proposal:
    """Send a draft to review. Raises PermissionDenied or Undecidable."""
    with transaction.atomic():
        proposal = _open(proposal_id)
        _require_author(proposal, user)
        proposal.state = State.REVIEW
        proposal.save(update_fields=["state"])
        return proposal


def rebase_proposal(proposal_id: int, user: User) -> Proposal:
    """Propose the same for the value as it is now; from then on it is this person's proposal.

    Raises PermissionDenied, Undecidable where the value is gone.
    """
    if not user.has_perm("catalog.propose"):
        raise PermissionDenied(_("You do not have permission to propose values."))
    with transaction.atomic():
        proposal = _open(proposal_id)
        target = SpecValue.objects.select_related("source").filter(pk=proposal.target_id or 0).first()
        if target is None:
            raise Undecidable(_("The value no longer exists. Withdraw the proposal."))
        proposal.before, proposal.digest = snapshot(target), target.digest
        proposal.proposed_by, proposal.proposed_at = user, timezone.now()
        proposal.save(update_fields=["before", "digest", "proposed_by", "proposed_at"])
        return proposal


def _open(proposal_id: int) -> Proposal:
    # Only the proposal's own row is locked: outer joins cannot be.
    rows = Proposal.objects.select_for_update(of=("self",)).select_related("accelerator", "source")
    proposal = rows.get(pk=proposal_id)
    if proposal.state not in Proposal.OPEN:
        raise Undecidable(
            _("%(proposal)s has already been decided: %(state)s.")
            % {"proposal": proposal, "state": proposal.get_state_display()}
        )
    return proposal


def _in_review(proposal_id: int) -> Proposal:
    proposal = _open(proposal_id)
    if proposal.state != State.REVIEW:
        raise Undecidable(_("%(proposal)s is still a draft. Send it to review first.") % {"proposal": proposal})
    return proposal


def _require_author(proposal: Proposal, user: User) -> None:
    if proposal.proposed_by_id != user.pk and not user.is_superuser:
        raise PermissionDenied(_("Only the author of the proposal can do this."))


def _decided(proposal: Proposal, state: Proposal.State, user: User, answer: str) -> Proposal:
    is_readable(answer)
    proposal.state, proposal.decided_by, proposal.decided_at = state, user, timezone.now()
    proposal.answer = answer.strip()
    proposal.save(update_fields=["state", "decided_by", "decided_at", "answer", "target"])
    record(f"proposal.{state}", f"proposal {proposal.pk}: {proposal}", user, answer=proposal.answer)
    return proposal


def _locked(proposal: Proposal) -> SpecValue | None:
    """The value to be changed, locked and unchanged since; None for an addition. Raises Conflict."""
    if proposal.action == Action.ADD:
        return None
    rows = SpecValue.objects.select_for_update(of=("self",)).select_related("source", "accelerator")
    target = rows.filter(pk=proposal.target_id or 0).first()
    if target is None or target.digest != proposal.digest:
        raise Conflict(proposal, target)
    return target


def _applied(proposal: Proposal, target: SpecValue | None, user: User) -> SpecValue:
    """The value as it now stands. Every slot it leaves or enters keeps exactly one preferred value."""
    value = target or SpecValue(accelerator=proposal.accelerator)
    slot, left = (value.field, value.condition), _others(value) if value.pk and value.is_preferred else None
    if proposal.action == Action.RETIRE:
        value.status, value.is_preferred = SpecValue.Status.RETIRED, False
    else:
        _take_over(value, proposal)
        _refuse_twice(value)
        _make_room(value, proposal, user)
    value.checked_by, value.checked_at = user, timezone.now()
    _save(value, proposal, user, proposal.reason)
    has_left = value.status != SpecValue.Status.PUBLIC or slot != (value.field, value.condition)
    if left is not None and has_left:
        _prefer_best_of(left, value, proposal, user)
    return value


def _take_over(value: SpecValue, proposal: Proposal) -> None:
    for name in ("field", "value", "unit", "condition", "basis", "source", "note"):
        setattr(value, name, getattr(proposal, name))
    value.status = SpecValue.Status.PUBLIC
    value.said_by = ""
    value.normalise()


def _others(value: SpecValue) -> QuerySet[SpecValue]:
    """The other public values of the same accelerator, field and condition, as they are now."""
    same = SpecValue.objects.filter(accelerator=value.accelerator_id, field=value.field, condition=value.condition)
    return same.filter(status=SpecValue.Status.PUBLIC).exclude(pk=value.pk)


def _refuse_twice(value: SpecValue) -> None:
    if not value.pk and _others(value).filter(source=value.source, value=value.value, unit=value.unit).exists():
        raise ValidationError(_("This value is already recorded from this source."))


def _make_room(value: SpecValue, proposal: Proposal, user: User) -> None:
    preferred = list(_others(value).filter(is_preferred=True).select_related("accelerator"))
    value.is_preferred = proposal.is_preferred or not preferred
    for other in preferred if value.is_preferred else ():
        other.is_preferred = False
        _save(other, proposal, user, f"gave way to {_figure(value)}: {proposal.reason}")


def _prefer_best_of(others: QuerySet[SpecValue], gone: SpecValue, proposal: Proposal, user: User) -> None:
    """Prefer the best of the values that remain without a preferred one."""
    best = min(others.select_related("source", "accelerator"), key=_rank, default=None)
    if best is not None:
        best.is_preferred = True
        _save(best, proposal, user, f"preferred instead of {_figure(gone)}: {proposal.reason}")


def _rank(value: SpecValue) -> tuple[int, int, int]:
    kind = value.source.kind if value.source else Source.Kind.COMMUNITY
    return _BEST_SOURCES.index(Source.Kind(kind)), _BEST_BASES.index(SpecValue.Basis(value.basis)), value.pk


def _figure(value: SpecValue) -> str:
    return f"{value.value} {value.unit}".strip()


def _save(value: SpecValue, proposal: Proposal, user: User, reason: str) -> None:
    """Save the value: its history names the proposer as author, `checked_by` the approver."""
    value._history_user = proposal.proposed_by or user  # type: ignore[attr-defined]  # noqa: SLF001 - simple_history's
    value.set_change_reason(reason)
    value.save()
