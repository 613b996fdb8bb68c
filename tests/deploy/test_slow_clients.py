"""Clients that go silent halfway hold the site up for a moment, not for as long as they like."""

import socket
import time
import urllib.request

import pytest


@pytest.mark.parametrize(
    "piece",
    [
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n",
        b"POST /api/v1/reports/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{",
    ],
    ids=["half a head", "half a body"],
)
def test_a_dozen_half_sent_requests_give_their_threads_back(new_site, piece):
    site = new_site()
    site.start_web()
    silent = [socket.create_connection(("127.0.0.1", site.port), timeout=5) for _ in range(12)]
    try:
        for client in silent:
            client.sendall(piece)
        time.sleep(1)
        # The worst case: one process has accepted all twelve and frees its four threads every ten seconds.
        with urllib.request.urlopen(f"http://127.0.0.1:{site.port}/health/", timeout=60) as answer:
            assert answer.status == 200
    finally:
        for client in silent:
            client.close()
