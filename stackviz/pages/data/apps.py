from django.apps import AppConfig


class OpenDataConfig(AppConfig):
    name = "stackviz.pages.data"
    default_auto_field = "django.db.models.BigAutoField"
