from typing import Any

from django.apps import AppConfig, apps
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy as _


class CurationConfig(AppConfig):
    name = "stackviz.desk.curation"
    verbose_name = _("Curation")

    def ready(self) -> None:
        # The permissions belong to the catalogue's models: they are there after its migration.
        catalog = apps.get_app_config("catalog")
        post_migrate.connect(make_groups, sender=catalog, dispatch_uid="the curators' groups")


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


def make_groups(**_signal: Any) -> None:  # noqa: ANN401 (a receiver)
    """Create missing groups; existing ones keep the permissions an admin gave them."""
    from django.contrib.auth.models import Group, Permission

    for name, codenames in _RIGHTS.items():
        group, is_new = Group.objects.get_or_create(name=name)
        if is_new:
            rights = Permission.objects.filter(content_type__app_label="catalog", codename__in=codenames)
            group.permissions.set(rights)
