from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class HostsConfig(AppConfig):
    name = "stackviz.records.hosts"
    verbose_name = _("Public hosts")

    def ready(self) -> None:
        from stackviz.records.hosts import models

        models.HostEdition.renew_with(models.Host, models.HostCard, models.HostComponent)
