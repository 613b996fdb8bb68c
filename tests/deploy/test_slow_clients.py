"""Clients that go silent halfway hold the site up for a moment, not for as long as they like."""

import socket
import time
import urllib.request

import pytest
from gunicorn.workers import gthread

from tests.live import ROOT


@pytest.fixture
def soon_impatient(tmp_path) -> str:
    """Our gunicorn.conf.py with a second instead of ten, as three waits follow each other; test_gunicorn.py has the ten."""
    ours = (ROOT / "gunicorn.conf.py").read_text()
    sooner = ours.replace("\nSILENT_FOR_S = 10 ", "\nSILENT_FOR_S = 1 ")
    assert sooner != ours
    # gunicorn's own five for the rest of a body that nobody reads
    assert gthread.DEFAULT_WORKER_DATA_TIMEOUT == 5
    sooner += "\nfrom gunicorn.workers import gthread\ngthread.DEFAULT_WORKER_DATA_TIMEOUT = 1.0\n"
    (tmp_path / "soon.conf.py").write_text(sooner)
    return f"--config {tmp_path / 'soon.conf.py'}"


@pytest.mark.parametrize(
    "piece",
    [
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n",
        b"POST /api/v1/reports/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{",
    ],
    ids=["half a head", "half a body"],
)
def test_a_dozen_half_sent_requests_give_their_threads_back(new_site, soon_impatient, piece):
    site = new_site(GUNICORN_CMD_ARGS=soon_impatient)
    site.start_web()
    silent = [socket.create_connection(("127.0.0.1", site.port), timeout=5) for _ in range(12)]
    try:
        for client in silent:
            client.sendall(piece)
        time.sleep(0.5)
        # The worst case: one process has accepted all twelve and frees its four threads every second.
        with urllib.request.urlopen(f"http://127.0.0.1:{site.port}/health/", timeout=30) as answer:
            assert answer.status == 200
    finally:
        for client in silent:
            client.close()
