"""A comparison leads with the accelerators, at the largest setting that all machines share."""

import pytest

from stackviz.base.stats import Summary
from stackviz.pages.compare.like_for_like import measured_tile, shared_results
from stackviz.pages.compare.measured import measure
from stackviz.pages.compare.measured_rows import rate_factor
from stackviz.pages.compare.subjects import Head
from stackviz.pages.compare.tiles import measured_tiles
from stackviz.records.series.standing import Flag
from tests.pages.compare.test_measured import STEADY, TWICE_AS_SLOW, result

NAMES = ("rack", "desk")
WIDE = Summary(count=30, median=1.1e-3, q1=0.9e-3, q3=1.3e-3, low=0.8e-3, high=1.4e-3)
NOISY = Summary(count=30, median=2e-3, q1=1.9e-3, q3=2.1e-3, low=1.8e-3, high=2.2e-3)
ALONE = Summary(count=1, median=1.5e-3)


def on_gpu(summary: Summary | None = STEADY, side: int = 1024, **changes):
    return result(summary, side, **{"device": "cuda:0", **changes})


def typed(dtype: str, summary: Summary = STEADY, side: int = 1024, **changes):
    params = {"dtype": dtype, "m": side, "n": side, "k": side}
    return on_gpu(summary, params=params, params_key=f"{dtype}-{side}", **changes)


def verdict(*results):
    heads = [
        Head(slot=slot, name=name, title=name, subtitle="", url="", remove_url="", base_url="")
        for slot, name in enumerate(NAMES)
    ]
    measured = measure([(slot, NAMES[slot], list(of_machine)) for slot, of_machine in enumerate(results)])
    [line] = measured_tiles(heads, measured)
    return line


def test_a_processor_does_not_speak_for_an_accelerator():
    line = verdict([result(side=512), on_gpu(side=8192)], [result(side=512), on_gpu(TWICE_AS_SLOW, side=8192)])
    assert line.title == "Measured: Matrix product fp32 8192³"
    assert line.lead == "rack is 2× as fast as desk"
    assert [(each.name, each.figure, each.note) for each in line.lines] == [
        ("rack", "1,100 TFLOP/s", "cuda:0, ±0.5 %"),
        ("desk", "550 TFLOP/s", "cuda:0, ±0.25 %"),
    ]


def test_machines_without_accelerators_compare_processors():
    assert verdict([result()], [result(TWICE_AS_SLOW)]).lead == "rack is 2× as fast as desk"


def test_the_largest_setting_that_all_share_comes_first():
    both = verdict([on_gpu(side=1024), on_gpu(side=4096), on_gpu(side=8192)], [on_gpu(side=1024), on_gpu(side=4096)])
    assert both.title.endswith("fp32 4096³")


def test_bf16_products_come_before_fp32_and_copies():
    copy = on_gpu(benchmark_key="memory-copy", params={"bytes": 10**9}, params_key="1e9")
    assert verdict([typed("fp32", side=8192), copy, typed("bf16")]).title.endswith("bf16 1024³")
    assert verdict([copy, typed("fp32")]).title.endswith("fp32 1024³")
    assert verdict([typed("fp32"), typed("fp16"), typed("int8", side=4096)]).title.endswith("fp16 1024³")


@pytest.mark.parametrize(("summary", "lead"), [(WIDE, "cannot tell"), (ALONE, "cannot tell"), (STEADY, "about equal")])
def test_no_factor_without_a_certain_difference(summary, lead):
    assert verdict([on_gpu()], [on_gpu(summary)]).lead == lead


def test_a_factor_stands_with_its_interval():
    assert verdict([on_gpu()], [on_gpu(NOISY)]).lead == "rack is 2× as fast as desk (1.8× to 2.2×)"


def test_a_result_that_is_set_aside_leads_nothing():
    aside = on_gpu(TWICE_AS_SLOW, side=8192, flags=(str(Flag.IDENTICAL_SAMPLES),))
    assert verdict([aside, on_gpu(side=1024)]).title.endswith("fp32 1024³")
    assert (verdict([aside]).lead, verdict([aside]).is_known) == ("cannot tell", False)


@pytest.mark.parametrize(
    ("conditions", "lead"), [({"device_used": "cpu"}, "not comparable"), ({"fallback": True}, "cannot tell")]
)
def test_what_ran_elsewhere_has_no_factor(conditions, lead):
    line = verdict([on_gpu()], [on_gpu(TWICE_AS_SLOW, conditions=conditions)])
    assert (line.lead, line.is_known) == (lead, False)
    assert line.lines[0].figure == "2.15 TFLOP/s"


def test_the_interval_of_a_factor_holds_what_the_rates_allow():
    between = rate_factor(on_gpu(), on_gpu(TWICE_AS_SLOW))
    assert between.factor == pytest.approx(2)
    assert (between.low, between.high) == (pytest.approx(1.995 / 1.005), pytest.approx(2.005 / 0.995))


def test_of_a_time_the_shorter_is_faster():
    """A call that takes half as long is twice as fast; nothing else is measured here."""
    call = {"benchmark_key": "launch", "params": {"op": "queued"}, "params_key": "queued"}
    line = verdict([on_gpu(**call)], [on_gpu(NOISY, **call)])
    assert line.lead == "rack is 2× as fast as desk (1.8× to 2.2×)"
    assert [each.name for each in line.lines] == ["rack", "desk"]
    tile = measured_tile(dict(enumerate(NAMES)), shared_results({0: [on_gpu(NOISY, **call)], 1: [on_gpu(**call)]}))
    assert tile.lead == "desk is faster than rack: Launch of an operator 2×"
    assert [(each.slot, each.figure) for each in tile.lines] == [(1, "1.8× to 2.2×")]


def test_accuracy_says_nothing_of_speed():
    bits = Summary(count=30, median=8.0, q1=7.9, q3=8.1, low=7.95, high=8.05)
    exact = {"benchmark_key": "accuracy", "params": {"op": "sum", "dtype": "bf16"}, "params_key": "sum", "unit": "bit"}
    line = verdict([on_gpu(bits, **exact), on_gpu()], [on_gpu(bits, **exact), on_gpu(TWICE_AS_SLOW)])
    assert (line.title, line.lead) == ("Measured: Matrix product fp32 1024³", "rack is 2× as fast as desk")
    assert verdict([on_gpu(bits, **exact)], [on_gpu(bits, **exact)]).lead == "cannot tell"
    assert shared_results({0: [on_gpu(bits, **exact)], 1: [on_gpu(bits, **exact)]}).pairs == ()
