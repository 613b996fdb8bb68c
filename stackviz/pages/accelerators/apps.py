from django.apps import AppConfig


class AcceleratorsConfig(AppConfig):
    name = "stackviz.pages.accelerators"
