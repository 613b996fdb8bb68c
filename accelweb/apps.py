"""Which static files of installed packages are left out: no page uses them, and compressing them takes seconds."""

from django.contrib.staticfiles.apps import StaticFilesConfig


class UsedStaticFilesConfig(StaticFilesConfig):
    ignore_patterns = [*StaticFilesConfig.ignore_patterns, "ninja", "hx-*", "htmx-4*", "htmax-4*"]
