from django.apps import AppConfig


class CompareConfig(AppConfig):
    name = "stackviz.pages.compare"
    default_auto_field = "django.db.models.BigAutoField"
