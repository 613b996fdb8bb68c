"""Each answer names its request; log lines name it too, and no secret."""

import json
import logging
import sys

import pytest

from accelweb.logs import JsonLogLines, TextLogLines
from stackviz.web.http.request_ids import current_request_id, request_id_set

KEY = "aw_c1geifmg_q8tCKtgO8PjKcLycFiSqg4qQxZQbWpabqE5wBL3VOlY"
WORD = "W2dmNrRVxtcWWd5kT3uPsSzW-oaStM1Y5l4bNPnfj74"
SECRETS = {
    f"bad key {KEY}": KEY,
    f"GET /diagnose/{WORD}/": WORD,
    "GET /api/v1/reports/x/?t=abcdefghijklmnopqrstuvwxyz": "abcdefghijklmnopqrstuvwxyz",
    "{'Authorization': 'Bearer very-secret-token'}": "very-secret-token",
    "cannot connect to postgresql://accelweb:opensesame@db/accelweb": "opensesame",
    "redis://:opensesame@redis:6379/0": "opensesame",
}


@pytest.mark.parametrize("given", ["a", "5f0c.1-2_3", "A" * 64])
def test_id_of_the_proxy_is_taken_over(client, db, given):
    for answer in (
        client.get("/healthz", HTTP_X_REQUEST_ID=given),
        client.get("/no/such/page/", HTTP_X_REQUEST_ID=given),
        client.post("/api/v1/reports/", HTTP_X_REQUEST_ID=given),
    ):
        assert answer["X-Request-ID"] == given


@pytest.mark.parametrize("given", ["", "A" * 65, "a b", "a\tb", "ä", "<script>", "-a", "a,b", '"'])
def test_other_ids_are_replaced(client, given):
    answered = client.get("/healthz", HTTP_X_REQUEST_ID=given)["X-Request-ID"]
    assert answered != given
    assert len(answered) == 32
    assert answered != client.get("/healthz", HTTP_X_REQUEST_ID=given)["X-Request-ID"]


def test_line_about_a_refusal_names_the_request(client, db, capture):
    client.get("/no/such/page/", HTTP_X_REQUEST_ID="r1")
    assert capture[-1].endswith("Not Found: /no/such/page/ request=r1")


@pytest.fixture
def capture():
    """Lines of `django.request`, as the site writes them."""
    lines: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(TextLogLines().format(record))
    logger = logging.getLogger("django.request")
    logger.addHandler(handler)
    yield lines
    logger.removeHandler(handler)


def test_id_ends_with_its_block():
    with request_id_set("outer"):
        with request_id_set("ok,a\nb,<x>," + ",".join(map(str, range(10)))):  # of a message: checked again
            assert current_request_id() == "ok,0,1"
        assert current_request_id() == "outer"
    assert current_request_id() == ""


def record(text, *values, **more):
    return logging.LogRecord("stackviz.x", logging.WARNING, "", 0, text, values, more.get("exc_info"))


@pytest.mark.parametrize("formatter", [TextLogLines(), JsonLogLines()])
@pytest.mark.parametrize("text", SECRETS)
def test_no_secret_stands_in_a_line(formatter, text):
    assert SECRETS[text] not in formatter.format(record("%s", text))
    try:
        int(text)
    except ValueError:
        line = formatter.format(record("failed", exc_info=sys.exc_info()))
    assert "ValueError" in line
    assert SECRETS[text] not in line


def test_json_line_is_one_object_on_one_line():
    with request_id_set("r1"):
        line = JsonLogLines().format(record("first\nsecond %s", "é"))
    assert "\n" not in line
    found = json.loads(line)
    assert found.pop("time").endswith("+00:00")
    assert found == {"level": "WARNING", "logger": "stackviz.x", "message": "first\nsecond é", "request": "r1"}
