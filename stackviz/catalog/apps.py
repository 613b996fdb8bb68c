from django.apps import AppConfig
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy as _


class CatalogConfig(AppConfig):
    name = "stackviz.catalog"
    verbose_name = _("Catalogue")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from stackviz.catalog import models
        from stackviz.catalog.curation.groups import make_groups

        # After a migration, when the permissions are there.
        post_migrate.connect(make_groups, sender=self, dispatch_uid="the curators' groups")

        models.CatalogueEdition.renew_with(
            models.Vendor, models.Source, models.Accelerator, models.SpecValue, models.Alias
        )
