from django.apps import AppConfig


class PagesConfig(AppConfig):
    name = "stackviz.pages.home"

    def ready(self) -> None:
        from stackviz.pages.home import checks  # noqa: F401  registers them
