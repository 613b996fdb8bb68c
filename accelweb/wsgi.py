"""The WSGI application that gunicorn serves: `gunicorn accelweb.wsgi`."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "accelweb.settings")

application = get_wsgi_application()
