from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class BenchmarksConfig(AppConfig):
    name = "stackviz.records.series"
    label = "benchmarks"  # of its tables since before this folder was called series
    verbose_name = _("Benchmarks")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from stackviz.records.labs.delete_reports import reports_leave
        from stackviz.records.series.delete_results import note_series

        reports_leave.connect(note_series)
