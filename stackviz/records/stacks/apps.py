from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class StacksConfig(AppConfig):
    name = "stackviz.records.stacks"
    verbose_name = _("Stacks")

    def ready(self) -> None:
        from stackviz.records.catalog.models import CatalogueLoad, Source
        from stackviz.records.stacks import models

        rooms = (models.Stack, models.Component, models.Placement, models.Call, models.Counterpart, models.UnfilledRole)
        # A load of the catalogue writes sources in bulk, without a signal of their own.
        models.Edition.renew_with(*rooms, models.Release, models.Requirement, models.TableCheck, Source, CatalogueLoad)
