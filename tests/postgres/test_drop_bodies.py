"""Old reports lose their bodies, on PostgreSQL."""

from tests.intake.ingest.drop_bodies_tests import DropBodies


class TestOnPostgres(DropBodies):
    pass
