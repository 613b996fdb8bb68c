from django.apps import AppConfig
from django.db.models.signals import post_delete, post_save


class StacksConfig(AppConfig):
    name = "stackviz.stacks"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from stackviz.catalog.models import Source
        from stackviz.stacks import models

        rooms = (models.Stack, models.Component, models.Placement, models.Call, models.Counterpart, models.Release)
        for model in (*rooms, models.Requirement, Source):
            for signal in (post_save, post_delete):
                signal.connect(models.Edition.renew, sender=model, dispatch_uid=f"edition {model.__name__}")
