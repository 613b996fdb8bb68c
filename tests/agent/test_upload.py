"""Sending one report: what is tried again, what is not, and what never leaves."""

import json
import socket
import time
from email.utils import formatdate

import pytest

from stackviz.agent.upload import Server, ServerError, UploadOutcome, deliver
from stackviz.report.format import parse_report, to_json
from tests.agent.sites import ACCEPTED, FakeTime, Reply, answer_only, answering, site
from tests.report.format.reports import report_body

KEY = "aw_abcdefgh_not-a-real-key-only-for-tests"


def send(url, replies=None, within_s=60.0, time_=None):
    report = parse_report(report_body())
    time_ = time_ or FakeTime()
    said = []
    delivery = deliver(
        Server(url, KEY), report, to_json(report).encode(), time_.clock.monotonic() + within_s, time_.clock, said.append
    )
    return delivery, time_, said


def test_a_report_is_sent_with_its_key_compressed():
    with site(ACCEPTED, Reply(200)) as made:
        delivery, _, _ = send(made.url)
        again, _, _ = send(made.url)
    headers, document = made.received[0]
    assert (delivery.outcome, delivery.was_new) == (UploadOutcome.DELIVERED, True)
    assert (headers["authorization"], headers["content-encoding"]) == (f"Bearer {KEY}", "gzip")
    assert document["format"] == 1
    assert delivery.receipt_url == f"{made.url}/receipts/{document['id']}/"
    assert (again.outcome, again.was_new) == (UploadOutcome.DELIVERED, False)


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504, 408, 425])
def test_what_may_pass_is_tried_again(status):
    with site(Reply(status, "{}"), Reply(status, "busy"), ACCEPTED) as made:
        delivery, time_, said = send(made.url)
    assert (delivery.outcome, delivery.attempts) == (UploadOutcome.DELIVERED, 3)
    assert time_.slept == [1.0, 2.0]
    assert said[0] == f"the site answered {status}; trying again in 1 s"


def test_waits_double_up_to_a_minute_and_end_at_the_deadline():
    with site(Reply(503, "{}")) as made:
        delivery, time_, _ = send(made.url, within_s=200)
        _, early, _ = send(made.url, within_s=1, time_=FakeTime(jitter=lambda: 0.0))  # agents do not return in step
    assert (delivery.outcome, delivery.status) == (UploadOutcome.NOT_IN_TIME, 503)
    assert time_.slept == [1, 2, 4, 8, 16, 32, 60, 60]
    assert early.slept[0] == 0.5


SECONDS_30 = ["30", formatdate(1_000_030.0, usegmt=True)]
STRANGE = ["soon", "-5", "1e9", "99999999999999", "", "\u00b2"]


@pytest.mark.parametrize(
    ("header", "wait_s"), [*((text, 30.25) for text in SECONDS_30), *((text, 1.0) for text in STRANGE)]
)
def test_retry_after_is_honoured_or_passed_over(header, wait_s):
    with site(Reply(429, "{}", {"Retry-After": header}), ACCEPTED) as made:
        _, time_, _ = send(made.url)
    assert time_.slept == [wait_s]


@pytest.mark.parametrize(
    ("status", "word"),
    [(403, "a proxy does not let"), (407, "the proxy wants a login"), (413, "4 MiB"), (400, "proxy"), (415, "proxy")],
)
def test_refusal_by_a_proxy_is_not_final(status, word):
    with site(Reply(status, "<html><center>nginx</center></html>")) as made:
        delivery, _, _ = send(made.url)
    assert delivery.outcome is UploadOutcome.WRONG_SERVER
    assert f"between this machine and the site answered {status}" in delivery.text
    assert word in delivery.text


def test_a_wait_beyond_the_deadline_is_not_waited():
    with site(Reply(429, "{}", {"Retry-After": "3600"})) as made:
        delivery, time_, _ = send(made.url)
    assert (delivery.outcome, delivery.attempts, time_.slept) == (UploadOutcome.NOT_IN_TIME, 1, [])


