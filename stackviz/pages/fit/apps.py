from django.apps import AppConfig


class FitConfig(AppConfig):
    name = "stackviz.pages.fit"
    default_auto_field = "django.db.models.BigAutoField"
