"""What a page costs depends on the series it shows, not on how many results are stored."""

import json
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from stackviz.intake.ingest.interpret import interpret
from stackviz.records.catalog.models import Accelerator, Alias, Source, SpecValue, Vendor
from stackviz.records.catalog.queries import public_catalogue
from stackviz.records.labs.models import Lab, Machine, Report
from stackviz.records.series.models import Result, Series
from stackviz.records.series.queries import SERIES_PER_MACHINE, latest_result, latest_results, series_history
from stackviz.records.series.rollup import refresh
from tests.report.format.reports import gemm_result, h100_card, memory_copy_result, report_body

START = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def h100(db) -> Accelerator:
    """A sheet with the two peaks the benchmarks are held against."""
    vendor = Vendor.objects.create(slug="nvidia", name="NVIDIA")
    accelerator = Accelerator.objects.create(slug="h100", name="H100", vendor=vendor, kind="gpu")
    Alias.objects.create(accelerator=accelerator, name="NVIDIA H100 80GB HBM3")
    source = Source.objects.create(key="sheet", title="data sheet", url="https://example.org/h100", kind="maker")
    for field, value, unit, condition in (
        ("bf16_tensor_tflops", "989.4", "TFLOPS", "sparsity=dense"),
        ("memory_bandwidth_gb_s", "3350", "GB/s", ""),
    ):
        SpecValue.objects.create(
            accelerator=accelerator, field=field, value=value, unit=unit, condition=condition, source=source,
            status="public", is_preferred=True,
        )  # fmt: skip
    return accelerator


@pytest.fixture
def new_machine(db):
    def make(slug) -> Machine:
        lab, _ = Lab.objects.get_or_create(slug="north", defaults={"name": "North", "is_public": True})
        return Machine.objects.create(lab=lab, slug=slug, name=slug)

    return make


def report_of(machine, **changes) -> Report:
    body = report_body(**changes)
    report = Report.objects.create(id=body["id"], machine=machine, body=json.dumps(body).encode())
    assert interpret(report.pk) == "read"
    return report


def test_the_newest_result_of_each_series_is_found(new_machine):
    machine = new_machine("m")
    report_of(machine, results=[gemm_result(samples=[0.2] * 6, started_at="2026-11-18T12:00:00Z")])
    report_of(
        machine, results=[gemm_result(samples=[0.1] * 6, started_at="2026-11-19T12:00:00Z"), memory_copy_result()]
    )
    report_of(machine, results=[gemm_result(samples=[0.3] * 6, started_at="2026-11-17T12:00:00Z")])
    found = latest_results([machine])[machine.pk]
    assert [(result.benchmark_key, result.summary.median) for result in found] == [
        ("gemm", 0.1),
        ("memory-copy", 0.00073),
    ]


def test_a_failed_run_is_the_newest_result_when_it_came_last(new_machine):
    machine = new_machine("m")
    report_of(machine, results=[gemm_result(started_at="2026-11-18T12:00:00Z")])
    failed = gemm_result(state="failed", reason="out of memory", samples=[], started_at="2026-11-19T12:00:00Z")
    report_of(machine, results=[failed])
    (result,) = latest_results([machine])[machine.pk]
    assert (result.state, result.reason, result.rate) == ("failed", "out of memory", None)


def test_result_is_compared_with_published_peak(new_machine, h100):
    machine = new_machine("m")
    report_of(machine)
    gemm, copy = latest_results([machine])[machine.pk]
    assert gemm.peak.share == pytest.approx(0.694, abs=0.001)
    assert (gemm.peak.field, gemm.peak.condition) == ("bf16_tensor_tflops", "sparsity=dense")
    assert copy.peak.share == pytest.approx(0.878, abs=0.001)
    assert gemm.card.reported_name == "NVIDIA H100 80GB HBM3"
    assert gemm.torch_version == "2.13.0+cu130"


