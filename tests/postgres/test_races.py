"""Many at once on PostgreSQL."""

from tests.intake.ingest.race_tests import Races


class TestOnPostgres(Races):
    pass
