"""What public machines measured with llama-bench stands beside cited rates; private and withdrawn results never do."""

from functools import partial

import pytest

from stackviz.pages.fit.evidence import fit_evidence, measured_rates
from stackviz.pages.fit.language_models import model_named
from stackviz.records.catalog.queries import public_catalogue
from stackviz.records.series.decide_standing import record_decision
from stackviz.records.series.models import Result
from stackviz.records.series.standing import Standing
from stackviz.report.measuring.llama_bench import MODELS
from tests.languages import chinese
from tests.pages.benchmarks.machines import paste_llama_bench
from tests.pages.machines.factories import make_lab
from tests.responses import words_of

RTX_4090, RTX_4060 = "nvidia-geforce-rtx-4090", "nvidia-geforce-rtx-4060"
ASKED = "model=llama-2-7b&precision=q4_0&accelerator={}"
PREFILL = {"n_prompt": 512, "n_gen": 0, "samples_ts": [11_900.0, 12_000.0, 12_010.0, 12_020.0, 12_050.0]}
OF_A_4060 = {"gpu_info": "NVIDIA GeForce RTX 4060", "samples_ts": [52.0, 52.2, 52.3, 52.4, 52.5]}


@pytest.fixture
def member(django_user_model, settings, tmp_path):
    settings.VAR_DIR = tmp_path
    return django_user_model.objects.create_user("member")


@pytest.fixture
def paste_for(member):
    """`paste_for(is_public)`: a function that adds reports of llama-bench to a lab of that kind."""

    def lab(*, is_public):
        made = make_lab("public" if is_public else "private", is_public=is_public)
        made.memberships.create(user=member)
        return partial(paste_llama_bench, made, member)

    return lab


@pytest.fixture
def paste(fit_site, paste_for):
    return paste_for(is_public=True)


def efficiency(client, slug=RTX_4090):
    return client.get(f"/api/v1/fit/?{ASKED.format(slug)}").json()["efficiency"]


def measured():
    return measured_rates(public_catalogue())


def test_a_measured_rate_counts_until_it_is_withdrawn(fit_site, paste, member):
    before = efficiency(fit_site)
    paste({}, PREFILL)
    after = efficiency(fit_site)
    assert (before["measured"], after["measured"]) == (0, 1)
    assert after["count"] == before["count"] + 1
    assert after["from"] == "accelerator"
    assert {rate.test: (rate.accelerator, rate.model, rate.tokens_per_s) for rate in measured()} == {
        "decode": (RTX_4090, "llama-2-7b", 189.6),
        "prefill": (RTX_4090, "llama-2-7b", 12_010.0),
    }
    for result in Result.objects.all():
        record_decision(result, Standing.WITHDRAWN, "the wrong card", member)
    assert efficiency(fit_site)["measured"] == 0


def test_an_accelerator_only_machines_measured_has_its_rate(fit_site, paste):
    assert efficiency(fit_site, RTX_4060)["from"] == "family"
    paste(OF_A_4060)
    assert efficiency(fit_site, RTX_4060) | {"value": 0} == {
        "value": 0, "from": "accelerator", "count": 1, "measured": 1,
    }  # fmt: skip
    text = words_of(fit_site.get(f"/fit/?{ASKED.format(RTX_4060)}"))
    assert "this accelerator 1 measured rate" in text


def test_a_slow_machine_moves_the_rates_of_its_accelerator(fit_site, paste):
    address = f"/api/v1/fit/?{ASKED.format(RTX_4060)}"
    before = fit_site.get(address).json()["decode_tokens_per_s"]["mid"]
    paste(OF_A_4060 | {"samples_ts": [before / 4 + share for share in (0.0, 0.01, 0.02, 0.03, 0.04)]})
    assert fit_site.get(address).json()["decode_tokens_per_s"]["mid"] < 0.8 * before


def test_the_page_marks_what_is_measured_and_leads_to_it(fit_site, paste):
    address = f"/fit/?{ASKED.format(RTX_4090)}"
    before = fit_site.get(address).content.decode()
    assert "measured rate" not in before.replace("cited and measured rates", "")
    paste({})
    page = fit_site.get(address)
    assert "1 measured rate" in words_of(page)
    assert '<a href="/benchmarks/llama-bench/#measured">' in page.content.decode()
    assert "1 个实测速率" in words_of(fit_site.get(chinese(address)))


def test_private_labs_never_count(fit_site, paste_for):
    before = efficiency(fit_site)
    paste_for(is_public=False)({})
    assert Result.objects.count() == 1
    assert measured() == ()
    assert efficiency(fit_site) == before


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"samples_ts": [300.0, 301.0, 302.0]}, id="above-bound"),
        pytest.param({"samples_ts": [189.0]}, id="one-sample"),
        pytest.param({"gpu_info": "NVIDIA GeForce RTX 4090, NVIDIA GeForce RTX 4090"}, id="two-cards"),
        pytest.param({"gpu_info": "A card of mine"}, id="unknown"),
        pytest.param({"n_gpu_layers": 10}, id="layers"),
        pytest.param({"type_k": "q4_0"}, id="cache"),
        pytest.param({"n_gen": 128, "n_prompt": 512}, id="mixed-test"),
        pytest.param({"model_n_params": 7_110_000_000}, id="model"),
        pytest.param({"model_type": "llama 7B Q5_1"}, id="format"),
        pytest.param({"samples_ts": [1e-3, 1.0, 180.0, 189.0, 190.0]}, id="noisy"),
    ],
)
def test_what_cannot_speak_for_a_rate_of_ours_is_no_evidence(paste, change):
    paste(change)
    assert Result.objects.count() == 1
    assert measured() == ()


def test_runs_of_one_setting_are_one_rate_but_not_of_two_depths(paste):
    paste({}, {"flash_attn": True, "samples_ts": [201.0, 201.2, 201.5]}, {"n_ubatch": 128, "samples_ts": [250, 252]})
    (rate,) = measured()
    assert rate.tokens_per_s == 201.2
    paste({"n_depth": 4096, "samples_ts": [150.0, 150.5, 151.0]}, name="deep")
    assert sorted(rate.work.depth for rate in measured()) == [64, 4160]


def test_reports_without_llama_bench_leave_the_evidence_as_it_is(paste):
    paste({})
    before = fit_evidence(public_catalogue())
    paste({"gpu_info": "A card of mine"}, name="other")
    after = fit_evidence(public_catalogue())
    assert (after.edition, after) == (before.edition, before)
    paste(OF_A_4060, name="third")
    assert fit_evidence(public_catalogue()).edition != before.edition


def test_the_cost_does_not_grow_with_reports(fit_site, paste, django_assert_max_num_queries):
    addresses = [f"/fit/?{ASKED.format(RTX_4090)}&batch=2", f"/api/v1/fit/?{ASKED.format(RTX_4090)}"]
    for name, runs in (("one", [{}]), ("two", [{"n_gen": number} for number in range(1, 60)])):
        paste(*runs, name=name)
        for address, most in zip(addresses, (11, 3), strict=True):  # the first reads what is new, with eight queries
            with django_assert_max_num_queries(most):
                fit_site.get(address)


def test_every_model_that_llama_bench_prints_has_a_shape():
    assert [name for name in MODELS.values() if model_named(name) is None] == []
