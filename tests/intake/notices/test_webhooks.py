"""Webhooks of labs: where they may lead, what is sent and how it is signed, and what becomes of failures."""

import hashlib
import hmac
import json
import re
import socket
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.utils import timezone

from stackviz.desk.retention.export import export_lab
from stackviz.intake.notices import post as post_module
from stackviz.intake.notices import webhooks
from stackviz.intake.notices.models import LabEvent, Webhook, WebhookDelivery
from stackviz.intake.notices.post import AddressRefused, PostFailed, checked_address, post
from stackviz.intake.notices.tasks import send_due_webhooks
from stackviz.intake.notices.webhooks import DISABLED_AFTER, due_webhooks, send_events, set_webhook
from stackviz.records.audit.models import AuditEntry
from stackviz.records.labs.models import Report
from tests.pages.machines.factories import START, make_lab, make_machine, make_report

pytestmark = pytest.mark.django_db
PAGE = "/labs/north/webhook/"


@dataclass
class Receiver:
    """`handle`: what is done with a request, whose body was read; `received`: headers and body of each."""

    url: str
    handle: object = None
    received: list[tuple[dict[str, str], bytes]] = field(default_factory=list)

    @property
    def titles(self):
        return [json.loads(body).get("title") for _headers, body in self.received]


def answer(handler, status=204, body=b"", **headers):
    handler.send_response(status)
    for name, value in {"Content-Length": str(len(body)), **headers}.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(body)


@contextmanager
def receiving():
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            here.received.append(({name.lower(): value for name, value in self.headers.items()}, body))
            with suppress(OSError):
                (here.handle or answer)(self)

        def log_message(self, *_arguments):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    here = Receiver(f"http://127.0.0.1:{server.server_address[1]}/hook?a=1")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield here
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def receiver(settings):
    settings.WEBHOOKS_TO_LOOPBACK = True
    with receiving() as running:
        yield running


@pytest.fixture
def lab():
    return make_lab("north", is_public=False)


@pytest.fixture
def webhook(lab, receiver):
    webhook, _secret = set_webhook(lab, receiver.url, "https://site.example/")
    return webhook


def happen(lab, title="Torch sees no card", **fields):
    machine = lab.machines.first() or make_machine(lab, "dgx-07")
    details = {"title": title, "severity": "broken"}
    report = make_report(machine)
    return LabEvent.objects.create(
        lab=lab, machine=machine, report=report, kind="finding", key=str(report.pk), happened_at=START, details=details, **fields
    )  # fmt: skip


def later(webhook):
    """As if the pause were over."""
    Webhook.objects.filter(pk=webhook.pk).update(retry_at=timezone.now() - timedelta(seconds=1))
    webhook.refresh_from_db()


# --- where to ---


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/", "ftp://example.org/", "https://", "https:///x", "https://user@example.org/",
        "https://user:pass@example.org/", "https://example.org/#x", "https://example.org:99999/", "https://example.org:0/",
        "https://exa mple.org/", "https://example.org/\r\nX: y", "https://example.org\\@127.0.0.1/", "https://bücher.example/",
        "https://[::1", "javascript:alert(1)", "", "https://example.org/" + "x" * 500, "file:///etc/passwd",
    ],
)  # fmt: skip
def test_what_is_no_address_for_it_is_refused(lab, url):
    with pytest.raises(AddressRefused):
        checked_address(url.strip())
    with pytest.raises(ValidationError):
        set_webhook(lab, url, "https://site.example")
    assert not Webhook.objects.exists()


@pytest.mark.parametrize(
    "host",
    ["localhost", "127.0.0.1", "[::1]", "0x7f.1", "2130706433", "017700000001", "0", "[::ffff:127.0.0.1]", "169.254.169.254"],
)  # fmt: skip
def test_nothing_is_connected_to_this_machine_or_its_network(host, monkeypatch):
    monkeypatch.setattr(socket.socket, "connect", lambda *_arguments: pytest.fail("a connection was made"))
    with pytest.raises(PostFailed, match=r"private network|not known"):
        post(f"https://{host}/hook", b"{}", {})


