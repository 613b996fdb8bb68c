"""What must hold on every database, on PostgreSQL."""

from stackviz.intake.ingest.interpret import interpret_all
from stackviz.records.series.models import Series
from tests.intake.ingest.drop_bodies_tests import DropBodies
from tests.intake.ingest.race_tests import Races
from tests.intake.ingest.races import together
from tests.intake.ingest.reread_tests import RereadTogether
from tests.records.series.rollup_tests import RollUps, new_machine, nothing_differs, stored, time


class TestBodiesAreDropped(DropBodies):
    pass


class TestRaces(Races):
    pass


class TestReread(RereadTogether):
    pass


class TestRollUps(RollUps):
    pass


def test_concurrent_batches_keep_the_count_and_the_newest():
    machine = new_machine()
    ids = [stored(machine, 1 + number, 1.0 + number) for number in range(24)]
    together(*[lambda some=ids[number::6]: interpret_all(some) for number in range(6)])
    series = Series.objects.get()
    assert (series.result_count, series.latest_at, series.baseline) == (24, time(24), 14.5)
    assert nothing_differs()
