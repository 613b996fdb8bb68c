from django.apps import AppConfig


class DiagnoseConfig(AppConfig):
    name = "stackviz.diagnose"
    default_auto_field = "django.db.models.BigAutoField"
