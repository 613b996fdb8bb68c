from django.apps import AppConfig


class PlanConfig(AppConfig):
    name = "stackviz.plan"
    default_auto_field = "django.db.models.BigAutoField"
