"""The WSGI application that gunicorn serves: `gunicorn accelweb.wsgi`."""

import os

from django.conf import settings
from django.core.wsgi import get_wsgi_application

from stackviz.web.postgresql import connection

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "accelweb.settings")

application = get_wsgi_application()

# Commands and workers may take longer over a statement; a request has a thread that others wait for.
connection.limit_statements(settings.DATABASE_TIMEOUT_S)
