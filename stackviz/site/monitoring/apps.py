from django.apps import AppConfig


class MonitoringConfig(AppConfig):
    name = "stackviz.site.monitoring"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from stackviz.site.monitoring import celery_signals  # noqa: F401  connects them
