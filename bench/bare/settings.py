"""Settings of the yardstick: the database of the site it is compared with, and nothing that costs time."""

from accelweb.settings import *  # noqa: F403
from accelweb.settings import BASE_DIR

INSTALLED_APPS = ["bench.bare"]
MIDDLEWARE = ["django.middleware.common.CommonMiddleware"]
ROOT_URLCONF = "bench.bare.urls"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "bench" / "bare"],
        "OPTIONS": {
            "loaders": [("django.template.loaders.cached.Loader", ["django.template.loaders.filesystem.Loader"])]
        },
    }
]
