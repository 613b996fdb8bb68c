from django.apps import AppConfig

from stackviz.web.model_labels import translate_all

translate_all()  # apps are imported before models


class WebConfig(AppConfig):
    name = "stackviz.web"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from stackviz.web import squashed  # noqa: F401 - registers its check; needs models
