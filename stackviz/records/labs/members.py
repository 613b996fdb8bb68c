"""People of a lab: invited with a code that works once, given another role, taken out. A lab keeps an owner."""

import secrets
from datetime import datetime, timedelta

from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Case, Q, QuerySet, Value, When
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from stackviz.records.audit.record import record
from stackviz.records.labs.keys import key_digest
from stackviz.records.labs.models import Invitation, Lab, Membership

INVITED_FOR = timedelta(days=7)
OPEN_AT_MOST = 50
CODE_BYTES = 24
CODE_CHARS = 100
NO_SUCH_CODE = gettext_lazy("This code is unknown, used, withdrawn or too old. Ask the lab for a new one.")


def invite(lab: Lab, name: str, role: str, by_id: int) -> tuple[Invitation, str]:
    """A new invitation -> (row, code to show once). Raises ValidationError."""
    name = " ".join(name.split())
    if not name or len(name) > 100:
        raise ValidationError(_("Write who is invited, in at most 100 characters."))
    if role not in Membership.Role.values:
        raise ValidationError(_("Choose a role."))
    if open_invitations(lab).count() >= OPEN_AT_MOST:
        raise ValidationError(_("%(n)d invitations are open: withdraw some first.") % {"n": OPEN_AT_MOST})
    code = f"in_{secrets.token_urlsafe(CODE_BYTES)}"
    with transaction.atomic():  # with its entry in the audit log
        invitation = Invitation.objects.create(
            lab=lab,
            role=role,
            name=name,
            digest=key_digest(code),
            created_by_id=by_id,
            expires_at=timezone.now() + INVITED_FOR,
        )
    return invitation, code


def invitation_subject(invitation: Invitation) -> str:
    """How the audit log calls it: without who is invited."""
    return f"invitation {invitation.pk} to lab {invitation.lab_id}"


def lab_people(lab: Lab) -> QuerySet[Membership]:
    """Everybody of a lab with their account, owners first, then members and viewers, by name. One query."""
    rank = Case(*(When(role=role, then=Value(number)) for number, role in enumerate(reversed(_RANKS))))
    return lab.memberships.select_related("user").order_by(rank, "user__username")


def open_invitations(lab: Lab | None = None) -> QuerySet[Invitation]:
    """Those that can be accepted now, of a lab or of all."""
    rows = Invitation.objects.filter(_is_open(timezone.now()))
    return rows if lab is None else rows.filter(lab=lab)


def _is_open(now: datetime) -> Q:
    return Q(accepted_at__isnull=True, withdrawn_at__isnull=True, expires_at__gt=now)


def invitation_of(code: str) -> Invitation | None:
    """The open invitation with this code, with its lab. One query, none for what is no code."""
    code = code.strip()
    if not code or len(code) > CODE_CHARS:
        return None
    return open_invitations().filter(digest=key_digest(code)).select_related("lab").first()


def accept_invitation(code: str, user: AbstractBaseUser) -> Lab:
    """Let this person join; whoever is of the lab already keeps the role that allows more. Raises ValidationError.

    One UPDATE claims the invitation: of two who use the code at once one joins.
    """
    invitation = invitation_of(code)
    now = timezone.now()
    with transaction.atomic():
        claimed = invitation is not None and Invitation.objects.filter(_is_open(now), pk=invitation.pk).update(
            accepted_at=now, accepted_by_id=user.pk
        )
        if invitation is None or not claimed:
            raise ValidationError(NO_SUCH_CODE)
        record("invitation.accepted", invitation_subject(invitation), user, role=invitation.role)
        membership, is_new = Membership.objects.get_or_create(
            lab=invitation.lab, user_id=user.pk, defaults={"role": invitation.role}
        )
        if not is_new and _RANKS.index(invitation.role) > _RANKS.index(membership.role):
            membership.role = invitation.role
            membership.save(update_fields=["role"])
    return invitation.lab


_RANKS = [Membership.Role.VIEWER.value, Membership.Role.MEMBER.value, Membership.Role.OWNER.value]


def withdraw_invitation(invitation: Invitation) -> None:
    """Its code no longer works; one that was accepted meanwhile stays so."""
    still_open = Invitation.objects.filter(pk=invitation.pk, accepted_at__isnull=True, withdrawn_at__isnull=True)
    with transaction.atomic():
        if still_open.update(withdrawn_at=timezone.now()):
            record("invitation.withdrawn", invitation_subject(invitation))


def change_role(lab: Lab, user_id: int, role: str) -> None:
    """Raises ValidationError for an unknown role and for the last owner, Membership.DoesNotExist."""
    if role not in Membership.Role.values:
        raise ValidationError(_("Choose a role."))
    with transaction.atomic():
        membership = _locked(lab, user_id)
        if role != Membership.Role.OWNER:
            _check_another_owner(membership)
        membership.role = role
        membership.save(update_fields=["role"])


def remove_member(lab: Lab, user_id: int) -> None:
    """Their keys stay valid: machines use them. Raises ValidationError for the last owner, Membership.DoesNotExist."""
    with transaction.atomic():
        membership = _locked(lab, user_id)
        _check_another_owner(membership)
        membership.delete()


def _locked(lab: Lab, user_id: int) -> Membership:
    """The membership. The lab is locked first: two owners who take out each other at once must not both succeed."""
    Lab.objects.select_for_update().get(pk=lab.pk)
    return Membership.objects.get(lab=lab, user_id=user_id)


def _check_another_owner(membership: Membership) -> None:
    if membership.role != Membership.Role.OWNER:
        return
    others = Membership.objects.filter(lab=membership.lab_id, role=Membership.Role.OWNER).exclude(pk=membership.pk)
    if not others.exists():
        raise ValidationError(_("A lab needs an owner: make somebody else one first."))
