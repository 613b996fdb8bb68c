"""What gunicorn does when it listens, and when one of its workers starts."""

import gc
import runpy
import socket
import struct
import sys
from pathlib import Path
from types import SimpleNamespace

from django.conf import settings
from gunicorn.app.wsgiapp import WSGIApplication


def test_what_listens_waits_ten_seconds_for_a_silent_client(monkeypatch):
    """With the file that gunicorn reads where none is named."""
    monkeypatch.chdir(settings.BASE_DIR)
    monkeypatch.setattr(sys, "argv", ["gunicorn", "accelweb.wsgi"])
    monkeypatch.delenv("GUNICORN_CMD_ARGS", raising=False)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        WSGIApplication("").cfg.when_ready(SimpleNamespace(LISTENERS=[SimpleNamespace(sock=listener)]))
        waits = listener.getsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.calcsize("ll"))
    assert struct.unpack("ll", waits) == (10, 0)


def test_worker_freezes_what_is_loaded():
    found = runpy.run_path(str(Path(settings.BASE_DIR) / "gunicorn.conf.py"))
    try:
        found["post_worker_init"](None)
        assert gc.get_freeze_count() > 100_000
        assert len(gc.get_objects()) < 1_000
    finally:
        gc.unfreeze()
