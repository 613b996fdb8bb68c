from django.apps import AppConfig


class ExploreConfig(AppConfig):
    name = "stackviz.pages.explore"
    default_auto_field = "django.db.models.BigAutoField"
