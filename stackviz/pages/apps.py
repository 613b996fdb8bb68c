from django.apps import AppConfig


class PagesConfig(AppConfig):
    name = "stackviz.pages"
    default_auto_field = "django.db.models.BigAutoField"
