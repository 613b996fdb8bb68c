from django.apps import AppConfig


class ResultsConfig(AppConfig):
    name = "stackviz.results"
    default_auto_field = "django.db.models.BigAutoField"
