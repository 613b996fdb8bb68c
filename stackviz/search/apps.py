from django.apps import AppConfig


class SearchConfig(AppConfig):
    name = "stackviz.search"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from stackviz.search.words_of_machines import follow_names

        follow_names()
