from django.apps import AppConfig


class LearnConfig(AppConfig):
    name = "stackviz.pages.learn"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from stackviz.pages.learn import checks  # noqa: F401  registers it
