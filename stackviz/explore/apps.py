from django.apps import AppConfig


class ExploreConfig(AppConfig):
    name = "stackviz.explore"
    default_auto_field = "django.db.models.BigAutoField"
