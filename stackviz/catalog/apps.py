from django.apps import AppConfig


class CatalogConfig(AppConfig):
    name = "stackviz.catalog"
    default_auto_field = "django.db.models.BigAutoField"
