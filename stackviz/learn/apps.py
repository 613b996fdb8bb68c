from django.apps import AppConfig


class LearnConfig(AppConfig):
    name = "stackviz.learn"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from stackviz.learn import checks  # noqa: F401  registers it
