from django.apps import AppConfig


class SharingConfig(AppConfig):
    name = "stackviz.pages.sharing"

    def ready(self) -> None:
        from stackviz.pages.sharing import hosts  # noqa: F401 - registers its system check
