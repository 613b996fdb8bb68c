from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class DiagnoseConfig(AppConfig):
    name = "stackviz.pages.diagnose"
    verbose_name = _("Diagnose")
