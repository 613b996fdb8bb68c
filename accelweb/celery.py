"""The Celery application: `celery -A accelweb worker`."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "accelweb.settings")

app = Celery("accelweb")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
