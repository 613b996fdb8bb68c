"""Benchmarks whose samples are rates: `llama-bench`."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from stackviz.base.stats import Summary, summarize
from stackviz.records.series.comparability import Basis, Comparability, comparable, robust_best
from stackviz.records.series.history import found_changes
from stackviz.records.series.measurement import rate_of
from stackviz.records.series.peers import PeerSeries, compared_with
from stackviz.records.series.queries import Point
from stackviz.records.series.reproduce import reproduce_command
from stackviz.records.series.words import sample_statistics, sample_text
from stackviz.report.measuring import BENCHMARKS, RUNNABLE
from stackviz.report.measuring.llama_bench import LLAMA_BENCH
from tests.records.series.test_measurement import measured

DECODE = {"test": "tg128", "model": "Llama 2 7B", "quant": "Q4_0", "backend": "CUDA", "n_gpu_layers": 99}
SUMMARY = Summary(count=9, median=150.0, q1=149.0, q3=152.0, low=148.0, high=153.0)


def decoding(**changes):
    """Decoding at 150 tokens per second."""
    fields = {
        "benchmark_key": "llama-bench", "params": DECODE, "unit": "token/s", "summary": SUMMARY,
        "conditions": {"llama_cpp_version": "b5163 (8cf427ff)"}, "device": "NVIDIA H100 80GB HBM3",
    }  # fmt: skip
    return measured(**{**fields, **changes})


def test_a_sample_is_the_rate():
    rate = decoding().rate
    assert (rate.value, rate.low, rate.high, rate.unit) == (150.0, 148.0, 153.0, "token/s")
    assert (rate.label, rate.spread_label) == ("150 tokens/s", "±1.7 %")
    assert decoding().setting == "tg128 Llama 2 7B Q4_0 CUDA n_gpu_layers=99"
    for test in ("pp512", "pp512+tg128"):
        assert LLAMA_BENCH.rate(DECODE | {"test": test}, 42.5) == 42.5


@pytest.mark.parametrize(
    ("params", "unit", "median"),
    [
        (DECODE, "s", 150.0),
        (DECODE, "t/s", 150.0),
        (DECODE, "token/s", 1e9),
        (DECODE, "token/s", 1e-9),
        (DECODE | {"test": "not in the text"}, "token/s", 150.0),
        (DECODE | {"test": "sing128"}, "token/s", 150.0),
        (DECODE | {"test": "tg0"}, "token/s", 150.0),
        (DECODE | {"model": " "}, "token/s", 150.0),
        ({}, "token/s", 150.0),
    ],
)
def test_other_units_and_impossible_figures_have_no_rate(params, unit, median):
    assert rate_of(LLAMA_BENCH, params, replace(SUMMARY, median=median), unit) is None


def test_decoding_is_bounded_by_the_bytes_of_the_weights():
    (bound,) = LLAMA_BENCH.bounds_of(DECODE)
    assert bound.fields == ("memory_bandwidth_gb_s",)
    assert 1008e9 / bound.divisor == pytest.approx(263.7, abs=0.1)  # RTX 4090
    for params in (DECODE | {"test": "pp512"}, DECODE | {"model": "tiny"}, DECODE | {"test": "pp512+tg128"}, {}):
        assert LLAMA_BENCH.bounds_of(params) == ()


@pytest.mark.parametrize("layers", [99, 100, 999, -1])
def test_runs_with_all_layers_on_the_card_are_compared(layers):
    shown_only = {"flash_attention": "on", "micro_batch": 2048, "split_mode": "none"}
    compared = LLAMA_BENCH.compared(DECODE | {"n_gpu_layers": layers} | shown_only)
    assert compared == {"test": "tg128", "model": "Llama 2 7B", "quant": "Q4_0"}


@pytest.mark.parametrize("special", [{"n_gpu_layers": 20}, {"n_gpu_layers": 0}, {"ncmoe": 8}, {"type_k": "q4_0"}])
def test_what_does_other_work_is_a_case_of_its_own(special):
    assert LLAMA_BENCH.compared(DECODE | special).items() >= special.items()


def test_the_agent_runs_what_it_can_run():
    assert set(BENCHMARKS) - set(RUNNABLE) == {"llama-bench", "nccl-tests", "nvbandwidth"}
    with pytest.raises(NotImplementedError):
        LLAMA_BENCH.prepare(None, "cuda:0", {})


def test_a_rate_that_falls_is_a_series_that_got_slower():
    start = datetime(2026, 7, 1, tzinfo=UTC)
    higher = [150.0, 150.4, 149.8, 150.2, 149.9, 150.1, 150.3, 149.7]
    medians = [*higher * 2, *(0.8 * median for median in higher * 2)]
    points = [
        Point(
            measured_at=start + timedelta(days=day), report_id=UUID(int=day + 1), state="ok", reason="", standing=None,
            seconds=median, low=None, high=None,
        )
        for day, median in enumerate(medians)
    ]  # fmt: skip
    (change,) = found_changes(points, {}, has_rates=True)
    assert change.factor == pytest.approx(0.8, abs=0.01)
    (change,) = found_changes(points, {})
    assert change.factor == pytest.approx(1.25, abs=0.01)


def test_the_best_run_is_the_fastest_that_another_confirms():
    runs = [decoding(summary=replace(SUMMARY, median=median, low=None, high=None)) for median in (150, 148, 260, 90)]
    best = robust_best(runs)
    assert (best.rate.value, best.basis) == (150, Basis.CONFIRMED)


def test_a_machine_with_a_lower_rate_is_below_its_peers():
    peers = [PeerSeries(machine, UUID(int=machine), rate, "") for machine, rate in ((2, 148.0), (3, 150.0), (4, 155.0))]
    comparison = compared_with(decoding(), 120.0, peers)
    assert (comparison.factor, comparison.is_outlier) == (0.8, True)
    assert (comparison.peer_least, comparison.peer_most) == (155.0, 148.0)  # the fastest and the slowest


def test_builds_of_llama_cpp_that_differ_are_named():
    other = decoding(conditions={"llama_cpp_version": "b6000 (abc)"}, torch_version=None, machine_id=2)
    verdict = comparable(decoding(), other)
    assert verdict.answer is Comparability.WITH_REMARKS
    assert verdict.reasons == ("llama_cpp_version differs: b5163 (8cf427ff) and b6000 (abc)",)
    assert decoding().software == ("llama.cpp", "b5163 (8cf427ff)")
    assert measured().software == ("torch", "2.8.0")


def test_a_mean_is_said_to_be_one_with_its_deviation():
    mean = decoding(summary=summarize([150.0]), conditions={"mean_of_runs": True, "mean_stddev": 0.6})
    assert "the mean of several runs, as the tool printed it ± 0.4 %" in mean.remarks
    assert mean.rate.low is None
    bare = decoding(summary=summarize([150.0]), conditions={"mean_of_runs": True, "mean_stddev": "many"})
    assert "the mean of several runs, as the tool printed it" in bare.remarks


def test_samples_are_shown_in_their_own_unit():
    assert sample_text(150.25, "token/s") == "150.2 tokens/s"
    assert sample_text(0.00142, "s") == "1.42 ms"
    assert sample_text(1.42, "ms") == "1.42 ms"
    assert sample_text(3.0, "bananas") == "3 bananas"
    assert dict(sample_statistics(SUMMARY, "token/s"))["Median"] == "150 tokens/s"


@pytest.mark.parametrize(
    ("params", "command"),
    [
        (DECODE, "llama-bench -m MODEL.gguf -p 0 -n 128 -ngl 99 -o json"),
        (
            DECODE | {"test": "pp512", "depth": 4096, "flash_attention": "on", "micro_batch": 2048},
            "llama-bench -m MODEL.gguf -p 512 -n 0 -d 4096 -ngl 99 -ub 2048 -fa 1 -o json",
        ),
        (DECODE | {"test": "pp512+tg64"}, "llama-bench -m MODEL.gguf -pg 512,64 -p 0 -n 0 -ngl 99 -o json"),
        (DECODE | {"type_k": "$(reboot)"}, "llama-bench -m MODEL.gguf -p 0 -n 128 -ngl 99 -ctk '$(reboot)' -o json"),
        (DECODE | {"my_fork": 1}, ""),
        (DECODE | {"test": "quake"}, ""),
    ],
)
def test_the_command_repeats_the_test(params, command):
    assert reproduce_command(decoding(params=params)) == command
