"""Odd results are stored, flagged with the reason when their report is read, and a person's decision stays."""

import json
from datetime import timedelta

import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone

from stackviz.intake.ingest.interpret import interpret
from stackviz.intake.ingest.reread import put_back
from stackviz.records.catalog.models import Accelerator, Alias, Source, SpecValue, Vendor
from stackviz.records.labs.models import Report
from stackviz.records.series.decide_standing import record_decision
from stackviz.records.series.models import Result, ResultDecision
from stackviz.records.series.standing import Standing
from tests.report.format.reports import gemm_result, h100_card, memory_copy_result, report_body

SOUND = [0.00158, 0.00159, 0.0016, 0.00161, 0.00162, 0.00163]
TOO_FAST = [0.00108, 0.00109, 0.0011, 0.00111, 0.00112, 0.00113]  # 1,000 TFLOP/s


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
def uploaded(post, h100):
    """Uploads a report over HTTP and reads it -> its results in order."""

    def upload(*results, **changes) -> list[Result]:
        body = report_body(results=list(results), **changes)
        assert post(body).status_code == 202
        assert interpret(body["id"]) == "read"
        return list(Result.objects.filter(report=body["id"]).order_by("position"))

    return upload


@pytest.mark.parametrize(
    ("result", "flags"),
    [
        (gemm_result(samples=SOUND), None),
        (gemm_result(samples=TOO_FAST), "above-bound"),
        (memory_copy_result(samples=[0.00060, 0.00061, 0.00062]), "above-bound"),
        (gemm_result(samples=[0.0016]), "one-sample"),
        (gemm_result(samples=[0.0016] * 7), "identical-samples"),
        (gemm_result(samples=[0.001]), "above-bound one-sample"),
        (gemm_result(samples=[5e-324, 6e-324, 1e-323]), "impossible"),
        (gemm_result(samples=SOUND, unit="ms"), "other-unit"),
        (gemm_result(samples=SOUND, started_at="2999-01-01T00:00:00Z"), "future"),
        (gemm_result(state="failed", reason="out of memory", samples=[]), None),
        # Benchmarks nobody defined and parameters of any shape have no rate, so nothing ranks them.
        (gemm_result(benchmark="made-up", unit="bananas", samples=[3.0, 4.0]), None),
        (gemm_result(params={"dtype": "bf16", "m": "wide", "note": "x" * 50}, samples=SOUND), None),
        (gemm_result(params={}, samples=SOUND), None),
    ],
)
def test_an_odd_result_is_flagged_with_every_reason(uploaded, result, flags):
    (row,) = uploaded(result)
    assert (row.flags, row.standing) == (flags, "flagged" if flags else None)


DECODE = {"test": "tg128", "model": "Llama 2 7B", "quant": "Q4_0"}


@pytest.mark.parametrize(
    ("changes", "flags"),
    [
        ({"samples": [150.0, 150.5, 151.0]}, None),
        ({"samples": [880.0, 881.0, 882.0]}, "above-bound"),  # 3.35 TB/s for 3.56 GiB of weights: 876 at most
        ({"samples": [880.0, 881.0, 882.0], "params": DECODE | {"test": "pp512"}}, None),
        ({"samples": [1e9, 1.1e9]}, "impossible"),
        ({"samples": [150.0]}, "one-sample"),
        ({"samples": [150.0], "conditions": {"mean_of_runs": True, "mean_stddev": 0.6}}, None),
        ({"samples": [150.0, 150.0]}, "identical-samples"),
        ({"samples": [150.0, 151.0], "unit": "s"}, "other-unit"),
        ({"samples": [150.0, 151.0], "params": {"test": "quake"}}, None),  # it has no rate, so nothing ranks it
    ],
)
def test_rates_are_judged_as_rates(uploaded, changes, flags):
    (row,) = uploaded(gemm_result(**{"benchmark": "llama-bench", "params": DECODE, "unit": "token/s", **changes}))
    assert row.flags == flags


def between_cards(benchmark: str, samples: list[float], unit: str = "s", **params):
    return gemm_result(benchmark=benchmark, params=params, unit=unit, samples=samples, card=None, cards=[0, 1])


PEER = {"to": 1, "bytes": 2**28}
ALL_REDUCE = {"op": "all-reduce", "dtype": "fp32", "bytes": 2**28}


