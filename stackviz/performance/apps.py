from django.apps import AppConfig


class PerformanceConfig(AppConfig):
    name = "stackviz.performance"
    default_auto_field = "django.db.models.BigAutoField"
