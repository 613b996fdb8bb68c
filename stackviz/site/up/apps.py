from django.apps import AppConfig


class UpConfig(AppConfig):
    name = "stackviz.site.up"