@pytest.mark.parametrize(
    ("result", "flags"),
    [
        (between_cards("peer-copy", [1e-3, 1.1e-3, 1.2e-3], **PEER), None),
        (between_cards("peer-copy", [7e-5, 7.1e-5, 7.2e-5], **PEER), "impossible"),  # 3.8 TB/s, memory has 3.35
        (between_cards("peer-copy", [7e-5, 7.1e-5], **PEER) | {"card": 0, "cards": []}, "impossible"),
        (between_cards("nvbandwidth", [3.4e12, 3.5e12], "B/s", test="device_to_device_memcpy_read_ce"), "impossible"),
        (between_cards("nvbandwidth", [2.7e11, 2.8e11], "B/s", test="device_to_device_memcpy_read_ce"), None),
        (between_cards("collectives", [7e-5, 7.1e-5], **ALL_REDUCE, cards=2), "impossible"),
        (between_cards("nccl-tests", [7e-5, 7.1e-5], **ALL_REDUCE, cards=2), "impossible"),
    ],
)
def test_no_link_between_cards_outruns_their_memory(uploaded, result, flags):
    (row,) = uploaded(result, cards=[h100_card(), h100_card(index=1, uuid_hash=None)])
    assert row.flags == flags


def test_without_a_sheet_a_link_has_a_limit_too(uploaded):
    cards = [h100_card(index=index, reported_name="NVIDIA Imaginary", uuid_hash=None) for index in range(2)]
    (row,) = uploaded(between_cards("peer-copy", [1e-5, 1.1e-5], **PEER), cards=cards)
    assert row.flags == "impossible"


def test_a_condition_names_no_cards_that_the_result_does_not(uploaded):
    (row,) = uploaded(gemm_result(samples=SOUND, card=None, conditions={"cards_used": "0", "tf32": False}))
    assert row.conditions == {"tf32": False}


def test_a_whole_report_from_the_future_is_flagged(uploaded):
    ahead = (timezone.now() + timedelta(days=3)).isoformat()
    (row,) = uploaded(gemm_result(samples=SOUND), created_at=ahead)
    assert row.flags == "future"
    soon = (timezone.now() + timedelta(minutes=2)).isoformat()
    (row,) = uploaded(gemm_result(samples=SOUND), created_at=soon)
    assert row.flags is None


def test_slices_of_a_card_are_held_against_nothing(uploaded):
    slice_of_card = h100_card(facts={**h100_card()["facts"], "mig_mode": "enabled"})
    (fast,) = uploaded(gemm_result(samples=TOO_FAST), cards=[slice_of_card])
    assert fast.flags is None


@pytest.mark.parametrize("sample", ["0", "-0.5", '"0.1"', "null", "true", "NaN", "Infinity", "1e999"])
def test_a_sample_that_no_clock_gives_is_refused_by_name(post, h100, sample):
    document = json.dumps(report_body(results=[gemm_result(), gemm_result(samples=[0.1, 0.1234])]))
    response = post(document.replace("0.1234", sample).encode())
    assert response.status_code == 422
    assert response.json()["field"] in ("results[1].samples[1]", "body")
    assert not Report.objects.exists()


def test_a_decision_outlives_reading_again(uploaded, admin_user):
    odd, sound = uploaded(gemm_result(samples=TOO_FAST), memory_copy_result(samples=SOUND))
    record_decision(odd, Standing.ACCEPTED, "boost clock above the reference", admin_user)
    record_decision(sound, Standing.WITHDRAWN, "another job ran beside it", admin_user)
    put_back([odd.report_id])
    interpret(odd.report_id)
    rows = Result.objects.filter(report=odd.report_id).order_by("position")
    assert [(row.flags, row.standing) for row in rows] == [("above-bound", "accepted"), (None, "withdrawn")]
    record_decision(rows[0], Standing.WITHDRAWN, "the clock was wrong after all", admin_user)
    put_back([odd.report_id])
    interpret(odd.report_id)
    assert Result.objects.get(report=odd.report_id, position=0).standing == "withdrawn"
    assert ResultDecision.objects.filter(by=admin_user).count() == 3


def test_a_decision_that_repeats_the_newest_is_recorded_once(uploaded, admin_user, django_user_model):
    (row,) = uploaded(gemm_result(samples=SOUND))
    other = django_user_model.objects.create_user("other")
    first = record_decision(row, Standing.WITHDRAWN, "the fan was off", admin_user)
    assert record_decision(row, Standing.WITHDRAWN, " the  fan was off", other) == first
    record_decision(row, Standing.WITHDRAWN, "the fan stood still", admin_user)
    record_decision(row, Standing.ACCEPTED, "it ran", admin_user)
    record_decision(row, Standing.WITHDRAWN, "the fan was off", admin_user)
    decisions = ResultDecision.objects.order_by("pk").values_list("standing", flat=True)
    assert list(decisions) == ["withdrawn", "withdrawn", "accepted", "withdrawn"]
    assert Result.objects.get().standing == "withdrawn"


def test_a_decision_needs_a_reason(uploaded, admin_user):
    (row,) = uploaded(gemm_result(samples=SOUND))
    for reason, replaced_by, field in (("  ", None, "reason"), ("x" * 301, None, "reason"),
                                       ("newer", row.report, "replaced_by")):  # fmt: skip
        with pytest.raises(ValidationError) as error:
            record_decision(row, Standing.WITHDRAWN, reason, admin_user, replaced_by)
        assert list(error.value.message_dict) == [field]
    assert Result.objects.get().standing is None
