"""The word that opens a private link stands in no log: not in gunicorn's, not in Django's."""

import logging
import runpy
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.conf import settings
from gunicorn.config import Config

from accelweb.logs import TextLogLines, without_links

WORD = "W2dmNrRVxtcWWd5kT3uPsSzW-oaStM1Y5l4bNPnfj74"


@pytest.mark.parametrize(
    ("line", "logged"),
    [
        (f"GET /diagnose/{WORD}/?format=svg", "GET /diagnose/…/?format=svg"),
        (f"GET /picture/diagnosis/{WORD}.png", "GET /picture/diagnosis/….png"),
        (f"GET /corrections/{WORD}/", "GET /corrections/…/"),
        (f"GET /labs/mails/WzFd:1abc:{WORD}/", "GET /labs/mails/…/"),
        ("GET /labs/mails/keys/", "GET /labs/mails/keys/"),
        (f"GET /login/?next=%2Fdiagnose%2f{WORD}%2F", "GET /login/?next=%2Fdiagnose%2f…%2F"),
        ("POST /diagnose/add/", "POST /diagnose/add/"),
    ],
)
def test_link_address_is_logged_without_token(line, logged):
    assert without_links(f"{line} HTTP/1.1") == f"{logged} HTTP/1.1"


def test_gunicorn_logs_no_address_or_referer():
    found = runpy.run_path(str(Path(settings.BASE_DIR) / "gunicorn.conf.py"))
    logger = found["logger_class"](Config())
    environ = {
        "REQUEST_METHOD": "GET",
        "RAW_URI": f"/diagnose/{WORD}/",
        "PATH_INFO": f"/diagnose/{WORD}/",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "HTTP_REFERER": f"https://site.example/diagnose/{WORD}/",
    }
    answer = SimpleNamespace(status="200 OK", sent=10, headers=[])
    atoms = logger.atoms(answer, SimpleNamespace(headers=[]), environ, timedelta(seconds=1))
    assert atoms["r"] == "GET /diagnose/…/ HTTP/1.1"
    assert WORD not in str(atoms)


def test_django_writes_no_word_either():
    record = logging.LogRecord("django.request", logging.WARNING, "", 0, "Not Found: %s", (f"/diagnose/{WORD}/",), None)
    assert TextLogLines().format(record).endswith("Not Found: /diagnose/…/")
    assert settings.LOGGING["formatters"] == {"line": {"()": TextLogLines}}
