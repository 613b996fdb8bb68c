from django.apps import AppConfig

from stackviz.labs.signals import reports_leave


class BenchmarksConfig(AppConfig):
    name = "stackviz.benchmarks"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from stackviz.benchmarks.forgetting import note_series

        reports_leave.connect(note_series)
