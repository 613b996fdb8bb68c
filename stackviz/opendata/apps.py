from django.apps import AppConfig


class OpenDataConfig(AppConfig):
    name = "stackviz.opendata"
    default_auto_field = "django.db.models.BigAutoField"