def test_no_proxy_of_the_environment_is_used(receiver, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert post(receiver.url, b"{}", {}) == 204


# --- what the other end may do ---


@pytest.mark.parametrize("status", [301, 302, 307, 308, 400, 401, 404, 410, 500, 503])
def test_other_answers_than_2xx_are_failures(receiver, status):
    receiver.handle = lambda handler: answer(handler, status, b"<script>secret</script>", Location=receiver.url)
    with pytest.raises(PostFailed) as failed:
        post(receiver.url, b"{}", {})
    assert str(failed.value) == f"it answered {status}"  # and nothing that the server sent
    assert len(receiver.received) == 1


def test_of_a_long_answer_64_kib_are_read(receiver):
    receiver.handle = lambda handler: answer(handler, 200, b"x" * 64 * 1024)
    assert post(receiver.url, b"{}", {}) == 200
    receiver.handle = lambda handler: answer(handler, 200, b"x" * (64 * 1024 + 1))
    with pytest.raises(PostFailed, match="more than 64 KiB"):
        post(receiver.url, b"{}", {})


def raw(content):
    return lambda handler: handler.wfile.write(content)


def trickle(piece):
    """Send a piece now and then, for a minute: no silence is long."""

    def send(handler):
        for _time in range(1_200):
            handler.wfile.write(piece)
            handler.wfile.flush()
            time.sleep(0.05)

    return send


CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


@pytest.mark.parametrize("handle", [trickle(b"H"), trickle(CONTINUE), lambda _handler: time.sleep(60)])
def test_whoever_is_slow_is_left_in_time(receiver, monkeypatch, handle):
    monkeypatch.setattr(post_module, "WITHIN_S", 0.5)
    receiver.handle = handle
    start = time.monotonic()
    with pytest.raises(PostFailed):
        post(receiver.url, b"{}", {})
    assert time.monotonic() - start < 30


@pytest.mark.parametrize("raw", [b"", b"hello\r\n\r\n", b"HTTP/1.1 abc\r\n\r\n", b"\x00" * 100])  # fmt: skip
def test_what_is_no_answer_is_a_failure(receiver, raw):
    receiver.handle = lambda handler: handler.wfile.write(raw)
    with pytest.raises(PostFailed):
        post(receiver.url, b"{}", {})


def test_nobody_there_and_no_tls(receiver):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(PostFailed, match="no connection"):
        post(f"http://127.0.0.1:{port}/", b"{}", {})
    with pytest.raises(PostFailed, match="no TLS connection"):
        post(receiver.url.replace("http:", "https:"), b"{}", {})


# --- what is sent ---


def test_an_event_is_sent_once_signed_with_an_unstored_secret(lab, receiver):
    webhook, secret = set_webhook(lab, receiver.url, "https://site.example/")
    event = happen(lab)
    send_due_webhooks.apply()
    assert send_events(webhook.pk) == 1 or WebhookDelivery.objects.filter(event=event).exists()
    ((headers, body),) = receiver.received
    stamp, given = re.fullmatch(r"t=(\d+),v1=([0-9a-f]{64})", headers["x-accelweb-signature"]).groups()
    assert given == hmac.new(secret.encode(), f"{stamp}.".encode() + body, hashlib.sha256).hexdigest()
    assert abs(int(stamp) - time.time()) < 60
    sent = json.loads(body)
    assert (headers["content-type"], headers["x-accelweb-event"]) == ("application/json", "finding")
    assert headers["x-accelweb-delivery"] == sent["id"]
    assert sent["title"] == "dgx-07: Torch sees no card"
    assert sent["url"] == "https://site.example/machines/north/dgx-07/"
    assert sent["lab"] == {"slug": "north", "name": "North lab"}
    assert (send_events(webhook.pk), due_webhooks(), len(receiver.received)) == (0, [], 1)
    stored = b"".join(export_lab(lab)) + str(list(Webhook.objects.values())).encode()
    assert secret.encode() not in stored
    assert webhook.nonce.encode() not in b"".join(export_lab(lab))


def test_only_what_happens_after_it_was_set_is_sent(lab, receiver):
    happen(lab, "before", noted_at=timezone.now() - timedelta(minutes=1))
    first, secret = set_webhook(lab, receiver.url, "https://site.example")
    webhook, other = set_webhook(lab, receiver.url, "https://site.example")
    assert (first.pk, secret != other) == (webhook.pk, True)
    happen(make_lab("south"), "of others")
    withdrawn = happen(lab, "withdrawn")
    Report.objects.filter(pk=withdrawn.report_id).update(withdrawal="withdrawn")
    happen(lab, "after")
    assert (send_events(webhook.pk), receiver.titles) == (1, ["dgx-07: after"])


# --- failures ---


def test_events_wait_in_order_while_the_receiver_fails(lab, webhook, receiver):
    for title in ("one", "two"):
        happen(lab, title)
    receiver.handle = lambda handler: answer(handler, 500)
    assert (send_events(webhook.pk), len(receiver.received)) == (0, 1)
    webhook.refresh_from_db()
    assert (webhook.failures, webhook.problem, webhook.busy_until) == (1, "it answered 500", None)
    assert (send_events(webhook.pk), len(receiver.received)) == (0, 1)  # it waits
    later(webhook)
    receiver.handle = None
    assert due_webhooks() == [webhook.pk]
    assert send_events(webhook.pk) == 2
    assert receiver.titles == ["dgx-07: one", "dgx-07: one", "dgx-07: two"]
    webhook.refresh_from_db()
    assert (webhook.failures, webhook.problem, webhook.retry_at) == (0, "", None)


def test_pauses_grow_and_then_it_is_disabled_and_that_is_said(client, lab, webhook, receiver):
    happen(lab)
    receiver.handle = lambda handler: answer(handler, 503)
    pauses = []
    for _attempt in range(DISABLED_AFTER):
        send_events(webhook.pk)
        webhook.refresh_from_db()
        if webhook.retry_at:
            pauses.append(round((webhook.retry_at - timezone.now()).total_seconds() / 60))
            later(webhook)
    assert pauses == [1, 2, 4, 8, 16, 32, 64, 128, 256]
    assert webhook.disabled_at is not None
    assert (due_webhooks(), send_events(webhook.pk), len(receiver.received)) == ([], 0, DISABLED_AFTER)
    entry = AuditEntry.objects.get(action="webhook.disabled")
    assert (entry.subject, entry.details["problem"]) == (f"webhook of lab {lab.pk}", "it answered 503")
    owner = User.objects.create_user("owner")
    lab.memberships.create(user=owner, role="owner")
    client.force_login(owner)
    assert "the webhook was disabled on" in client.get("/machines/north/").content.decode()
    assert "it answered 503" in client.get(PAGE).content.decode()
    receiver.handle = None
    assert client.post(PAGE, {"do": "enable"}).status_code == 302
    assert "the webhook was disabled on" not in client.get("/machines/north/").content.decode()
    assert send_events(webhook.pk) == 0  # what happened before is not sent
    happen(lab, "after")
    assert send_events(webhook.pk) == 1


def test_one_worker_sends_and_to_nobody_gone_for_good(lab, webhook, receiver):
    happen(lab)
    Webhook.objects.update(busy_until=timezone.now() + timedelta(minutes=1))
    assert (send_events(webhook.pk), receiver.received) == (0, [])
    Webhook.objects.update(busy_until=timezone.now() - timedelta(seconds=1))  # that worker died
    assert send_events(webhook.pk) == 1
    happen(lab)
    receiver.handle = lambda handler: answer(handler, 410)
    send_events(webhook.pk)
    webhook.refresh_from_db()
    assert (webhook.failures, webhook.disabled_at is not None) == (1, True)


def test_a_failure_of_the_old_address_is_not_one_of_the_new(lab, webhook, receiver, monkeypatch):
    happen(lab)

    def fail_after_a_change(*_arguments):
        set_webhook(lab, receiver.url, "https://site.example")
        raise PostFailed("it answered 500", 500)

    monkeypatch.setattr(webhooks, "post", fail_after_a_change)
    assert send_events(webhook.pk) == 0
    webhook.refresh_from_db()
    assert (webhook.failures, webhook.problem) == (0, "")


# --- the page ---


def log_in(client, lab, role):
    user = User.objects.create_user(role)
    if role in ("viewer", "member", "owner"):
        lab.memberships.create(user=user, role=role)
    client.force_login(user)
    return user


@pytest.mark.parametrize(("role", "status"), [("stranger", 404), ("viewer", 403), ("member", 403)])
def test_only_owners_see_and_change_it(client, lab, webhook, role, status):
    assert client.get(PAGE).url == f"/login/?next={PAGE}"
    log_in(client, lab, role)
    assert client.get(PAGE).status_code == status
    for action in ({"do": "set", "url": "https://example.org/"}, {"do": "remove"}, {"do": "test"}, {"do": "enable"}):
        assert client.post(PAGE, action).status_code == status
    assert Webhook.objects.get().url == webhook.url


def test_an_owner_sets_tests_and_removes_it(client, lab, receiver, settings):
    settings.WEBHOOK_TESTS_PER_HOUR = 2
    log_in(client, lab, "owner")
    private, settings.WEBHOOKS_TO_LOOPBACK = "http://169.254.169.254/latest", False
    wrong = client.post(PAGE, {"do": "set", "url": private})
    assert (wrong.status_code, f'value="{private}"' in wrong.content.decode()) == (422, True)
    assert not Webhook.objects.exists()
    settings.WEBHOOKS_TO_LOOPBACK = True
    made = client.post(PAGE, {"do": "set", "url": receiver.url})
    secret = re.search(r"whs_[0-9a-f]{64}", made.content.decode())[0]
    assert "no-store" in made["Cache-Control"]
    assert secret not in client.get(PAGE).content.decode()
    assert "accepted (204)" in client.post(PAGE, {"do": "test"}, follow=True).content.decode()
    assert receiver.received[0][0]["x-accelweb-event"] == "test"
    receiver.handle = lambda handler: answer(handler, 404)
    refused = client.post(PAGE, {"do": "test"})
    assert (refused.status_code, "it answered 404" in refused.content.decode()) == (422, True)
    for action, status in (("test", 429), ("nonsense", 404), ("remove", 302)):
        assert client.post(PAGE, {"do": action}).status_code == status
    assert not Webhook.objects.exists()
    actions = AuditEntry.objects.filter(subject=f"webhook of lab {lab.pk}").order_by("pk")
    assert [entry.action for entry in actions] == ["webhook.created", "webhook.deleted"]
    assert receiver.url not in str(list(actions.values()))