@pytest.mark.parametrize(
    "changes",
    [
        {"cards": [h100_card(facts={"mig_mode": "enabled"})]},
        {"results": [gemm_result(device="cpu", card=None)]},
    ],
    ids=["slice", "cpu"],
)
def test_a_slice_or_a_processor_is_not_rated_against_the_card(new_machine, h100, changes):
    machine, other = new_machine("m"), new_machine("never measured")
    report_of(machine, **changes)
    found = latest_results([machine, other])
    assert (found[machine.pk][0].peak, found[other.pk], latest_results([])) == (None, [], {})


def test_the_queries_do_not_grow_with_machines_or_results(new_machine, h100, django_assert_num_queries):
    machines = [new_machine(f"m{number}") for number in range(4)]
    for machine in machines:
        for _ in range(2):
            report_of(machine, results=[gemm_result(params={"m": size, "n": 1, "k": 1}) for size in range(1, 20)])
    public_catalogue()  # read from now on
    for some in (machines[:1], machines):
        with django_assert_num_queries(5):
            assert sum(map(len, latest_results(some).values())) == 19 * len(some)


@pytest.fixture
def many_series(new_machine):
    """A machine with 5 series more than are shown; the first is the one measured last, the others ever longer ago."""
    machine = new_machine("m")
    rows = [
        Series(machine=machine, benchmark="gemm", version=1, device="cpu", params={"m": number}, params_key=str(number))
        for number in range(SERIES_PER_MACHINE + 5)
    ]
    Series.objects.bulk_create(rows)
    report = Report.objects.create(id=uuid4(), machine=machine, body=b"")
    Result.objects.bulk_create(
        Result(
            series=series, report=report, position=number, state="ok", unit="s", sample_count=1, median=1.0,
            measured_at=START - timedelta(days=number),
        )
        for number, series in enumerate(rows)
    )  # fmt: skip
    refresh((), {series.pk: 1 for series in rows})
    return machine


def test_newest_series_are_shown_rest_counted(many_series, new_machine, django_assert_max_num_queries):
    other = new_machine("other")
    report_of(other)
    public_catalogue()
    with django_assert_max_num_queries(5):
        found = latest_results([many_series, other])
    assert {one.params["m"] for one in found[many_series.pk]} == set(range(SERIES_PER_MACHINE))
    assert found[many_series.pk].left_out == 5
    assert (len(found[other.pk]), found[other.pk].left_out) == (2, 0)


def test_the_result_of_a_series_measured_long_ago_can_be_read(many_series, django_assert_max_num_queries):
    oldest = Series.objects.get(machine=many_series, params_key=str(SERIES_PER_MACHINE + 4))
    public_catalogue()
    with django_assert_max_num_queries(5):
        assert latest_result(oldest).series_id == oldest.pk
    unmeasured = Series.objects.create(machine=many_series, benchmark="gemm", version=1, device="x", params_key="x")
    assert latest_result(unmeasured) is None


def test_old_results_are_never_touched(new_machine):
    """The plan probes the index once a series; it scans neither all results nor all of a series."""
    newest = Result.objects.filter(series_id=1).order_by("-measured_at").values("pk")[:1]
    plan = newest.explain()
    assert "result_newest_of_series" in plan
    assert "SCAN" not in plan
    assert "TEMP B-TREE" not in plan


def test_history_is_as_long_as_asked_newest_kept_oldest_first(new_machine):
    machine = new_machine("m")
    series = Series.objects.create(machine=machine, benchmark="gemm", version=1, device="cpu", params_key="k")
    for day in range(5):
        report = Report.objects.create(id=uuid4(), machine=machine, body=b"")
        Result.objects.create(
            series=series, report=report, position=0, state="ok", unit="s", sample_count=1, median=float(day),
            measured_at=START + timedelta(days=day),
        )  # fmt: skip
    assert [point.seconds for point in series_history(series, points=3)] == [2.0, 3.0, 4.0]
