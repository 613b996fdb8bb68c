from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class FreshnessConfig(AppConfig):
    name = "stackviz.desk.freshness"
    label = "watch"  # of its tables since before this room was called freshness
    verbose_name = _("Watch")
