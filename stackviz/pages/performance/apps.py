from django.apps import AppConfig


class PerformanceConfig(AppConfig):
    name = "stackviz.pages.performance"
    default_auto_field = "django.db.models.BigAutoField"
