from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class NoticesConfig(AppConfig):
    name = "stackviz.intake.notices"
    verbose_name = _("Events of labs")

    def ready(self) -> None:
        from stackviz.intake.notices.audited import watch_notices

        watch_notices()
