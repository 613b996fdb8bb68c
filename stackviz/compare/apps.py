from django.apps import AppConfig


class CompareConfig(AppConfig):
    name = "stackviz.compare"
    default_auto_field = "django.db.models.BigAutoField"
