from django.apps import AppConfig


class SearchConfig(AppConfig):
    name = "stackviz.pages.search"

    def ready(self) -> None:
        from stackviz.pages.search.words_of_machines import follow_names

        follow_names()
