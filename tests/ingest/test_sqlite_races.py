"""Many at once on SQLite: a file in WAL mode, as a fresh installation has it."""

import shutil

import pytest
from django.db import connections

from tests.conftest import swap_default
from tests.curated import migrated_file
from tests.ingest.race_tests import Races


@pytest.fixture(autouse=True)
def _on_sqlite_file(tmp_path, django_db_blocker, bells):
    """`connections["default"]` is a migrated file of this test's own, in every thread."""
    from accelweb.settings import database

    file = tmp_path / "accelweb.sqlite3"
    shutil.copy(migrated_file(), file)
    with django_db_blocker.unblock():
        before = connections.settings["default"]
        swap_default(connections.configure_settings({"default": database(f"sqlite:///{file}")})["default"])
        try:
            yield
        finally:
            swap_default(before)


class TestOnSqlite(Races):
    pass
