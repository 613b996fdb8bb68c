"""What the parser takes, what it refuses, and how it names the place."""

import json
import re
from datetime import UTC, datetime
from uuid import UUID

import pytest

from stackviz.report.format import LIMITS, ReportError, ReportTooLarge, parse_report
from tests.report.format.reports import (
    apple_report_body,
    gemm_result,
    h100_card,
    large_report_body,
    memory_copy_result,
    report_body,
    sha256,
)
from tests.report.format.test_round_trip import NOT_IN_SCHEMA, VALIDATOR

ID = "0f8b5b1e-6c0f-4f0e-9d39-5f3a2b9e6a11"
TOO_LONG = "d" * (LIMITS.string_chars + 1)


def error_of(body: object) -> ReportError:
    """The error a body ends in, the same whether it arrives as text or as a document."""
    with pytest.raises(ReportError) as from_text:
        parse_report(json.dumps(body))
    if isinstance(body, dict):
        with pytest.raises(ReportError) as from_document:
            parse_report(body)
        assert from_document.value.path == from_text.value.path
    return from_text.value


def test_a_whole_report_is_read():
    body = report_body(id=ID)
    text = json.dumps(body)
    report = parse_report(text.encode())
    assert report == parse_report(text) == parse_report(memoryview(text.encode())) == parse_report(body)
    assert report.id == UUID(ID)
    assert report.created_at == datetime(2026, 11, 20, 12, 59, tzinfo=UTC)
    assert report.machine.name == "rack-7"
    assert report.facts["memory.total_bytes"] == 2164192927744
    assert report.absent["rocm.version"].reason == "not_installed"
    assert report.cards[0].facts["compute_capability"] == "9.0"
    assert report.software[1].component == "nvidia-driver"
    assert report.results[0].samples == (0.00158, 0.00159, 0.0016, 0.00161, 0.00162)
    assert report.results[0].params == {"dtype": "bf16", "m": 8192, "n": 8192, "k": 8192}
    assert report.unknown_fields == ()


@pytest.mark.parametrize(
    ("items_of", "items", "path"),
    [
        ("cards", [h100_card(index=n) for n in range(LIMITS.cards + 1)], "cards"),
        ("software", [{"component": "cudnn", "version": None, "found_by": "x"}] * (LIMITS.software + 1), "software"),
        ("results", [memory_copy_result()] * (LIMITS.results + 1), "results"),
        ("probes", [{"probe": "system", "state": "ok"}] * (LIMITS.probes + 1), "probes"),
        ("samples", [0.001] * (LIMITS.samples + 1), "results[0].samples"),
        ("facts", [(f"lab.fact{n}", n) for n in range(LIMITS.facts + 1)], "facts"),
    ],
)
def test_a_list_is_full_at_its_limit_and_refused_beyond(items_of, items, path):
    def body(items):
        if items_of == "samples":
            return report_body(results=[gemm_result(samples=items)])
        return report_body(**{items_of: dict(items) if items_of == "facts" else items})

    report = parse_report(body(items[:-1]))
    assert len(report.results[0].samples if items_of == "samples" else getattr(report, items_of)) == len(items) - 1
    assert error_of(body(items)).path == path


def test_a_mac_has_no_memory_of_the_card():
    report = parse_report(apple_report_body())
    assert report.cards[0].memory_bytes is None
    assert report.cards[0].absent["power_w"].reason == "not_supported"
    assert report.unknown_fields == ()


def test_the_optional_parts_may_be_left_out():
    body = report_body()
    for name in ["facts", "absent", "cards", "software", "results", "probes"]:
        del body[name]
    report = parse_report(body)
    assert (report.cards, report.results, report.facts) == ((), (), {})


