from django.apps import AppConfig


class BenchmarksConfig(AppConfig):
    name = "stackviz.benchmarks"
    default_auto_field = "django.db.models.BigAutoField"
