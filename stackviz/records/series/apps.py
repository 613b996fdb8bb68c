from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class SeriesConfig(AppConfig):
    name = "stackviz.records.series"
    label = "benchmarks"  # of its tables since before this folder was called series
    verbose_name = _("Benchmarks")

    def ready(self) -> None:
        from stackviz.records.labs.delete_reports import reports_leave
        from stackviz.records.series.delete_results import note_series

        reports_leave.connect(note_series)
