"""The best of each accelerator in each case, and how far two are apart over what they share."""

import math
from statistics import geometric_mean

import pytest
from django.db.models import F

from stackviz.records.catalog.models import Accelerator
from stackviz.records.cited.best import (
    BestKey,
    best_cited,
    best_matmul,
    decode_rates,
    is_of_accelerator_speed,
    like_for_like,
)
from stackviz.records.cited.cases import public_results
from stackviz.records.cited.registry import CITED_BENCHMARKS

pytestmark = pytest.mark.usefixtures("cited")


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
        key = BestKey(row.benchmark, row.params_key, 0)
        shares[key] = max(shares.get(key, 0.0), row.amount_per_device)
    assert len(shares) == 43
    assert {key: pytest.approx(share) for key, share in shares.items()}.items() <= best_cited()[pk].items()


@pytest.mark.django_db
def test_accelerators_are_compared_over_shared_settings():
    h100, m3 = map(key_of, ("nvidia-h100-sxm5-80gb", "apple-m3-max-40"))
    shared, other_way = like_for_like(h100, m3), like_for_like(m3, h100)
    assert [(str(each.title), each.settings) for each in shared.benchmarks] == [("LocalScore", 3)]
    prompts = [4686.8 / 582.79, 14632.23 / 3395, 2608.92 / 302.56]
    assert shared.ratio == pytest.approx(math.prod(prompts) ** (1 / 3))
    assert (shared.lowest, shared.highest) == (pytest.approx(min(prompts)), pytest.approx(max(prompts)))
    assert other_way.ratio == pytest.approx(1 / shared.ratio)


@pytest.mark.django_db
def test_benchmarks_weigh_the_same_with_any_settings():
    shared = like_for_like(*map(key_of, ("amd-mi300x", "nvidia-b200-hgx")))
    assert len({each.settings for each in shared.benchmarks}) > 1
    assert shared.ratio == pytest.approx(geometric_mean([each.ratio for each in shared.benchmarks]))


@pytest.mark.django_db
def test_two_that_share_nothing_cannot_be_compared():
    assert like_for_like(*map(key_of, ("apple-m4-max-40", "nvidia-geforce-rtx-5090"))) is None


@pytest.mark.parametrize("key", ["average-power", "energy-per-token", "mlperf-power", "nccl-allreduce"])
def test_power_energy_and_links_do_not_count_as_speed(key):
    assert not is_of_accelerator_speed(CITED_BENCHMARKS[key])
    assert is_of_accelerator_speed(CITED_BENCHMARKS["gemm"])


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
    with django_assert_num_queries(6):  # the two editions, each time outside of a request
        best_cited()
        like_for_like(h100, m3)
