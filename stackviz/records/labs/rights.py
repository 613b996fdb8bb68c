"""Who may change what belongs to a lab: its members by their role, and staff with the permission."""

from dataclasses import dataclass

from django.contrib.auth.models import PermissionsMixin

from stackviz.records.labs.models import Lab, Membership
from stackviz.records.labs.queries import Visitor


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
