from django.apps import AppConfig


class ResultsConfig(AppConfig):
    name = "stackviz.pages.benchmarks"
    label = "benchmark_pages"  # stackviz.records.series has the plain one
    default_auto_field = "django.db.models.BigAutoField"
