"""What gunicorn needs to know wherever it is started: a client that goes silent halfway gives its thread back.

gthread reads headers and bodies with a blocking socket and no time-out: a dozen half-sent requests would hold every
thread. A proxy that buffers requests is the better answer (docs/operations.md); this holds without one.
"""

import socket
import struct
from typing import Any

SILENT_FOR_S = 10  # between two pieces of a request; a lab's worst link sends something sooner


def when_ready(server: Any) -> None:  # noqa: ANN401 (gunicorn has no types)
    """Accepted sockets inherit the time-out of the one they came in by."""
    for listener in server.LISTENERS:
        listener.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", SILENT_FOR_S, 0))
