from django.apps import AppConfig


class SharingConfig(AppConfig):
    name = "stackviz.sharing"
    default_auto_field = "django.db.models.BigAutoField"
