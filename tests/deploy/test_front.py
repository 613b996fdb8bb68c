"""The front: limits, headers, errors and what it serves while the site is away. In front of a small server of the test's own."""

import json
import re
import socket
import ssl
import subprocess
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.deploy.compose import healthcheck, merged, services
from tests.deploy.front import Front, nginx_binary
from tests.servers import NotHere

WORD = "W2dmNrRVxtcWWd5kT3uPsSzW-oaStM1Y5l4bNPnfj74"
PUBLIC = "/api/v1/accelerators/h100/"
VARIABLES = {
    "SECRET_KEY": "x",
    "ALLOWED_HOSTS": "site.example",
    "POSTGRES_PASSWORD": "x",
    "TLS_DIR": "/tls",
    "HTTPS": "1",
}


class Upstream(BaseHTTPRequestHandler):
    """Answers with the request it got, as JSON. `/unavailable/` answers 503 as the site does."""

    protocol_version = "HTTP/1.1"
    cache_control = "public, no-cache"

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        seen = {
            "path": self.path,
            "headers": {name.lower(): text for name, text in self.headers.items()},
            "bytes": len(body),
        }
        answer = json.dumps(seen).encode()
        time.sleep(0.5 if "slow" in self.path else 0)
        self.send_response(503 if self.path == "/unavailable/" else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.send_header("Cache-Control", self.server.cache_control)
        self.end_headers()
        self.wfile.write(answer)

    do_POST = do_GET  # noqa: N815 (its base class's name)

    def log_message(self, *_words: object) -> None:
        """Into no log."""


class UpstreamServer(ThreadingHTTPServer):
    cache_control = "public, no-cache"
    daemon_threads = True

    def go_away(self) -> None:
        self.shutdown()
        self.server_close()


@pytest.fixture
def upstream():
    with UpstreamServer(("127.0.0.1", 0), Upstream) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def new_front(tmp_path, upstream):
    made: list[Front] = []

    def make(main: str = "nginx.conf") -> Front:
        try:
            nginx_binary()
        except NotHere as problem:
            pytest.skip(str(problem))
        made.append(Front(tmp_path / "front", f"127.0.0.1:{upstream.server_port}", main=main))
        return made[-1]

    yield make
    for front in made:
        front.stop()


@pytest.fixture
def front(new_front):
    front = new_front()
    front.start()
    return front


def ask(front: Front, path: str, body: bytes | None = None, **headers: str) -> tuple[int, dict[str, str], str]:
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    try:
        with urllib.request.urlopen(urllib.request.Request(front.url + path, body, named), timeout=30) as answer:
            return answer.status, dict(answer.headers), answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, dict(error.headers), error.read().decode()


def test_site_is_told_who_asks_whatever_the_client_claims(front):
    claims = {
        "X_Forwarded_For": "203.0.113.9, 127.0.0.1", "X_Forwarded_Proto": "https", "X_Forwarded_Host": "evil.example",
        "Forwarded": "for=203.0.113.9", "X_Real_IP": "203.0.113.9", "Proxy": "http://evil.example",
    }  # fmt: skip
    seen = json.loads(ask(front, "/a%2Fb/?c=%20d", **claims)[2])
    assert seen["path"] == "/a%2Fb/?c=%20d"
    assert seen["headers"]["x-forwarded-for"] == "127.0.0.1"
    assert seen["headers"]["x-forwarded-proto"] == "http"
    assert seen["headers"]["host"] == f"127.0.0.1:{front.port}"
    front.wait_for_line(f"request={seen['headers']['x-request-id']} ")
    assert not {"x-forwarded-host", "forwarded", "x-real-ip", "proxy"} & set(seen["headers"])


def test_body_arrives_whole_and_a_larger_one_is_refused(front):
    assert json.loads(ask(front, "/api/v1/reports/", b"x" * 5_000_000)[2])["bytes"] == 5_000_000
    status, headers, text = ask(front, "/api/v1/reports/", b"x" * 6_400_000)
    assert (status, headers["Content-Type"]) == (413, "application/json")
    assert json.loads(text) == {"error": "the body is larger than 6 MiB; send less", "field": None}
    status, headers, text = ask(front, "/diagnose/", b"x" * 6_400_000)
    assert (status, headers["Content-Type"]) == (413, "text/html; charset=utf-8")
    assert "<h1>This is too large</h1>" in text
    assert re.findall(r"\d+ MiB", text) == ["6 MiB", "6 MiB"]


def test_site_that_is_away_is_answered_for_at_once(front, upstream):
    """A refused connection is 502; what the front waits for in vain would be 504."""
    upstream.go_away()
    status, headers, text = ask(front, "/api/v1/machines/")
    assert (status, headers["Retry-After"], headers["Content-Type"]) == (502, "5", "application/json")
    assert "send the same request again" in json.loads(text)["error"]
    for path in ("/machines/", "/zh-hans/machines/"):
        status, headers, text = ask(front, path)
        assert (status, headers["Retry-After"]) == (502, "5")
        assert 'lang="zh-Hans"' in text
    assert ask(front, "/zh-hans/api/v1/docs/")[1]["Content-Type"] == "application/json"


def test_own_errors_of_the_site_pass_unchanged(front):
    status, _headers, text = ask(front, "/unavailable/")
    assert status == 503
    assert json.loads(text)["path"] == "/unavailable/"


@pytest.mark.parametrize("path", [PUBLIC, "/api/v1/prices/"])
def test_public_catalogue_is_served_while_the_site_is_away(front, upstream, path):
    asked = ask(front, path)[2]
    time.sleep(4.1)  # later than it counts as fresh; nginx counts whole seconds
    upstream.go_away()
    status, headers, text = ask(front, path)
    assert (status, text, headers["X-Cache"]) == (200, asked, "stale")
    assert ask(front, f"{PUBLIC}?other=1")[0] == 502
    assert ask(front, PUBLIC, Cookie="sessionid=x")[0] == 502
    assert ask(front, PUBLIC, Authorization="Bearer x")[0] == 502
    assert ask(front, PUBLIC, Host="other.example")[0] == 502


def test_one_answer_for_all_is_asked_for_once(front):
    """The site answers with the number of the request that reached it."""
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _number: ask(front, "/api/v1/values/?field=slow"), range(8)))
    assert {status for status, _headers, _text in answers} == {200}
    assert len({json.loads(text)["headers"]["x-request-id"] for _status, _headers, text in answers}) == 1
    with ThreadPoolExecutor(4) as pool:
        mine = list(pool.map(lambda n: ask(front, "/api/v1/values/?field=slow", Cookie=f"sessionid={n}"), range(4)))
    assert len({json.loads(text)["headers"]["x-request-id"] for _status, _headers, text in mine}) == 4


