"""Settings of the yardstick: the database of the site it is compared with, and nothing that costs time."""

from accelweb.settings import *  # noqa: F403

INSTALLED_APPS = ["bench.bare"]
MIDDLEWARE = ["django.middleware.gzip.GZipMiddleware", "django.middleware.common.CommonMiddleware"]
ROOT_URLCONF = "bench.bare.urls"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
TEMPLATES: list[object] = []
