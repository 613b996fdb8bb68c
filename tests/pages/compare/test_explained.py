"""The factor between two runs is split into shares that rest on pairs; what no pair shows is the rest."""

import math
from dataclasses import replace
from statistics import median

import pytest

from stackviz.pages.compare.explained import (
    Peak,
    Run,
    ShareCause,
    cause_of,
    changes_between,
    controlled_pairs,
    explain,
)

TEST = ("llama-bench", "pp512", "")


def run(key, speed, host="a", accelerator="amd-radeon-8060s", work=TEST, peak=None, **settings):
    return Run(
        key=key,
        label=f"{speed:g} token/s",
        host=host,
        accelerator=accelerator,
        devices=1,
        work=work,
        kind="reading",
        speed=speed,
        peak=peak,
        settings=settings,
    )


def shares(explained):
    return {share.cause: round(share.factor, 3) for share in explained.shares}


def total(explained):
    return math.fsum([*(share.log for share in explained.shares), explained.rest])


def test_setting_that_alone_differs_on_one_host_is_all():
    on, off = run("on", 975.3, flags="hipBLASLt", backend="ROCm"), run("off", 322.44, backend="ROCm")
    explained = explain(on, off, ())
    assert shares(explained) == {ShareCause.SETTINGS: 3.025}
    assert explained.rest == pytest.approx(0, abs=1e-12)
    assert [change.name for change in explained.shares[0].changes] == ["flags"]


def test_share_of_a_setting_comes_from_a_pair_elsewhere():
    pair = [run("x", 120.0, backend="Vulkan", fa="on"), run("y", 100.0, backend="Vulkan", fa="off")]
    first = run("first", 300.0, host="b", backend="ROCm", fa="on", driver="7")
    second = run("second", 200.0, host="c", backend="ROCm", fa="off", driver="6")
    explained = explain(first, second, pair)
    assert shares(explained) == {ShareCause.SETTINGS: 1.2}
    assert math.exp(explained.rest) == pytest.approx(1.25)
    assert [change.name for change in explained.open_changes] == ["driver"]
    assert total(explained) == pytest.approx(math.log(1.5), abs=1e-12)


def test_range_is_that_of_the_pairs_and_holds_the_share():
    pairs = [run("a1", 110, fa="on"), run("a2", 100, fa="off")]
    pairs += [run("b1", 130, fa="on", kv="q8"), run("b2", 100, fa="off", kv="q8")]
    first, second = run("f", 200, host="b", fa="on", cpu="x"), run("s", 100, host="c", fa="off", cpu="y")
    [share] = explain(first, second, pairs).shares
    assert (round(math.exp(share.low), 2), round(math.exp(share.high), 2)) == (1.1, 1.3)
    assert share.low <= share.log <= share.high


def test_published_figures_of_the_chips_are_a_share():
    bandwidth = Peak("memory_bandwidth_gb_s", "", 1.792e12)
    fast = run("5090", 186.0, host="b", accelerator="rtx-5090", peak=bandwidth)
    slow = run("3090", 112.0, host="c", accelerator="rtx-3090", peak=replace(bandwidth, amount=0.936e12))
    explained = explain(fast, slow, ())
    assert shares(explained) == {ShareCause.CHIPS: 1.915}
    assert math.exp(explained.rest) < 1
    assert total(explained) == pytest.approx(math.log(186 / 112), abs=1e-12)


def test_chips_without_one_published_figure_are_not_told():
    fast = run("h200", 10.0, accelerator="h200", peak=Peak("fp16_tflops", "dense", 2.0))
    slow = run("h100", 9.0, accelerator="h100", peak=Peak("fp32_tflops", "", 1.0))
    explained = explain(fast, slow, ())
    assert explained.has_unknown_chips
    assert not explained.shares
    assert explained.rest == pytest.approx(math.log(10 / 9))


def test_two_hosts_are_no_pair_where_one_does_not_state_it():
    first, second = run("f", 2.0, host="b", driver="580"), run("s", 1.0, host="c")
    assert not list(controlled_pairs([first, second], changes_between(first, second)))
    explained = explain(first, second, ())
    assert explained.rest == pytest.approx(math.log(2))
    assert not explained.open_changes[0].is_stated


def test_two_hosts_are_no_evidence_for_their_own_difference():
    first, second = run("f", 231.0, host="b", backend="ROCm"), run("s", 137.0, host="c", backend="Vulkan")
    assert not explain(first, second, ()).shares
    others = [run("o", 150.0, host="d", backend="ROCm"), run("p", 100.0, host="e", backend="Vulkan")]
    explained = explain(first, second, others)
    assert {run.host for share in explained.shares for pair in share.pairs for run in (pair.first, pair.second)} > {"d"}
    assert explained.shares[0].log == pytest.approx(median(pair.log for pair in explained.shares[0].pairs))


@pytest.mark.parametrize(("first", "second"), [("macOS", "macOS 26"), ("Linux", "Ubuntu 24.04")])
def test_value_that_is_less_exact_is_not_another(first, second):
    runs = [run("f", 2.0, host="b", system=first), run("s", 1.0, host="c", system=second)]
    assert not list(controlled_pairs(runs, changes_between(*runs)))


def test_builds_of_one_commit_are_one_build():
    runs = [run("f", 2.0, host="b", **{"llama.cpp": "e2d6742", "backend": "ROCm"})]
    runs += [run("s", 1.0, host="c", **{"llama.cpp": "build 8796 (e2d67422c)", "backend": "Vulkan"})]
    [pair] = controlled_pairs(runs, changes_between(*runs))
    assert {change.name for change in pair.changes} == {"backend"}


def test_pair_is_turned_to_the_direction_of_the_changes():
    off, on = run("off", 100.0, fa="off"), run("on", 120.0, fa="on")
    changes = changes_between(run("f", 2.0, fa="on"), run("s", 1.0, fa="off"))
    for runs in ([off, on], [on, off]):
        [pair] = controlled_pairs(runs, changes)
        assert (pair.first, pair.second) == (on, off)


def test_no_share_without_a_pair_of_the_same_values():
    pair = [run("x", 150.0, driver="470"), run("y", 100.0, driver="450")]
    first, second = run("f", 3.0, host="b", driver="580", fa="on"), run("s", 1.0, host="c", driver="570", fa="off")
    explained = explain(first, second, pair)
    assert not explained.shares
    assert {change.name for change in explained.open_changes} == {"driver", "fa"}


def test_two_tests_have_no_factor():
    with pytest.raises(ValueError, match="two tests"):
        explain(run("llama", 19.0), run("mlx", 24.8, work=("mlx-lm", "tg128", "")), ())


def test_names_belong_to_their_cause():
    names = ("driver", "llama.cpp", "power_limit_w", "cpu", "flash_attention", "input_tokens")
    assert [cause_of(name) for name in names] == [
        ShareCause.FRAMEWORK,
        ShareCause.BUILD,
        ShareCause.POWER,
        ShareCause.MACHINE,
        ShareCause.SETTINGS,
        ShareCause.WORK,
    ]
