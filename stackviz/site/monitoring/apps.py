from django.apps import AppConfig


class MonitoringConfig(AppConfig):
    name = "stackviz.site.monitoring"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from stackviz.site.monitoring import heartbeats  # noqa: F401  connects its signals
