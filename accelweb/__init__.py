"""Wiring of the site: settings, urls, Celery, WSGI. Nothing in `stackviz` imports it."""

from accelweb.celery import app as celery_app

__all__ = ["celery_app"]
