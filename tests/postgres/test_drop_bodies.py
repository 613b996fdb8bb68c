"""Old reports lose their bodies, on PostgreSQL."""

from tests.ingest.drop_bodies_tests import DropBodies


class TestOnPostgres(DropBodies):
    pass
