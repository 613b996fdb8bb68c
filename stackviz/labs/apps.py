from django.apps import AppConfig


class LabsConfig(AppConfig):
    name = "stackviz.labs"
    default_auto_field = "django.db.models.BigAutoField"
