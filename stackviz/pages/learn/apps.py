from django.apps import AppConfig


class LearnConfig(AppConfig):
    name = "stackviz.pages.learn"

    def ready(self) -> None:
        from stackviz.pages.learn import checks  # noqa: F401  registers it
