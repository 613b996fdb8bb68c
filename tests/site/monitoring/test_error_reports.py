"""What leaves the site where an error is reported: the real sentry-sdk, with a transport that keeps it here."""

import json

import pytest
import sentry_sdk
from sentry_sdk.transport import Transport

from accelweb.env import EnvError
from accelweb.error_reports import start_error_reports

KEY = "aw_c1geifmg_q8tCKtgO8PjKcLycFiSqg4qQxZQbWpabqE5wBL3VOlY"
DSN = "https://public@errors.example/1"


@pytest.fixture
def sent(monkeypatch):
    """Events that would have been sent."""
    events: list[dict] = []

    class Kept(Transport):
        def capture_envelope(self, envelope):
            events.append(envelope.get_event())

    init = sentry_sdk.init
    monkeypatch.setattr(
        sentry_sdk, "init", lambda **options: init(transport=Kept, default_integrations=False, **options)
    )
    start_error_reports(DSN, "1.2.3")
    yield events
    init(dsn=None)


def fail(body):
    raise ValueError(f"{KEY} of {body[:0]}postgresql://accelweb:opensesame@db/")


def test_error_is_reported_without_secrets(sent):
    try:
        fail("tnes ydobemos"[::-1])  # not as it stands in the source, which is reported
    except ValueError as error:
        sentry_sdk.capture_exception(error)
    (event,) = sent
    assert event["release"] == "1.2.3"
    text = json.dumps(event)
    assert "ValueError" in text
    assert "aw_c1geifmg_" in text
    assert KEY not in text
    assert "opensesame" not in text
    assert "somebody sent" not in text  # a local variable


def test_missing_library_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "sentry_sdk", None)
    with pytest.raises(EnvError, match="pip install sentry-sdk"):
        start_error_reports(DSN, "1")
