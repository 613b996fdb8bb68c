from django.apps import AppConfig


class SharingConfig(AppConfig):
    name = "stackviz.pages.sharing"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from stackviz.pages.sharing import hosts  # noqa: F401 - registers its system check
