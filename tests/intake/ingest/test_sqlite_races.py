"""Many at once on SQLite: a file in WAL mode, as a fresh installation has it."""

import pytest

from tests.intake.ingest.race_tests import Races


@pytest.mark.usefixtures("sqlite_file")
class TestOnSqlite(Races):
    pass
