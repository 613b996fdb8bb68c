from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class CatalogConfig(AppConfig):
    name = "stackviz.catalog"
    verbose_name = _("Catalogue")
    default_auto_field = "django.db.models.BigAutoField"
