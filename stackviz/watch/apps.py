from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class WatchConfig(AppConfig):
    name = "stackviz.watch"
    verbose_name = _("Watch")
    default_auto_field = "django.db.models.BigAutoField"
