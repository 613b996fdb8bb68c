from django.apps import AppConfig


class LabDeskConfig(AppConfig):
    name = "stackviz.desk.labs"
    label = "lab_desk"  # `labs` is the label of the tables
