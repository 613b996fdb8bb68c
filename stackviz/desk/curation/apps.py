from django.apps import AppConfig, apps
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy as _


class CurationConfig(AppConfig):
    name = "stackviz.desk.curation"
    verbose_name = _("Curation")

    def ready(self) -> None:
        from stackviz.desk.curation.groups import make_groups

        # The permissions belong to the catalogue's models: they are there after its migration.
        catalog = apps.get_app_config("catalog")
        post_migrate.connect(make_groups, sender=catalog, dispatch_uid="the curators' groups")
