"""One result as pages show it."""

from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import pytest

from stackviz.base.stats import Summary
from stackviz.records.series.measurement import CardUsed, Measurement, PeakShare, setting_label
from stackviz.records.series.words import size_text
from stackviz.report.measuring import BENCHMARKS

CALM = Summary(count=30, median=0.0014, q1=0.00139, q3=0.00141, low=0.001395, high=0.001405)
CLEAN = {"throttle_reasons": "none", "device_used": "cuda:0", "fallback": False}


def measured(**changes) -> Measurement:
    """A clean bf16 product on an H100: 785 TFLOP/s."""
    fields = {
        "machine_id": 1,
        "series_id": 1,
        "report_id": UUID(int=1),
        "benchmark_key": "gemm",
        "version": 1,
        "device": "cuda:0",
        "card_index": 0,
        "params": {"dtype": "bf16", "m": 8192, "n": 8192, "k": 8192},
        "params_key": "k",
        "measured_at": datetime(2026, 11, 20, tzinfo=UTC),
        "state": "ok",
        "reason": "",
        "unit": "s",
        "summary": CALM,
        "conditions": CLEAN,
        "torch_version": "2.8.0",
        "card": CardUsed(0, "NVIDIA H100 80GB HBM3", 7, {"power_limit_w": 700.0, "power_default_limit_w": 700.0}),
    }
    return Measurement(**{**fields, **changes})


def test_seconds_become_a_rate_with_its_interval():
    rate = measured().rate
    assert (rate.label, rate.unit) == ("785 TFLOP/s", "FLOP/s")
    assert rate.low < rate.value < rate.high
    assert rate.spread_label == "±0.36 %"


@pytest.mark.parametrize(
    "changes", [{"summary": None, "state": "failed"}, {"benchmark_key": "fft"}, {"version": 9}, {"unit": "J"}]
)
def test_what_is_not_known_has_no_rate(changes):
    assert measured(**changes).rate is None
    assert measured(benchmark_key="fft").title == "fft"
    assert measured(summary=Summary(count=3, median=0.0014)).rate.spread_label == ""


@pytest.mark.parametrize(
    ("params", "label"),
    [
        ({"dtype": "bf16", "m": 8192, "n": 8192, "k": 8192}, "bf16 8192³"),
        ({"dtype": "fp32", "m": 4096, "n": 1024, "k": 512}, "fp32 4096×1024×512"),
        ({"bytes": 4_294_967_296}, "4.29 GB"),
        ({"rows": 7, "kind": "x"}, "rows=7 kind=x"),
        ({"bytes": "many"}, "bytes=many"),
        ({}, ""),
    ],
)
def test_parameters_are_shown_in_short(params, label):
    assert setting_label(params) == label


@pytest.mark.parametrize(
    ("share", "label", "above"), [(0.794, "79 %", False), (1.034, "103 %", True), (1.0, "100 %", False)]
)
def test_a_share_above_the_peak_is_shown_and_flagged(share, label, above):
    peak = PeakShare("bf16_tensor_tflops", "sparsity=dense", 989e12, share)
    assert (peak.label, peak.is_above_peak) == (label, above)
    assert any("above the published peak" in remark for remark in measured(peak=peak).remarks) is above


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"conditions": CLEAN | {"fallback": True}}, "ran on the CPU"),
        ({"conditions": CLEAN | {"device_used": "cpu"}}, "requested cuda:0, ran on cpu"),
        ({"conditions": CLEAN | {"throttle_reasons": "sw_power_cap hw_slowdown"}}, "sw_power_cap, hw_slowdown"),
        ({"card": CardUsed(0, "x", 7, {"power_limit_w": 600.0, "power_default_limit_w": 700.0})}, "600 W of 700 W"),
        ({"card": CardUsed(0, "x", 7, {"mig_mode": "enabled"})}, "MIG"),
        ({"summary": Summary(count=30, median=1.0, q1=0.9, q3=1.1, low=0.95, high=1.05)}, "noisy"),
        ({"conditions": CLEAN | {"quick": True}}, "short run"),
    ],
)
def test_what_a_reader_must_know_is_said_beside_the_figure(changes, words):
    assert any(words in remark for remark in measured(**changes).remarks)


def test_a_clean_run_has_no_remark():
    assert (measured().remarks, measured().throttle_reasons) == ((), ())
    assert measured(conditions={}).throttle_reasons is None  # nobody reported any: that is not none


def test_a_limit_a_hair_below_the_factorys_is_no_cap():
    card = CardUsed(0, "x", 7, {"power_limit_w": 699.9, "power_default_limit_w": 700.0})
    assert card.power_cap is None
    assert replace(card, facts={"power_limit_w": 600.0}).power_cap is None


# --- The size of a change of level, in words ---


@pytest.mark.parametrize(
    ("key", "factor", "text"),
    [
        ("gemm", 0.95, "5 % slower"), ("launch", 1.12, "12 % faster"), ("made-up", 0.5, "50 % slower"),
        ("accuracy", 0.95, "5 % lower"), ("accuracy", 1.12, "12 % higher"),
    ],
)  # fmt: skip
def test_a_change_is_one_of_speed_or_of_what_is_no_speed(key, factor, text):
    assert size_text(factor, BENCHMARKS.get(key)) == text
