"""Who may change what belongs to a lab: its owners, and staff with the permission."""

from django.contrib.auth.models import PermissionsMixin

from stackviz.labs.models import Lab, Membership
from stackviz.labs.queries import Visitor


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
