from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class CitedConfig(AppConfig):
    name = "stackviz.records.cited"
    verbose_name = _("Cited results")

    def ready(self) -> None:
        from stackviz.records.cited import models
        from stackviz.records.hosts.models import Host

        models.CitedEdition.renew_with(models.CitedSource, models.CitedResult, Host)
