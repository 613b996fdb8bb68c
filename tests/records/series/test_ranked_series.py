"""Which series a ranking reads: no machine crowds out the others."""

from datetime import UTC, datetime, timedelta

import pytest

from stackviz.records.labs.models import Lab, Machine
from stackviz.records.series.models import Series
from stackviz.records.series.queries import MOST_SERIES, SERIES_OF_A_MACHINE, ranked_series

START = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def machine_with(db):
    lab = Lab.objects.create(slug="north", name="North", is_public=True)

    def make(slug: str, count: int, taken_at: datetime = START) -> Machine:
        """A machine with series, the first of which was measured last."""
        machine = Machine.objects.create(lab=lab, slug=slug, name=slug, latest_taken_at=taken_at)
        Series.objects.bulk_create(
            Series(
                machine=machine, benchmark="gemm", version=1, device="cuda:0", params={"m": number},
                params_key=str(number), latest_at=START - timedelta(minutes=number),
            )
            for number in range(count)
        )  # fmt: skip
        return machine

    return make


def test_a_sweep_on_one_machine_leaves_the_others_their_place(machine_with, django_assert_num_queries):
    sweep = machine_with("sweep", MOST_SERIES + 1, taken_at=START + timedelta(days=1))
    quiet = machine_with("quiet", 2)
    with django_assert_num_queries(1):
        read = list(ranked_series(Series.objects.all()))
    machines = dict(Series.objects.values_list("pk", "machine"))
    assert [machines[pk] for pk in read] == [sweep.pk] * SERIES_OF_A_MACHINE + [quiet.pk] * 2


def test_of_a_machine_those_measured_last_are_read(machine_with):
    machine_with("sweep", SERIES_OF_A_MACHINE + 5)
    read = Series.objects.filter(pk__in=list(ranked_series(Series.objects.all())))
    assert {series.params["m"] for series in read} == set(range(SERIES_OF_A_MACHINE))


def test_machines_that_reported_last_come_first(machine_with):
    machine_with("old", 3)
    new = machine_with("new", 3, taken_at=START + timedelta(days=1))
    read = Series.objects.filter(pk__in=list(ranked_series(Series.objects.all(), most=3)))
    assert {series.machine for series in read} == {new}
