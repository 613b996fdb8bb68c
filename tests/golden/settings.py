"""Settings of the seeded site: the site's own, tasks in the process that sends them, plain static files, no limits."""

from accelweb.settings import *  # noqa: F403
from accelweb.settings import STORAGES

ALLOWED_HOSTS = ["testserver", "127.0.0.1", "localhost"]
CELERY_TASK_ALWAYS_EAGER = True
CELERY_TASK_EAGER_PROPAGATES = True
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = {**STORAGES, "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = True
