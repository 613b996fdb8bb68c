from django.apps import AppConfig


class SearchConfig(AppConfig):
    name = "stackviz.search"
    default_auto_field = "django.db.models.BigAutoField"
