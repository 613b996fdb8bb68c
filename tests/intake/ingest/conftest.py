"""An inbox for tests: a lab with a key, a way to post, and the reports that were queued."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from django.core.cache import cache
from django.db import connections

from stackviz.intake.ingest import tasks
from stackviz.records.labs import keys
from stackviz.records.labs.keys import create_key
from stackviz.records.labs.models import AgentKey, Lab
from stackviz.web.http import rate_limit
from tests.conftest import swap_default
from tests.curated import migrated_file


@pytest.fixture(autouse=True)
def _no_memory(settings, tmp_path):
    """What a process remembers of keys and counts is not carried from one test into the next."""
    for memory in (keys._recognised, keys._noted, rate_limit._batches):
        memory.clear()
    settings.VAR_DIR = tmp_path  # counts are kept there
    cache.clear()


@pytest.fixture
def queued(monkeypatch) -> list[str]:
    """The reports that were queued, instead of a broker."""
    ids: list[str] = []
    monkeypatch.setattr(tasks, "enqueue", ids.append)
    return ids


@pytest.fixture
def sqlite_file(tmp_path, django_db_blocker, queued) -> Iterator[Path]:
    """`connections["default"]` is a migrated file of this test's own, in every thread."""
    from accelweb.settings import database

    file = tmp_path / "accelweb.sqlite3"
    shutil.copy(migrated_file(), file)
    with django_db_blocker.unblock():
        before = connections.settings["default"]
        swap_default(connections.configure_settings({"default": database(f"sqlite:///{file}")})["default"])
        try:
            yield file
        finally:
            swap_default(before)


@pytest.fixture
def lab(db) -> Lab:
    return Lab.objects.create(slug="north", name="North lab", is_public=True)


@dataclass
class Sender:
    """Posts reports with one key."""

    client: object
    key: AgentKey
    secret: str
    headers: dict = field(default_factory=dict)

    def __call__(self, body, **extra):
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        extra = {"HTTP_AUTHORIZATION": f"Bearer {self.secret}", **self.headers, **extra}
        return self.client.post("/api/v1/reports/", raw, content_type="application/json", **extra)


@pytest.fixture
def sender_with(client, queued, db):
    """`sender_with(lab=lab, machine=None, ...)`: a sender with a new key."""

    def make(**of_key) -> Sender:
        key, secret = create_key(name="test", **of_key)
        return Sender(client, key, secret)

    return make


@pytest.fixture
def post(sender_with, lab) -> Sender:
    return sender_with(lab=lab)
