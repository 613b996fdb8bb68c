from django.apps import AppConfig


class StackPagesConfig(AppConfig):
    name = "stackviz.pages.stacks"
    label = "stack_pages"  # `stacks` is the label of the tables
