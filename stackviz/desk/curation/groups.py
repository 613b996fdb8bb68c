"""User groups: curators propose, approvers decide. Created by `migrate`, then managed in the admin."""

from typing import Any

CURATORS, APPROVERS = "Curators", "Approvers"
_SEEN = ("accelerator", "specvalue", "alias", "source", "vendor", "proposal", "valueimport", "price")
_RIGHTS = {
    CURATORS: (
        *(f"view_{name}" for name in _SEEN),
        *(f"{verb}_{name}" for verb in ("add", "change") for name in ("specvalue", "source", "price")),
        "propose",
    ),
    APPROVERS: (*(f"view_{name}" for name in _SEEN), "approve"),
}


def make_groups(**_: Any) -> None:  # noqa: ANN401 - as a signal's receiver
    """Create missing groups; existing ones keep the permissions an admin gave them."""
    from django.contrib.auth.models import Group, Permission

    for name, codenames in _RIGHTS.items():
        group, is_new = Group.objects.get_or_create(name=name)
        if is_new:
            rights = Permission.objects.filter(content_type__app_label="catalog", codename__in=codenames)
            group.permissions.set(rights)
