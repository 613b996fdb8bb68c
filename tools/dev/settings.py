"""Settings of `make dev`: the site's own, in var/dev, with DEBUG; TOOLBAR=1 adds django-debug-toolbar."""

import os
from pathlib import Path

os.environ["VAR_DIR"] = str(Path(__file__).resolve().parents[2] / "var" / "dev")
os.environ["DEBUG"] = "1"
os.environ["DATABASE_URL"] = os.environ["REDIS_URL"] = os.environ["HTTPS"] = os.environ["ALLOWED_HOSTS"] = ""

from accelweb.settings import *  # noqa: F403
from accelweb.settings import INSTALLED_APPS, MIDDLEWARE

CELERY_TASK_ALWAYS_EAGER = True  # there is no worker: a report is read while it is uploaded
CURATION_APPROVALS = 1
MIDDLEWARE = ["tools.dev.middleware.answer_in_full", *MIDDLEWARE]

if os.environ.get("TOOLBAR", "0") not in {"", "0", "no"}:
    INSTALLED_APPS = [*INSTALLED_APPS, "debug_toolbar"]
    inside = MIDDLEWARE.index("django.middleware.gzip.GZipMiddleware") + 1
    MIDDLEWARE = [*MIDDLEWARE[:inside], "debug_toolbar.middleware.DebugToolbarMiddleware", *MIDDLEWARE[inside:]]
    INTERNAL_IPS = ["127.0.0.1", "::1"]
    ROOT_URLCONF = "tools.dev.urls"
