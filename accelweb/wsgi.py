"""The WSGI application that gunicorn serves: `gunicorn accelweb.wsgi`."""

import os
from importlib import import_module

import django
from django.conf import settings
from django.core.wsgi import get_wsgi_application

from stackviz.web.postgresql import connection

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "accelweb.settings")

if gate := os.environ.get("UP_GATE"):  # `make run`: import the site while tables, data and static files are prepared
    django.setup(set_prefix=False)
    import_module(settings.ROOT_URLCONF)
    os.read(int(gate), 1)  # at its end once the supervisor has closed the other

application = get_wsgi_application()

# Commands and workers may take longer over a statement; a request has a thread that others wait for.
connection.limit_statements(settings.DATABASE_TIMEOUT_S)
