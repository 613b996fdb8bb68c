from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class LabsConfig(AppConfig):
    name = "stackviz.records.labs"
    verbose_name = _("Labs")

    def ready(self) -> None:
        from stackviz.records.labs.audited import watch_labs

        watch_labs()
