from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class CatalogConfig(AppConfig):
    name = "stackviz.records.catalog"
    verbose_name = _("Catalogue")

    def ready(self) -> None:
        from stackviz.records.catalog import models

        models.CatalogueEdition.renew_with(
            models.Vendor, models.Source, models.Accelerator, models.SpecValue, models.Price, models.Alias
        )
