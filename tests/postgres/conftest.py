"""All tests of this folder talk to a real PostgreSQL."""

import pytest

from stackviz.ingest import doorbell, pace
from stackviz.labs import keys


@pytest.fixture(autouse=True)
def _here(on_postgres, monkeypatch):
    for memory in (keys._recognised, keys._noted, pace._drawn):
        memory.clear()
    monkeypatch.setattr(doorbell, "ring", lambda _: None)
