from django.apps import AppConfig


class MachinesConfig(AppConfig):
    name = "stackviz.pages.machines"
    default_auto_field = "django.db.models.BigAutoField"
