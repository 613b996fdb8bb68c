"""Withdraw a person: the account goes; what it decided stays, as decided by nobody in particular."""

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from stackviz.audit.record import record
from stackviz.labs.models import Lab, Membership


def why_needed(user: User) -> list[str]:
    """Why the account cannot go yet, in sentences: a lab would have no owner, or the site no superuser. Two queries."""
    owned = Lab.objects.filter(memberships__user=user, memberships__role=Membership.Role.OWNER)
    others = Membership.objects.filter(role=Membership.Role.OWNER).exclude(user=user).values("lab")
    alone = owned.exclude(pk__in=others)
    problems = [
        _("%(lab)s has no other owner. Name one, or withdraw the lab first.") % {"lab": lab.name} for lab in alone
    ]
    if user.is_superuser and not User.objects.filter(is_superuser=True, is_active=True).exclude(pk=user.pk).exists():
        problems.append(_("This is the only superuser. Make another one first."))
    return problems


@transaction.atomic
def withdraw_person(user: User, by: User | None = None) -> dict[str, int]:
    """Delete the account -> table -> rows. Raises ValidationError where it is needed (`why_needed`).

    Logins end at once. Keys that it made belong to the lab and go on working.
    """
    locked = User.objects.select_for_update().get(pk=user.pk)
    if problems := why_needed(locked):
        raise ValidationError(problems)
    number = locked.pk
    _total, gone = locked.delete()
    record("account.withdrawn", f"account {number}", by, rows=gone)
    return gone