@pytest.mark.parametrize(
    ("takes", "told"),
    [
        ("gzip, deflate, br, zstd", "br"),
        ("GZIP", "gzip"),
        ("br;q=0, gzip;q=0.5", "gzip"),
        ("identity", None),
        ("", None),
    ],
)
def test_site_is_told_one_compression_it_has(front, takes, told):
    seen = json.loads(ask(front, "/accelerators/", Accept_Encoding=takes)[2])
    assert seen["headers"].get("accept-encoding") == told


def test_static_files_are_had_from_the_front_once_somebody_asked(front, upstream):
    upstream.cache_control = "max-age=315360000, public, immutable"
    style = ask(front, "/static/css/base.3f2a.css")[2]
    upstream.cache_control = "no-store"
    assert ask(front, "/static/css/site.css")[0] == 200
    upstream.go_away()
    again = "/static/css/base.3f2a.css?from=another"
    answers = [ask(front, again, Cookie="sessionid=x"), ask(front, again, Host="invented.example")]
    assert [answer[::2] for answer in answers] == [(200, style)] * 2
    assert len({headers["X-Request-ID"] for _status, headers, _text in answers}) == 2
    assert ask(front, again, Accept_Encoding="br")[0] == 502  # another file of the site
    assert ask(front, "/static/css/site.css")[0] == 502


@pytest.mark.parametrize(
    ("path", "headers", "cache_control"),
    [
        ("/machines/lab/secret/", {}, "public, no-cache"),
        ("/api/v1/machines/", {}, "public, no-cache"),
        ("/badge/x/", {}, "public, max-age=3600"),
        (PUBLIC, {}, "private, no-store"),
        (PUBLIC, {}, ""),
        (PUBLIC, {"Cookie": "sessionid=x"}, "public, no-cache"),
        (PUBLIC, {"Authorization": "Bearer x"}, "public, no-cache"),
    ],
)
def test_nothing_else_is_stored(front, upstream, path, headers, cache_control):
    upstream.cache_control = cache_control
    assert ask(front, path, **headers)[0] == 200
    time.sleep(0.2)
    assert [file for file in (front.folder / "cache").rglob("*") if file.is_file() and file.name != "nginx.pid"] == []
    upstream.go_away()
    assert ask(front, path)[0] == 502