@pytest.mark.parametrize(
    ("statuses", "outcome"),
    [
        ((401, 403), UploadOutcome.KEY_REFUSED),
        ((400, 409, 413, 422), UploadOutcome.REJECTED),
        ((404, 405), UploadOutcome.WRONG_SERVER),
    ],
)
def test_what_cannot_pass_is_not_tried_again(statuses, outcome):
    for status in statuses:
        with site(Reply(status, '{"error": "is missing", "field": "format"}')) as made:
            delivery, time_, _ = send(made.url)
        assert (delivery.outcome, delivery.attempts, time_.slept) == (outcome, 1, []), status
        assert "is missing" in delivery.text


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_takes_neither_report_nor_key_elsewhere(status):
    with site() as elsewhere, site(Reply(status, "", {"Location": f"{elsewhere.url}/api/v1/reports/"})) as made:
        delivery, _, _ = send(made.url)
        made.key_reply = Reply(status, "", {"Location": f"{elsewhere.url}/api/v1/key/"})
        assert Server(made.url, KEY).get_key().status == status
    assert elsewhere.received == elsewhere.key_checks == []
    assert delivery.outcome is UploadOutcome.WRONG_SERVER
    assert elsewhere.url in delivery.text


@pytest.mark.parametrize("location", ["file:///etc/passwd", "ftp://127.0.0.1/x", "data:,x", "//elsewhere.example/", ""])
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_to_another_kind_of_address_is_not_followed(status, location):
    with site(Reply(status, "", {"Location": location})) as made:
        delivery, _, _ = send(made.url)
        key = Server(made.url, KEY)
        made.key_reply = Reply(status, "", {"Location": location})
        answer = key.get_key()
    assert len(made.received) == len(made.key_checks) == 1
    assert delivery.outcome is UploadOutcome.WRONG_SERVER
    assert (answer.status, "root:" in answer.text) == (status, False)


def test_a_huge_answer_is_left_where_it_stops_to_matter():
    with site() as made:
        made.key_reply = Reply(200, "x" * 8_000_000)
        assert len(Server(made.url, KEY).get_key().text) <= 128 * 1024


@pytest.mark.parametrize("body", ["<html>Please log in to the hotel network</html>", "{}", "[]", '{"id": "another"}'])
def test_a_200_that_is_no_accelweb_answer_is_no_delivery(body):
    with site(Reply(200, body)) as made:
        delivery, _, _ = send(made.url)
    assert delivery.outcome is UploadOutcome.WRONG_SERVER


def test_nothing_listening_is_tried_again_until_the_deadline():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    delivery, time_, _ = send(f"http://127.0.0.1:{port}", within_s=10)
    assert (delivery.outcome, delivery.text) == (UploadOutcome.NOT_IN_TIME, "connection refused: nothing listens there")
    assert time_.slept == [1, 2, 4]


def test_unanswered_report_costs_one_timeout():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        server = Server(f"http://127.0.0.1:{silent.getsockname()[1]}", KEY, timeout_s=0.3)
        assert server.post(b"{}").text == "the site did not answer in time"


def _drip(listening, beginning, piece, pause_s=0.05):
    """Begin an answer, and go on with pieces of it for a minute."""
    connection, _ = listening.accept()
    with connection:
        connection.recv(65536)
        connection.sendall(beginning)
        for _ in range(1200):
            try:
                connection.sendall(piece)
            except OSError:
                return
            time.sleep(pause_s)


ACCEPTS = b"HTTP/1.1 202 Accepted\r\n"


