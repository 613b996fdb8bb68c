from django.apps import AppConfig


class BackupsConfig(AppConfig):
    name = "stackviz.site.backups"
