"""What series keep of their results, on SQLite."""

import pytest

from tests.records.series.rollup_tests import RollUps


@pytest.mark.django_db
class TestOnSqlite(RollUps):
    pass
