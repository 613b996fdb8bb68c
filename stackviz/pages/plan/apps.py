from django.apps import AppConfig


class PlanConfig(AppConfig):
    name = "stackviz.pages.plan"
    default_auto_field = "django.db.models.BigAutoField"