@pytest.mark.parametrize(
    ("beginning", "piece", "status", "scheme"),
    [
        (ACCEPTS + b"Content-Length: 1000000\r\n\r\n", b"x", 202, "http"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n", None, "http"),
        (ACCEPTS + b"X-Long: ", b"X", None, "http"),
        (b"\x16\x03\x03\x3f\xff\x02\x00\x3f\xfb", b"\x00", None, "https"),  # a ServerHello of 16 KiB begins
    ],
    ids=["a body", "100 Continue for ever", "a header byte by byte", "a handshake"],
)
def test_dripping_answer_stops_at_the_limit(beginning, piece, status, scheme):
    """Within a TLS handshake too, where the first handle of the connection is hidden."""
    with answering(_drip, beginning, piece, scheme=scheme) as url:
        started = time.monotonic()
        answer = Server(url, KEY, timeout_s=0.5).post(b"{}", 0.8)
        assert 0.4 < time.monotonic() - started < 30
    assert (answer.status, answer.is_final) == (status, False)


@pytest.mark.parametrize(
    "beginning",
    [
        b"HTTP/1.1 2",
        ACCEPTS,
        ACCEPTS + b"Content-Le",
        ACCEPTS + b"Content-Length: 200\r\n\r\n",
        ACCEPTS + b'Content-Length: 200\r\n\r\n{"id": "0',
        ACCEPTS + b'Transfer-Encoding: chunked\r\n\r\n20\r\n{"id',
    ],
    ids=["status line", "no header", "header", "no body", "body", "chunk"],
)
def test_a_site_that_dies_while_it_answers_is_asked_again(beginning):
    with answering(answer_only, beginning, 2) as url:
        delivery, time_, _ = send(url, within_s=2)
    assert (delivery.outcome, delivery.attempts, time_.slept) == (UploadOutcome.NOT_IN_TIME, 2, [1])


def test_non_http_address_is_a_network_problem():
    with answering(answer_only, b"SSH-2.0-OpenSSH_9.6\r\n", 1) as url:
        assert Server(url, KEY, timeout_s=5).post(b"{}").status is None


def test_the_key_is_in_no_text_about_the_server():
    server = Server("http://127.0.0.1:1", KEY)
    assert KEY not in repr(server)
    assert KEY not in server.post(b"{}").text


@pytest.mark.parametrize("key", ["", "two words", "line\nbreak", "n\u00f6n-ascii", "tab\t"])
def test_a_key_that_would_break_a_header_is_refused(key):
    with pytest.raises(ServerError):
        Server("https://example.org", key)


@pytest.mark.parametrize(
    "url",
    [
        "", "example.org", "ftp://example.org", "file:///etc/passwd", "file://example.org/x", "https://", "http://[",
        "https://me:secret@example.org", "http://[x", "http://example.org:port", "http://example.org:99999", "http://a..b",
        "http://b\u00fccher.org",
    ],
)  # fmt: skip
def test_an_address_that_is_none_is_refused(url):
    with pytest.raises(ServerError):
        Server(url, KEY)


def test_sending_the_key_in_the_clear_is_noticed():
    urls = ["http://example.org", "https://example.org", "http://127.0.0.1:8000", "http://localhost"]
    assert [Server(url, KEY).is_plain for url in urls] == [True, False, False, False]


def test_addresses_of_answers_are_those_of_the_site():
    server = Server("https://Example.org/accel/", KEY)
    assert server.url == "https://Example.org/accel"
    assert server.absolute("/accel/receipts/1/") == "https://Example.org/accel/receipts/1/"
    assert server.absolute("https://example.org/r/1/") == "https://example.org/r/1/"
    assert server.absolute("javascript:alert(1)") is None


def test_proxy_is_not_used_for_localhost(monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.delenv("no_proxy", raising=False)
    with site() as made:
        assert send(made.url)[0].outcome is UploadOutcome.DELIVERED


@pytest.mark.parametrize(
    "address",
    [
        "http://[x", "https://elsewhere.example/r/1/", "//elsewhere.example/r/1/", "/r/\u001b[2J", "/r/\ud800",
        "ftp:/r/1/", "file:///etc/passwd", "data:text/html,x",
    ],
)  # fmt: skip
def test_foreign_receipt_is_hidden_report_delivered(address):
    answer = {"id": "THE-ID", "status_url": address, "receipt_url": address}
    with site(Reply(202, json.dumps(answer))) as made:
        delivery, _, _ = send(made.url)
    assert (delivery.outcome, delivery.status_url, delivery.receipt_url) == (UploadOutcome.DELIVERED, None, None)


@pytest.mark.parametrize("status", [401, 422, 503, 404, 302])
def test_echoed_key_is_not_printed_or_stored(status):
    echo = json.dumps({"error": f"Authorization: Bearer {KEY}", "field": "".join(f"\\u{ord(c):04x}" for c in KEY)})
    echo = echo.replace("\\\\u", "\\u")  # the key once more, behind JSON's escapes
    with site(Reply(status, echo, {"Location": f"/{KEY}"})) as made:
        delivery, _, said = send(made.url)
    assert KEY not in delivery.text
    assert KEY not in "".join(said)
    assert "<key>" in delivery.text


@pytest.mark.parametrize("status", [401, 422, 503])
@pytest.mark.parametrize("escape", ["\x1b[2J", "\\u001b[2J", "\\u009b2J", "\\u202e"])
def test_what_a_site_answers_cannot_steer_a_terminal(status, escape):
    with site(Reply(status, f'{{"error": "is{escape}missing"}}', {"X": "\x1b[2J"})) as made:
        delivery, _, said = send(made.url)
    assert delivery.text.isprintable()
    assert "".join(said).isprintable()
