from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class NoticesConfig(AppConfig):
    name = "stackviz.notices"
    verbose_name = _("Events of labs")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from stackviz.notices.audited import watch_notices

        watch_notices()
