"""Many at once on PostgreSQL."""

from tests.ingest.race_tests import Races


class TestOnPostgres(Races):
    pass
