"""What series keep of their results, on PostgreSQL; also while many reports are stored at once."""

from stackviz.benchmarks.models import Series
from stackviz.ingest.interpret import interpret_all
from tests.benchmarks.rollup_tests import RollUps, new_machine, nothing_differs, stored, time
from tests.ingest.races import together


class TestOnPostgres(RollUps):
    pass


def test_concurrent_batches_keep_the_count_and_the_newest():
    machine = new_machine()
    ids = [stored(machine, 1 + number, 1.0 + number) for number in range(24)]
    together(*[lambda some=ids[number::6]: interpret_all(some) for number in range(6)])
    series = Series.objects.get()
    assert (series.result_count, series.latest_at, series.baseline) == (24, time(24), 14.5)
    assert nothing_differs()
