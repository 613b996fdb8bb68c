"""The Celery application: `celery -A accelweb worker`."""

import logging
import logging.config
import os

from celery import Celery
from celery.signals import setup_logging

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "accelweb.settings")

app = Celery("accelweb")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@setup_logging.connect
def log_as_the_site_does(loglevel: int | None = None, **_rest: object) -> None:
    """Instead of Celery's own: one format and no secrets. Celery's `--loglevel` is for its own loggers, as before."""
    from django.conf import settings

    logging.config.dictConfig(settings.LOGGING)
    logging.getLogger("celery").setLevel(loglevel or logging.INFO)
