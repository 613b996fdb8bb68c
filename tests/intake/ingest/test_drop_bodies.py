"""Old reports lose their bodies, on SQLite."""

import pytest

from tests.intake.ingest.drop_bodies_tests import DropBodies


@pytest.mark.django_db
class TestOnSqlite(DropBodies):
    pass