def test_no_log_has_the_word_of_a_private_link(front, upstream):
    for path in (
        f"/diagnose/{WORD}/?format=svg",
        f"/zh-hans/diagnose/{WORD}/",
        f"/picture/diagnosis/{WORD}.png",
        f"/password/Mg/{WORD}/",
        f"/receipts/x/?t={WORD}",
    ):
        assert ask(front, path, Referer=f"{front.url}/diagnose/{WORD}/")[0] == 200
    upstream.go_away()
    assert ask(front, f"/diagnose/{WORD}/")[0] == 502
    assert ask(front, f"/diagnose/{WORD}/", b"x" * 6_400_000)[0] == 413
    front.wait_for_line(" 413 ")  # written when the connection has closed, later than the answer
    front.stop()
    assert front.log().count("...") == 6
    assert '"GET /diagnose/.../" 200' in front.log()
    assert '"GET /receipts/x/" 200' in front.log()
    assert WORD not in front.log() + front.errors()


def test_one_address_has_a_hundred_requests_in_progress(front):
    head = b"POST /api/v1/reports/ HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n"

    with ExitStack() as opened:

        def one_more() -> socket.socket:
            where = ("127.0.0.1", front.port)
            client = opened.enter_context(socket.create_connection(where, 10, source_address=("127.0.0.2", 0)))
            client.sendall(head)
            return client

        def answered() -> bytes:
            """One that waits for its body took a place that another one, accepted before, had not taken yet."""
            for _try in range(50):
                client = one_more()
                client.settimeout(0.2)
                with suppress(ConnectionResetError, TimeoutError):  # nginx may have hung up before it is read
                    if answer := client.recv(4096):
                        return answer
            return b""

        greedy = [one_more() for _ in range(100)]
        assert b" 429 " in answered()
        assert ask(front, "/")[0] == 200  # another address
        greedy[50].sendall(b"x" * 9)
        assert b" 200 " in greedy[50].recv(4096)


def test_silent_and_dripping_heads_are_cut_off(front):
    """Ten seconds for a whole head, however it drips: for 90 s, were it never cut off."""
    silent, dripping = (socket.create_connection(("127.0.0.1", front.port), timeout=20) for _ in range(2))
    started = time.monotonic()
    dripping.sendall(b"GET / HTTP/1.1\r\nHost: a\r\nX-Slow: ")
    while time.monotonic() - started < 90:
        try:
            dripping.sendall(b"a")
        except OSError:
            break
        time.sleep(0.5)
    assert 9 < time.monotonic() - started < 40
    assert silent.recv(4096) == b""
    silent.close()
    dripping.close()


@pytest.fixture
def https_front(new_front):
    front = new_front("https.conf")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
         "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", front.folder / "privkey.pem", "-out", front.folder / "fullchain.pem"],
        check=True, capture_output=True,
    )  # fmt: skip
    front.start()
    return front


def test_https_front_has_a_certificate_and_says_so(https_front):
    front = https_front
    trusting = ssl.create_default_context(cafile=str(front.folder / "fullchain.pem"))
    request = urllib.request.Request(f"https://127.0.0.1:{front.tls_port}/", headers={"X-Forwarded-Proto": "http"})
    with urllib.request.urlopen(request, context=trusting, timeout=30) as answer:
        assert json.load(answer)["headers"]["x-forwarded-proto"] == "https"
    with socket.create_connection(("127.0.0.1", front.port), timeout=10) as plain:
        plain.sendall(b"GET /a?b=c HTTP/1.1\r\nHost: site.example\r\nConnection: close\r\n\r\n")
        assert b"Location: https://site.example/a?b=c" in plain.recv(4096)


def test_health_check_of_an_https_front_reaches_the_site(https_front, upstream):
    """The check of docker-compose.yml, to which deploy/https.yml adds another main file and nothing about health."""
    front = merged(services(VARIABLES), services(VARIABLES, "deploy/https.yml"))["front"]
    assert "./deploy/nginx/https.conf:/etc/nginx/nginx.conf:ro" in front["volumes"]
    [address] = [word for word in healthcheck(front) if word.startswith("http")]
    path = address.removeprefix("http://127.0.0.1:8080")
    status, _headers, text = ask(https_front, path)
    assert (status, json.loads(text)["path"]) == (200, "/health/")
    assert json.loads(text)["headers"]["x-forwarded-proto"] == "http"
    upstream.go_away()
    assert ask(https_front, path)[0] == 502
