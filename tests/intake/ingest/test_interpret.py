"""Reading a stored report: what is written, once, however often it is asked for."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from django.db import IntegrityError

from stackviz.intake.ingest import interpret as interpret_module
from stackviz.intake.ingest import store as store_module
from stackviz.intake.ingest.interpret import MAX_TRIES, interpret
from stackviz.intake.ingest.reading import INTERPRETER
from stackviz.intake.ingest.reread import put_back
from stackviz.records.catalog.models import Accelerator, Alias, Vendor
from stackviz.records.labs.models import Card, Finding, Machine, Report, Snapshot
from stackviz.records.series.models import Result, Series
from tests.report.format.reports import (
    apple_report_body,
    gemm_result,
    h100_card,
    large_report_body,
    report_body,
    sha256,
)


@pytest.fixture
def machine(lab) -> Machine:
    return Machine.objects.create(lab=lab, slug="rack-7", name="rack-7", identity=sha256("x"))


@pytest.fixture
def stored(machine):
    """Stores a report as if it had just been accepted."""

    def store(body, **fields) -> Report:
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        report_id = body["id"] if isinstance(body, dict) else fields.pop("id")
        return Report.objects.create(id=report_id, machine=machine, body=raw, **fields)

    return store


def counts():
    return {model.__name__: model.objects.count() for model in (Snapshot, Card, Finding, Series, Result)}


def test_report_gives_snapshot_findings_and_results(stored, machine):
    report = stored(report_body())
    assert [interpret(report.pk) for _ in range(3)] == ["read", "read", "read"]
    assert (counts()["Result"], counts()["Snapshot"]) == (2, 1)  # written once
    report.refresh_from_db()
    machine.refresh_from_db()
    snapshot = Snapshot.objects.get()
    card = snapshot.cards.get()
    assert (report.status, report.error, report.interpreter) == ("read", "", INTERPRETER)
    assert report.read_at is not None
    assert machine.latest_snapshot == snapshot
    assert snapshot.taken_at == datetime(2026, 11, 20, 12, 59, tzinfo=UTC)
    assert snapshot.agent == "accelweb-agent 0.1.0"
    assert snapshot.facts["torch.version"] == "2.13.0+cu130"
    assert snapshot.absent["apple.chip"] == {"reason": "not_applicable", "detail": "not an Apple machine"}
    assert snapshot.software[0] == {"component": "linux", "version": "5.15.0-105-generic", "found_by": "os.uname"}
    assert snapshot.probes[0] == {"probe": "system", "state": "ok", "duration_s": 0.041, "detail": None}
    assert (card.reported_name, card.memory_bytes, card.facts["ecc"]) == ("NVIDIA H100 80GB HBM3", 85520809984, True)
    assert interpret("00000000-0000-4000-8000-000000000000") == "gone"
    assert interpret(stored(apple_report_body()).pk) == "read"
    assert Card.objects.latest("pk").vendor == "apple"


def test_a_result_keeps_its_samples_and_says_what_they_come_to(stored):
    interpret(stored(report_body(results=[gemm_result(samples=[5.0, 1.0, 3.0, 2.0, 4.0, 6.0])])).pk)
    result = Result.objects.select_related("series").get()
    assert result.samples == [5.0, 1.0, 3.0, 2.0, 4.0, 6.0]
    assert (result.median, result.q1, result.q3, result.low, result.high) == (3.5, 2.25, 4.75, 1.0, 6.0)
    assert (result.sample_count, result.unit, result.state, result.duration_s) == (6, "s", "ok", 1.21)
    assert result.measured_at == datetime(2026, 11, 20, 12, 58, 10, 250000, tzinfo=UTC)
    assert result.conditions["throttle_reasons"] == "sw_power_cap"
    assert result.series.params == {"dtype": "bf16", "m": 8192, "n": 8192, "k": 8192}
    assert (result.series.benchmark, result.series.device, result.series.card_index) == ("gemm", "cuda:0", 0)


def test_failed_and_skipped_runs_are_results_with_their_reason(stored):
    failed = gemm_result(state="failed", reason="out of memory", samples=[], started_at=None)
    skipped = gemm_result(state="skipped", reason="fp8 needs a newer card", samples=[], params={"dtype": "fp8"})
    interpret(stored(report_body(results=[failed, skipped])).pk)
    rows = list(Result.objects.order_by("position").values_list("state", "reason", "median", "sample_count"))
    assert rows == [("failed", "out of memory", None, 0), ("skipped", "fp8 needs a newer card", None, 0)]


def test_series_differ_by_card_device_and_version(stored):
    cards = [h100_card(), h100_card(index=1)]
    others = [{}, {"card": 1}, {"device": "cuda:1"}, {"version": 2}, {"params": {"dtype": "fp16"}}, {"card": None}]
    for _ in range(3):
        results = [gemm_result(), *(gemm_result(**other) for other in others)]
        interpret(stored(report_body(cards=cards, results=results)).pk)
    assert counts() == {"Snapshot": 3, "Card": 6, "Finding": counts()["Finding"], "Series": 6, "Result": 21}


def test_the_newest_report_is_the_machines_latest(stored, machine):
    """A late older one is not, nor one that is read again; of equal times it is the last one read."""
    older = stored(report_body(created_at="2026-11-19T12:00:00Z"))
    newer, newest = (stored(report_body(created_at="2026-11-20T12:00:00Z")) for _ in range(2))
    for report, latest in ((newer, newer), (older, newer), (newest, newest), (older, newest)):
        put_back([report.pk] if report.status == "read" else [])
        interpret(report.pk)
        report.refresh_from_db()
        machine.refresh_from_db()
        assert machine.latest_snapshot == latest.snapshot
        assert machine.latest_taken_at == latest.snapshot.taken_at


def test_clock_ahead_is_clamped_to_arrival(stored, machine):
    received = datetime(2026, 11, 20, 13, tzinfo=UTC)
    results = [gemm_result(started_at="2031-01-01T00:00:00Z")]
    report = stored(report_body(created_at="2031-01-01T00:00:00Z", results=results), received_at=received)
    interpret(report.pk)
    report.refresh_from_db()
    assert report.snapshot.taken_at == received
    assert Result.objects.get().measured_at == received
    assert report.warnings == [
        {"code": "clock-ahead", "where": "created_at", "detail": str(datetime(2031, 1, 1, tzinfo=UTC) - received)}
    ]


@pytest.mark.parametrize(("ahead_s", "is_said"), [(0, False), (300, False), (301, True)])
def test_a_clock_may_be_five_minutes_ahead(stored, ahead_s, is_said):
    received = datetime(2026, 11, 20, 13, tzinfo=UTC)
    created = received + timedelta(seconds=ahead_s)
    report = stored(report_body(created_at=created.strftime("%Y-%m-%dT%H:%M:%SZ")), received_at=received)
    interpret(report.pk)
    report.refresh_from_db()
    assert [warning["code"] for warning in report.warnings] == ["clock-ahead"] * is_said


def test_what_is_not_understood_is_listed(stored):
    results = [gemm_result(benchmark="fft", params={"n": 4})]
    probes = [{"probe": "nvidia", "state": "timeout", "detail": "NVML hung"}]
    interpret(stored(report_body(energy=5, facts={"lab.rack": "b7"}, results=results, probes=probes)).pk)
    report = Report.objects.get()
    assert set(report.unknown_fields) == {"energy", "facts.lab.rack"}
    assert report.warnings == [
        {"code": "benchmark-unknown", "where": "results[0].benchmark", "detail": "fft v1"},
        {"code": "probe-timeout", "where": "probes[0]", "detail": "nvidia: NVML hung"},
    ]
    assert Result.objects.get().median == 0.0016


def test_a_card_is_linked_to_the_sheet_that_has_its_name(stored):
    vendor = Vendor.objects.create(slug="nvidia", name="NVIDIA")
    h100 = Accelerator.objects.create(slug="h100", name="H100", vendor=vendor, kind="gpu")
    Alias.objects.create(accelerator=h100, name="NVIDIA H100 80GB HBM3")
    interpret(stored(report_body(cards=[h100_card(), h100_card(index=1, reported_name="NVIDIA Z9000")])).pk)
    assert list(Card.objects.values_list("accelerator__slug", "match_how")) == [("h100", "name"), (None, "unknown")]


def failing(error):
    def stumble(*_):
        raise error

    return stumble


def test_unreadable_report_fails_without_retry(stored, monkeypatch, caplog):
    report = stored(b'{"format": 1}', id="00000000-0000-4000-8000-000000000000")
    assert [interpret(report.pk), interpret(report.pk)] == ["failed", "failed"]
    report.refresh_from_db()
    assert (report.error, report.read_at is not None) == ("id: is missing", True)
    monkeypatch.setattr(interpret_module, "read", failing(KeyError("password=hunter2")))
    report = stored(report_body())
    assert interpret(report.pk) == "failed"
    report.refresh_from_db()
    assert (report.error, str(report.pk) in caplog.text) == ("internal error: KeyError", True)


def test_half_a_reading_leaves_nothing(stored, monkeypatch):
    monkeypatch.setattr(store_module, "_point_at", failing(IntegrityError()))
    report = stored(report_body())
    assert interpret(report.pk) == "failed"
    assert set(counts().values()) == {0}


def test_a_report_that_kills_its_reader_is_given_up(stored, monkeypatch):
    class Killed(BaseException):
        """As SIGKILL: nothing in the process can catch it."""

    now = datetime.now(UTC)
    report = stored(report_body(), received_at=now - timedelta(hours=1), queued_at=now)
    monkeypatch.setattr(interpret_module, "read", failing(Killed()))
    for _ in range(MAX_TRIES):
        with pytest.raises(Killed):
            interpret(report.pk)
    assert interpret(report.pk) == "failed"
    report.refresh_from_db()
    assert "crashed the worker 5 times" in report.error


# --- reading again ---


def test_reading_again_replaces_what_was_read(stored, machine):
    vendor = Vendor.objects.create(slug="nvidia", name="NVIDIA")
    report = stored(report_body())
    interpret(report.pk)
    first = counts()
    snapshot = Snapshot.objects.get()
    h100 = Accelerator.objects.create(slug="h100", name="H100", vendor=vendor, kind="gpu")
    Alias.objects.create(accelerator=h100, name="NVIDIA H100 80GB HBM3")
    put_back([report.pk])
    assert interpret(report.pk) == "read"
    machine.refresh_from_db()
    assert counts() == first
    assert machine.latest_snapshot == snapshot
    assert Card.objects.get().accelerator == h100


def test_what_was_read_stays_when_reading_again_fails(stored, monkeypatch, machine):
    report = stored(report_body())
    interpret(report.pk)
    before = counts()
    put_back([report.pk])
    monkeypatch.setattr(interpret_module, "read", failing(RuntimeError()))
    assert interpret(report.pk) == "failed"
    machine.refresh_from_db()
    assert counts() == before
    assert machine.latest_snapshot is not None


# --- what it costs ---


def test_reading_statement_count_is_constant(stored, django_assert_num_queries):
    for body in (report_body(), large_report_body(60, 5)):
        interpret(stored(body).pk)  # its series exist from now on
        again = stored(body | {"id": report_body()["id"]})
        with django_assert_num_queries(15):
            interpret(again.pk)
