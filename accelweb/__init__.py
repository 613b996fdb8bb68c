"""Wiring of the site: settings, urls, Celery, WSGI. Nothing in `stackviz` imports it."""

import gc

# Imports make 180,000 objects that stay: with Python's own 700 they are searched for cycles 420 times, an eighth of
# the time that a process takes to start.
gc.set_threshold(10_000, 20, 20)

from accelweb.celery import app as celery_app  # noqa: E402 (after the collector's limits)

__all__ = ["celery_app"]
