"""Withdraw a person: the account goes; what it decided stays, as decided by nobody in particular."""

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from stackviz.records.audit.record import record
from stackviz.records.labs.models import Lab, Membership


def why_needed(*users: User) -> list[str]:
    """Why these accounts cannot all go yet, in sentences: a lab would have no owner, or the site no superuser.

    Two queries.
    """
    owned = Lab.objects.filter(memberships__user__in=users, memberships__role=Membership.Role.OWNER).distinct()
    others = Membership.objects.filter(role=Membership.Role.OWNER).exclude(user__in=users).values("lab")
    alone = owned.exclude(pk__in=others)
    problems = [
        _("%(lab)s has no other owner. Name one, or withdraw the lab first.") % {"lab": lab.name} for lab in alone
    ]
    pks = [user.pk for user in users]
    if any(user.is_superuser for user in users) and not _superusers().exclude(pk__in=pks).exists():
        problems.append(_("There is no other superuser. Make one first."))
    return problems


def _superusers() -> QuerySet[User]:
    return User.objects.filter(is_superuser=True, is_active=True)


def _locked(user: User) -> User:
    """The account, with all that `why_needed` reads about it locked: of two last owners who go at once, one stays.

    In the order of keys, labs first, as the admin saves a lab before its members.
    """
    is_owner = Q(memberships__user=user, memberships__role=Membership.Role.OWNER)
    list(Lab.objects.filter(is_owner).order_by("pk").select_for_update(of=("self",), no_key=True))
    accounts = (_superusers() | User.objects.filter(pk=user.pk)).order_by("pk").select_for_update()
    locked = {account.pk: account for account in accounts}
    if user.pk not in locked:
        raise ValidationError(_("This account is gone already."))
    return locked[user.pk]


@transaction.atomic
def withdraw_person(user: User, by: User | None = None) -> dict[str, int]:
    """Delete the account -> table -> rows. Raises ValidationError where it is needed (`why_needed`).

    Logins end at once. Keys that it made belong to the lab and go on working.
    """
    locked = _locked(user)
    if problems := why_needed(locked):
        raise ValidationError(problems)
    number = locked.pk
    _total, gone = locked.delete()
    record("account.withdrawn", f"account {number}", by, rows=gone)
    return gone
