"""Addresses of pages that declare them beside their view, so that a new page is there by being written."""

from types import ModuleType

from django.urls import URLPattern

from stackviz.base.discovery import modules_of

__all__ = ["declared_in"]


def declared_in(room: ModuleType) -> list[URLPattern]:
    """What the modules of a room name `urlpatterns`, its own urls.py left out."""
    modules = [module for module in modules_of(room) if module.__name__ != f"{room.__name__}.urls"]
    return [pattern for module in modules for pattern in getattr(module, "urlpatterns", [])]
