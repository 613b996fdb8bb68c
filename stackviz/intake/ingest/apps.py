from django.apps import AppConfig


class IngestConfig(AppConfig):
    name = "stackviz.intake.ingest"
    default_auto_field = "django.db.models.BigAutoField"
