"""All tests of this folder talk to a real PostgreSQL."""

import pytest

from stackviz.intake.ingest import tasks
from stackviz.records.labs import keys
from stackviz.web.http import rate_limit


@pytest.fixture(autouse=True)
def _here(on_postgres, monkeypatch, settings, tmp_path):
    for memory in (keys._recognised, keys._noted, rate_limit._batches):
        memory.clear()
    settings.VAR_DIR = tmp_path  # counts are kept there
    monkeypatch.setattr(tasks, "enqueue", lambda _: None)
