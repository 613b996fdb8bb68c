"""A batch is read again, on PostgreSQL."""

from tests.intake.ingest.reread_tests import RereadTogether


class TestOnPostgres(RereadTogether):
    pass
