"""Settings for the tests: the site's own, with a throw-away `var/`, quick password hashes and plain static files."""

import os
import tempfile

os.environ.setdefault("VAR_DIR", tempfile.mkdtemp(prefix="accelweb-tests-"))
os.environ.setdefault("SECRET_KEY", "only-for-tests-" + "x" * 50)
os.environ.setdefault("READS_PER_MINUTE", str(10**9))  # all tests are one client

from accelweb.settings import *  # noqa: F403
from accelweb.settings import MIDDLEWARE, STORAGES

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = {**STORAGES, "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = True
WARM_PAGES = False  # tests/deploy/test_warm.py prepares pages itself
MIDDLEWARE = [*MIDDLEWARE, "tests.layout.PagesOnOneLine"]
