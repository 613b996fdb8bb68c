from django.apps import AppConfig


class PagesConfig(AppConfig):
    name = "stackviz.pages"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from stackviz.pages import checks  # noqa: F401  registers them
