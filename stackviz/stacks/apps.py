from django.apps import AppConfig


class StacksConfig(AppConfig):
    name = "stackviz.stacks"
    default_auto_field = "django.db.models.BigAutoField"
