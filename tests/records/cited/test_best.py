"""The best of each accelerator in each case, and how far two are apart over what they share."""

from statistics import geometric_mean

import pytest
from django.db.models import F

from stackviz.records.catalog.models import Accelerator
from stackviz.records.cited.best import (
    LANGUAGE_BENCHMARKS,
    BestKey,
    Work,
    best_cited,
    best_matmul,
    decode_rates,
    kind_of_work,
    like_for_like,
)
from stackviz.records.cited.cases import benchmark_cases, public_results
from stackviz.records.cited.registry import CITED_BENCHMARKS

pytestmark = pytest.mark.usefixtures("cited")
FAST_PAIR = ("nvidia-geforce-rtx-5090", "nvidia-geforce-rtx-4090")


def key_of(slug):
    return Accelerator.objects.get(slug=slug).pk


@pytest.mark.django_db
def test_the_best_of_a_case_is_that_of_all_its_results():
    pk = key_of("apple-m3-max-40")
    bests = best_cited()[pk]
    rows = public_results().filter(accelerator=pk)
    assert {(key.benchmark, key.params_key) for key in bests} == set(rows.values_list("benchmark", "params_key"))
    for key, best in bests.items():
        amounts = [
            row.amount
            for row in rows.filter(benchmark=key.benchmark, params_key=key.params_key, count=key.devices or 1)
        ]
        benchmark = CITED_BENCHMARKS[key.benchmark]
        if not benchmark.adds_up:
            assert best == (max(amounts) if benchmark.higher_is_better else min(amounts))


@pytest.mark.django_db
def test_where_devices_add_up_the_share_of_one_counts():
    shares: dict[BestKey, float] = {}
    pk = key_of("nvidia-h100-sxm5-80gb")
    rows = (
        public_results().filter(accelerator=pk, benchmark="mlperf-inference").annotate(share=F("amount") / F("count"))
    )
    for row in rows:
        regime = ", ".join(str(row.params.get(name) or "?") for name in ("precision", "availability"))
        key = BestKey(row.benchmark, row.params_key, 0, regime)
        shares[key] = max(shares.get(key, 0.0), row.amount_per_device)
    assert {key: pytest.approx(share) for key, share in shares.items()}.items() <= best_cited()[pk].items()


def shared_of(first, second):
    """By kind of work; of matrix products, whose data types differ, the last."""
    return {item.work: item for item in like_for_like(key_of(first), key_of(second))}


@pytest.mark.django_db
def test_no_data_type_is_mixed_with_another():
    products = [item for item in like_for_like(*map(key_of, FAST_PAIR)) if item.work is Work.ARITHMETIC]
    assert len(products) > 1
    for item in products:
        cases = benchmark_cases("gemm").cases
        keys = [setting.key.params_key for each in item.benchmarks for setting in each.settings]
        assert {cases[key].params["dtype"] for key in keys} == {item.dtype}
        assert item.label == f"multiplies matrices in {item.dtype}"


@pytest.mark.django_db
def test_generating_and_reading_have_a_factor_each():
    ours = shared_of("nvidia-geforce-rtx-4090", "apple-m3-max-40")
    theirs = shared_of("apple-m3-max-40", "nvidia-geforce-rtx-4090")
    assert [str(each.title) for each in ours[Work.GENERATING].benchmarks] == ["llama-bench", "LocalScore"]
    assert 2.5 < ours[Work.GENERATING].ratio < 3.1
    assert 9 < ours[Work.READING].ratio < 13
    assert all(item.ratio == pytest.approx(1 / theirs[work].ratio) for work, item in ours.items())


@pytest.mark.django_db
@pytest.mark.parametrize("pair", [("nvidia-l4", "nvidia-l40"), ("amd-rx-7900-xtx", "nvidia-geforce-rtx-4090")])
def test_a_factor_can_be_computed_from_its_settings(pair):
    for item in shared_of(*pair).values():
        means = [geometric_mean([setting.ratio for setting in each.settings]) for each in item.benchmarks]
        assert item.ratio == pytest.approx(geometric_mean(means))
        assert item.extremes[0] <= item.ratio <= item.extremes[1]
        for setting in (setting for each in item.benchmarks for setting in each.settings):
            lower_is_better = not CITED_BENCHMARKS[setting.key.benchmark].higher_is_better
            assert setting.ratio == pytest.approx((setting.first / setting.second) ** (-1 if lower_is_better else 1))


@pytest.mark.django_db
def test_no_precision_or_availability_is_compared_with_another():
    bests = best_cited().values()
    regimes = {key.regime for best in bests for key in best if key.benchmark == "mlperf-inference"}
    assert {"fp8, available", "fp4, preview"} <= regimes
    [inference] = shared_of("nvidia-h100-sxm5-80gb", "nvidia-b200-hgx")[Work.INFERENCE].benchmarks
    assert {"?", "fp4"}.isdisjoint({part for setting in inference.settings for part in setting.key.regime.split(", ")})


@pytest.mark.django_db
def test_two_that_share_nothing_cannot_be_compared():
    assert like_for_like(*map(key_of, ("apple-m4-max-40", "hailo-8"))) == ()


def test_only_rates_and_times_of_work_count():
    counted = {key for key in CITED_BENCHMARKS if kind_of_work(key)} | set(LANGUAGE_BENCHMARKS)
    assert CITED_BENCHMARKS.keys() - counted == {
        "average-power", "cache-bandwidth", "clpeak-latency", "energy-per-image", "energy-per-token",
        "energy-per-video", "interconnect-bandwidth", "mlperf-energy", "mlperf-power", "nccl-allreduce",
        "system-power", "train-model-flops",
    }  # fmt: skip


@pytest.mark.django_db
def test_the_best_known_decode_setting_comes_first():
    m4, rtx = map(key_of, ("apple-m4-max-40", "nvidia-geforce-rtx-4090"))
    first = decode_rates([m4, rtx])[0]
    assert (first.benchmark.key, dict(first.case.params)) == (
        "llama-bench",
        {"model": "Llama 2 7B", "quant": "Q4_0", "test": "tg128"},
    )
    assert first.rates == {m4: 83.06, rtx: 187.7}


@pytest.mark.django_db
def test_a_matrix_product_stands_where_no_peak_is_published():
    amount, case = best_matmul("bf16")[key_of("nvidia-dgx-spark-gb10")]
    assert (round(amount / 1e12), case.params["dtype"]) == (102, "bf16")


@pytest.mark.django_db
def test_all_of_it_is_read_once_an_edition(django_assert_num_queries):
    h100, m3 = map(key_of, ("nvidia-h100-sxm5-80gb", "apple-m3-max-40"))
    decode_rates([h100, m3])
    with django_assert_num_queries(4):  # the two editions, each time outside of a request
        best_cited()
        like_for_like(h100, m3)