def test_a_time_in_another_zone_is_moved_to_utc():
    report = parse_report(report_body(created_at="2026-11-20T14:59:00.5+02:00"))
    assert report.created_at == datetime(2026, 11, 20, 12, 59, 0, 500000, tzinfo=UTC)


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"format": 2}, "format"),
        ({"format": True}, "format"),
        ({"format": 1.0}, "format"),
        ({"format": "1"}, "format"),
        ({"format": None}, "format"),
        ({"format": 2, "id": 1, "cards": "?"}, "format"),  # before anything else
        ({"id": "nonsense"}, "id"),
        ({"id": "{0f8b5b1e-6c0f-4f0e-9d39-5f3a2b9e6a11}"}, "id"),
        ({"id": 7}, "id"),
        ({"created_at": "2026-11-20T12:59:00"}, "created_at"),
        ({"created_at": "2026-02-30T12:59:00Z"}, "created_at"),
        ({"created_at": "0001-01-01T00:00:00+14:00"}, "created_at"),
        ({"created_at": 1763643540}, "created_at"),
        ({"agent": None}, "agent"),
        ({"agent": {"name": "", "version": "1"}}, "agent.name"),
        ({"agent": {"name": "x"}}, "agent.version"),
        ({"machine": []}, "machine"),
        ({"machine": {"identity": "my-host"}}, "machine.identity"),
        ({"machine": {"identity": sha256("x").upper()}}, "machine.identity"),
        ({"machine": {"identity": sha256("x"), "name": "n" * 201}}, "machine.name"),
        ({"facts": []}, "facts"),
        ({"facts": {"os.name": None}}, "facts.os.name"),
        ({"facts": {"os.name": 3}}, "facts.os.name"),
        ({"facts": {"memory.total_bytes": "lots"}}, "facts.memory.total_bytes"),
        ({"facts": {"memory.total_bytes": 64.0}}, "facts.memory.total_bytes"),
        ({"facts": {"memory.total_bytes": True}}, "facts.memory.total_bytes"),
        ({"facts": {"memory.total_bytes": 0}}, "facts.memory.total_bytes"),
        ({"facts": {"memory.total_bytes": 2**64 - 1}}, "facts.memory.total_bytes"),
        ({"facts": {"cuda.available": 1}}, "facts.cuda.available"),
        ({"facts": {"some.list": [1]}}, "facts.some.list"),
        ({"facts": {"": 1}}, "facts"),
        ({"absent": {"os.build": {"reason": "shy"}}}, "absent.os.build.reason"),
        ({"absent": {"os.build": {}}}, "absent.os.build.reason"),
        ({"absent": {"os.name": {"reason": "failed"}}}, "absent.os.name"),
        ({"cards": {}}, "cards"),
        ({"cards": [3]}, "cards[0]"),
        ({"cards": [h100_card(index=-1)]}, "cards[0].index"),
        ({"cards": [h100_card(), h100_card()]}, "cards[1].index"),
        ({"cards": [h100_card(kind="GPU card")]}, "cards[0].kind"),
        ({"cards": [h100_card(memory_bytes=0)]}, "cards[0].memory_bytes"),
        ({"cards": [h100_card(memory_bytes=8e10)]}, "cards[0].memory_bytes"),
        ({"cards": [h100_card(uuid_hash="GPU-1234")]}, "cards[0].uuid_hash"),
        ({"cards": [h100_card(facts={"power_limit_w": 0})]}, "cards[0].facts.power_limit_w"),
        ({"cards": [h100_card(facts={"ecc": "on"})]}, "cards[0].facts.ecc"),
        ({"software": [{"component": "CUDA!", "version": "13", "found_by": "x"}]}, "software[0].component"),
        ({"software": [{"component": "cudnn", "version": 9, "found_by": "x"}]}, "software[0].version"),
        ({"software": [{"component": "cudnn", "version": "9"}]}, "software[0].found_by"),
        ({"results": [gemm_result(), gemm_result(), gemm_result(samples="fast")]}, "results[2].samples"),
        ({"results": [gemm_result(samples=[])]}, "results[0].samples"),
        ({"results": [gemm_result(samples=[1.0, "2"])]}, "results[0].samples[1]"),
        ({"results": [gemm_result(samples=[1.0, True])]}, "results[0].samples[1]"),
        ({"results": [gemm_result(samples=[1.0, 0])]}, "results[0].samples[1]"),
        ({"results": [gemm_result(samples=[1.0, -2.0])]}, "results[0].samples[1]"),
        ({"results": [gemm_result(samples=[1.0, None])]}, "results[0].samples[1]"),
        ({"results": [gemm_result(state="fine")]}, "results[0].state"),
        ({"results": [gemm_result(state="failed")]}, "results[0].reason"),
        ({"results": [gemm_result(card=1)]}, "results[0].card"),
        ({"results": [gemm_result(version=0)]}, "results[0].version"),
        ({"results": [gemm_result(benchmark="<b>gemm</b>")]}, "results[0].benchmark"),
        ({"results": [gemm_result(started_at=None)]}, "results[0].started_at"),
        ({"results": [gemm_result(duration_s=-1)]}, "results[0].duration_s"),
        ({"results": [gemm_result(params={"dtype": {"of": "what"}})]}, "results[0].params.dtype"),
        ({"results": [gemm_result(conditions={"after.power_w": "hot"})]}, "results[0].conditions.after.power_w"),
        ({"results": [gemm_result(conditions={"after.power_w": None})]}, "results[0].conditions.after.power_w"),
        ({"probes": [{"probe": "nvidia", "state": "great"}]}, "probes[0].state"),
        ({"facts": {"os.name": TOO_LONG}}, "facts.os.name"),
        ({"absent": {"os.build": {"reason": "failed", "detail": TOO_LONG}}}, "absent.os.build.detail"),
    ],
)
def test_a_broken_report_names_the_place(changes, path):
    body = report_body(**changes)
    error = error_of(body)
    assert error.path == path
    assert not VALIDATOR.is_valid(body) or re.search(NOT_IN_SCHEMA, error.problem)


@pytest.mark.parametrize("name", ["format", "id", "created_at", "agent", "machine"])
def test_a_missing_field_is_named(name):
    body = report_body()
    del body[name]
    error = error_of(body)
    assert str(error) == f"{name}: is missing"


def test_a_failed_result_needs_a_reason_and_no_samples():
    failed = gemm_result(state="failed", reason="out of memory", samples=[], started_at=None)
    assert parse_report(report_body(results=[failed])).results[0].reason == "out of memory"


def test_a_shape_seen_before_is_still_checked():
    """The second map of a shape takes the quick path; its values are looked at all the same."""
    first = gemm_result(conditions={"after.power_w": 300.0, "device_used": "cuda:0"})
    for value, path in [(-1.0, "after.power_w"), ("x", "after.power_w")]:
        second = gemm_result(conditions={"after.power_w": value, "device_used": "cuda:0"})
        assert error_of(report_body(results=[first, second])).path == f"results[1].conditions.{path}"
    long = gemm_result(conditions={"after.power_w": 1.0, "device_used": "c" * (LIMITS.string_chars + 1)})
    assert error_of(report_body(results=[first, long])).path == "results[1].conditions.device_used"


def test_a_body_over_the_limit_is_too_large():
    body = b'{"format": 1, "pad": "' + b"x" * LIMITS.body_bytes + b'"}'
    for too_large in (body, body.decode()):
        with pytest.raises(ReportTooLarge):
            parse_report(too_large)


def test_a_large_report_of_two_thousand_results_is_read():
    report = parse_report(json.dumps(large_report_body(results=2000, samples=20)))
    assert len(report.results) == 2000
