"""What gunicorn needs to know wherever it is started: silent clients give their thread back, and no log opens a link.

gthread reads headers and bodies with a blocking socket and no time-out: a dozen half-sent requests would hold every
thread. The front that buffers requests is the better answer (docs/deployment.md); this holds without one.
"""

import gc
import socket
import struct
from typing import Any

from django.conf import settings
from gunicorn.glogging import Logger

from accelweb.env import env_text
from accelweb.logs import FORMATTERS, clean_line

SILENT_FOR_S = 10  # between two pieces of a request; a lab's worst link sends something sooner


def when_ready(server: Any) -> None:  # noqa: ANN401 (gunicorn has no types)
    """Accepted sockets inherit the time-out of the one they came in by."""
    for listener in server.LISTENERS:
        listener.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", SILENT_FOR_S, 0))


def post_worker_init(worker: Any) -> None:  # noqa: ANN401, ARG001 (gunicorn has no types)
    """What is loaded by now, some 180,000 objects, lives as long as the worker: the collector need not visit it again.

    A full collection stops a request for 27 ms instead of 129 (measured with the catalogue in memory). Then pages are
    prepared beside the requests.
    """
    gc.collect()
    gc.freeze()
    if settings.WARM_PAGES:
        from accelweb.warm import keep_warm  # needs the site, which is loaded by now

        keep_warm()


access_log_format = '%(h)s %(t)s "%(r)s" %(s)s %(b)s %(M)sms "%(f)s" "%(a)s" request=%({x-request-id}o)s'


class logger_class(Logger):  # type: ignore[misc]  # noqa: N801 (gunicorn's name; it has no types)
    """gunicorn's logs in the format of the site's, LOG_FORMAT; without the words of private links and other secrets."""

    def setup(self, cfg: Any) -> None:  # noqa: ANN401
        super().setup(cfg)
        if env_text("LOG_FORMAT") == "json":
            for handler in (*self.error_log.handlers, *self.access_log.handlers):
                handler.setFormatter(FORMATTERS["json"]())

    def atoms(self, *request: Any) -> dict[str, Any]:  # noqa: ANN401
        told: dict[str, Any] = super().atoms(*request)
        return {name: clean_line(value) if isinstance(value, str) else value for name, value in told.items()}
