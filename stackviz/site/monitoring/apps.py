from django.apps import AppConfig


class MonitoringConfig(AppConfig):
    name = "stackviz.site.monitoring"

    def ready(self) -> None:
        from stackviz.site.monitoring import heartbeats  # noqa: F401  connects its signals
