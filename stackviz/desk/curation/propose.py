"""Propose changes to public values. Nothing public changes here; `decide` applies them."""

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from stackviz.desk.curation.decide_proposals import approve, may_approve
from stackviz.desk.curation.differences import formula_problem, snapshot, unchanged_source_question
from stackviz.records.catalog.by_formula import published_by
from stackviz.records.catalog.models import Proposal, SpecValue, ValueImport
from stackviz.records.curated.rows import is_readable

SOURCE_CONFIRMED = gettext_lazy("The source prints the new figure")
PUBLIC, RETIRED = SpecValue.Status.PUBLIC, SpecValue.Status.RETIRED


def touches_the_public(wanted: SpecValue, current: SpecValue | None) -> bool:
    """Whether saving `wanted` over `current` would change what visitors see."""
    return wanted.status == PUBLIC or (current is not None and current.status == PUBLIC)


def submit(wanted: SpecValue, *, by: User, reason: str, as_draft: bool = False) -> Proposal:
    """Propose a value, and approve it at once if one person suffices. Raises as `propose` and `approve` do."""
    with transaction.atomic():
        proposal = propose(wanted, by=by, reason=reason, as_draft=as_draft)
        if settings.CURATION_APPROVALS == 1 and not as_draft and may_approve(proposal, by):
            return approve(proposal.pk, by)
    return proposal


def propose(wanted: SpecValue, *, by: User, reason: str, as_draft: bool = False) -> Proposal:
    """A proposal that the value become as `wanted` is; it replaces one of the same person for the same value.

    Raises PermissionDenied, or ValidationError naming the field that cannot be.
    """
    if not by.has_perm("catalog.propose"):
        raise PermissionDenied(_("You do not have permission to propose values."))
    if not reason.strip():
        raise ValidationError({"reason": _("Give a reason. It is stored in the history and shown publicly.")})
    is_readable(reason)
    current = SpecValue.objects.select_related("source").filter(pk=wanted.pk).first() if wanted.pk else None
    proposal = drawn_up(wanted, current)
    proposal.proposed_by, proposal.reason = by, reason.strip()
    proposal.state = Proposal.State.DRAFT if as_draft else Proposal.State.REVIEW
    with transaction.atomic():
        _replace_authors_open(proposal, by)
        proposal.validate_constraints()
        proposal.save()
    return proposal


def check_proposal(wanted: SpecValue, current: SpecValue | None, by: User | None) -> None:
    """Raises ValidationError for what `propose` would refuse, naming the field; writes nothing."""
    proposal = drawn_up(wanted, current)
    if not wanted.accelerator.pk:  # saved with its values: nothing is published or proposed for it yet
        return
    if proposal.action != Proposal.Action.RETIRE:
        published = published_by(wanted.accelerator.slug, wanted.accelerator.spec_values.filter(is_preferred=True))
        if problem := formula_problem(wanted, current, published):
            raise ValidationError({"value": problem})
    rival = open_proposals_like(proposal).exclude(proposed_by=by).select_related("proposed_by").first()
    if rival:
        raise ValidationError(
            _("%(who)s has already proposed a change to this value (%(state)s). It must be decided first.")
            % {"who": rival.proposed_by or _("Somebody"), "state": rival.get_state_display()}
        )


def check_source(wanted: SpecValue, current: SpecValue | None) -> None:
    """Raises ValidationError naming the source, where a public figure changes under a source that may not print it.

    For changes that nobody has confirmed: a form asks, since only who types can know.
    """
    if current is None or current.status != PUBLIC or wanted.status == RETIRED:
        return
    if question := unchanged_source_question(snapshot(current), snapshot(wanted)):
        answer = _("Choose the source that does, or tick “%(box)s”.") % {"box": SOURCE_CONFIRMED}
        raise ValidationError({"source": f"{question} {answer}"})


def drawn_up(wanted: SpecValue, current: SpecValue | None, batch: ValueImport | None = None) -> Proposal:
    """The unsaved proposal that leads from `current` to `wanted`. Raises ValidationError naming the field."""
    wanted.normalise()
    action = _action(wanted, current)
    if action != Proposal.Action.RETIRE and wanted.source is None:
        raise ValidationError({"source": _("A public value needs a source with a web address.")})
    return Proposal(
        action=action,
        target=current,
        accelerator=wanted.accelerator,
        field=wanted.field,
        value=wanted.value,
        unit=wanted.unit,
        condition=wanted.condition,
        basis=wanted.basis,
        source=wanted.source,
        note=wanted.note,
        is_preferred=wanted.is_preferred and action != Proposal.Action.RETIRE,
        before=snapshot(current) if current else {},
        digest=current.digest if current else "",
        batch=batch,
    )


def _action(wanted: SpecValue, current: SpecValue | None) -> Proposal.Action:
    if current is None:
        return Proposal.Action.ADD
    if wanted.status == RETIRED:
        return Proposal.Action.RETIRE
    if wanted.status != PUBLIC:
        raise ValidationError({"status": _("A public value can only stay public or be retired.")})
    old, new = snapshot(current), snapshot(wanted)
    changed = {name for name in old if old[name] != new[name]}
    if wanted.accelerator_id != current.accelerator_id:
        raise ValidationError(
            {"accelerator": _("A value cannot move to another accelerator. Retire it and add a new one.")}
        )
    if not changed:
        raise ValidationError(_("Nothing to change."))
    if "is_preferred" in changed and current.is_preferred:
        raise ValidationError({"is_preferred": _("To change the preferred value, mark another value as preferred.")})
    return Proposal.Action.PREFER if changed == {"is_preferred"} else Proposal.Action.CHANGE


def open_proposals_like(proposal: Proposal) -> QuerySet[Proposal]:
    """Undecided proposals for the same value, or for the same addition."""
    rows = Proposal.objects.filter(state__in=Proposal.OPEN)
    if proposal.target is not None:
        return rows.filter(target=proposal.target)
    return rows.filter(
        action=Proposal.Action.ADD,
        accelerator=proposal.accelerator,
        field=proposal.field,
        condition=proposal.condition,
        source=proposal.source,
    )


def _replace_authors_open(proposal: Proposal, by: User) -> None:
    """Withdraw the author's open proposal for the same value."""
    open_proposals_like(proposal).filter(proposed_by=by).update(
        state=Proposal.State.WITHDRAWN,
        decided_by=by,
        decided_at=timezone.now(),
        answer="replaced by a newer proposal",
    )
