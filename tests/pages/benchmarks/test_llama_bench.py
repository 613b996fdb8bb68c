"""Measured results of llama-bench stand beside cited ones in the same case, and only there."""

from functools import partial

import pytest
from django.core.cache import cache

from stackviz.records.cited.parameters import comparison_key
from stackviz.records.cited.registry import CITED_BENCHMARKS
from stackviz.records.series.measured_settings import measured_settings
from stackviz.records.series.models import Result
from tests.pages.benchmarks.conftest import LLAMA
from tests.pages.benchmarks.machines import paste_llama_bench
from tests.pages.machines.factories import make_lab
from tests.report.dumps.test_llama_results import DEVICES, HEADER, ROW
from tests.responses import words_of

PAGE = "/benchmarks/llama-bench/"
CASE = comparison_key(CITED_BENCHMARKS["llama-bench"], LLAMA, "token/s")
RTX_4090 = "nvidia-geforce-rtx-4090"


@pytest.fixture(autouse=True)
def _nothing_cached(settings, tmp_path):
    settings.VAR_DIR = tmp_path
    cache.clear()


@pytest.fixture
def paste(_loaded, django_user_model):
    """`paste(*objects)`: what llama-bench printed as JSON, as the report of a machine of a public lab."""
    lab = make_lab("north")
    user = django_user_model.objects.create_user("member")
    lab.memberships.create(user=user)

    return partial(paste_llama_bench, lab, user)


def test_measured_and_cited_stand_in_the_same_case(client, paste):
    paste({})
    (setting,) = measured_settings("llama-bench")
    assert (setting.key, setting.words) == (CASE, "tg128 Llama 2 7B Q4_0")
    (row,) = setting.rows
    assert (row.accelerator.slug, row.best.rate.label) == (RTX_4090, "190 tokens/s")
    address = f"{PAGE}?test=tg128&model=Llama+2+7B&quant=Q4_0"
    page = client.get(address).content.decode()
    part = page[page.index('id="measured"') :]
    assert part.count('class="filled"') == 1
    assert part.count("<s style=") > 0
    text = words_of(client.get(address))
    assert "Measured: tg128 Llama 2 7B Q4_0" in text
    assert "llama.cpp b5163 (8cf427ff) · CUDA n_gpu_layers=99 flash_attention=off" in text
    assert "72 % of its bound" in text  # 1,008 GB/s for 3.56 GiB of weights: 263.7
    assert "The tick is the most that published values allow." in text


def test_options_that_need_not_agree_share_a_case(client, paste):
    paste({}, {"flash_attn": True, "samples_ts": [201.0, 201.2, 201.5]}, {"n_ubatch": 128, "samples_ts": [250, 252]})
    (setting,) = measured_settings("llama-bench")
    (row,) = setting.rows
    assert row.best.rate.value == 201.2
    assert row.best.result.params["flash_attention"] == "on"
    assert "a faster run, 251 tokens/s, is confirmed by none of 3" in words_of(client.get(PAGE, {"measured": CASE}))


@pytest.mark.parametrize(
    "change",
    [
        {"model_n_params": 7_110_000_000},
        {"n_gpu_layers": 10},
        {"n_depth": 4096},
        {"model_type": "llama 7B Q5_1"},
        {"type_k": "q4_0"},
        {"n_cpu_moe": 4},
    ],
)
def test_what_is_other_work_is_another_case(paste, change):
    paste(change)
    (setting,) = measured_settings("llama-bench")
    assert setting.key != CASE


@pytest.mark.parametrize(
    "change",
    [
        {"samples_ts": [300.0, 301.0, 302.0]},  # above the bound
        {"samples_ts": [1e9, 1.1e9]},
        {"samples_ts": [189.0]},
        {"samples_ts": [], "avg_ts": -1},
        {"gpu_info": "NVIDIA GeForce RTX 4090, NVIDIA GeForce RTX 4090"},
        {"gpu_info": "A card of mine"},
        {"backends": "CPU", "gpu_info": ""},
        {"n_prompt": 0, "n_gen": 0},
    ],
    ids=["above-bound", "impossible", "one-sample", "negative", "two-cards", "unknown", "processor", "no-test"],
)
def test_what_cannot_be_of_the_accelerator_is_not_ranked(client, paste, change):
    report = paste(change)
    assert Result.objects.filter(report=report).count() == 1
    assert measured_settings("llama-bench") == []
    assert client.get(f"/benchmarks/runs/{report.pk}/0/").status_code == 200


def test_a_table_counts_as_the_mean_it_is(client, paste):
    one_card = DEVICES.replace("found 2", "found 1").rsplit("  Device 1", 1)[0]
    paste(text=one_card + HEADER + ROW.format(test="tg128", rate="189.50 ± 0.40") + "\nbuild: e8496488 (2843)\n")
    text = words_of(client.get(PAGE, {"measured": CASE}))
    assert "190 tokens/s" in text or "189.5" in text
    assert "the mean of several runs, as the tool printed it ± 0.21 %" in text


def test_pages_files_and_comparisons_are_in_token_s(client, paste):
    report = paste({}, name="a")
    response = client.get(f"/benchmarks/runs/{report.pk}/0/")
    text = words_of(response)
    assert "189.1 tokens/s, 189.3 tokens/s" in text
    assert "llama-bench -m MODEL.gguf -p 0 -n 128 -ngl 99 -fa 0 -o json" in text
    assert f"measured={CASE}" in response.content.decode()
    (row,) = client.get(PAGE, {"measured": CASE, "format": "json"}).json()["measured"]
    assert (row["amount"], row["base_unit"], row["kind"]) == (189.6, "token/s", "measured")
    assert row["software"] == {"llama.cpp": "b5163 (8cf427ff)"}
    paste({"samples_ts": [150.1, 150.2, 150.4, 150.6, 150.9]}, name="b")
    text = words_of(client.get("/compare/?a=machine:north/a&a=machine:north/b"))
    assert "190 tokens/s" in text
    assert "150 tokens/s" in text


def test_the_page_costs_the_same_with_many_results(client, paste, django_assert_max_num_queries):
    paste({})
    client.get(PAGE)
    paste(*({"n_gen": number} for number in range(1, 60)), name="other")
    cache.clear()
    with django_assert_max_num_queries(40):
        client.get(PAGE, {"measured": CASE})
