"""`/benchmarks/<key>/definition/`: what is counted, and a program of ten lines that measures the same."""

import pytest

from stackviz.report.measuring import RUNNABLE
from stackviz.report.measuring.script import script_of
from tests.responses import words_of


def definition(client, key, **query):
    return client.get(f"/benchmarks/{key}/definition/", query)


@pytest.mark.parametrize("key", RUNNABLE)
@pytest.mark.parametrize("language", ["", "/zh-hans"])
def test_each_benchmark_has_its_definition(client, db, django_assert_max_num_queries, key, language):
    with django_assert_max_num_queries(0):
        page = client.get(f"{language}/benchmarks/{key}/definition/", {"device": "cpu"})
    assert page.status_code == 200
    text = words_of(page)
    assert RUNNABLE[key].formula in text
    assert f"bench --only {key}" in text


def test_a_program_is_of_the_chosen_device_and_says_its_counts(client, db):
    assert 'device, seconds = "mps", []' in words_of(definition(client, "memory", device="mps"))
    assert "“abacus”" in words_of(definition(client, "memory", device="abacus"))
    assert "fp32 2048³ 17.18 GFLOP 50.33 MB 341" in words_of(definition(client, "gemm", device="cpu"))
    for key in ("llama-bench", "made-up"):  # the agent does not run these
        assert definition(client, key).status_code == 404


def test_mlx_has_its_own_program_and_the_agent_a_device(client, db):
    text = client.get("/benchmarks/gemm/definition/?device=mlx").content.decode()
    assert "MLX and nothing of ours." in text
    assert "torch and nothing of ours" not in text
    assert "bench --only gemm --device mlx" in text
    assert "--device mlx" not in client.get("/benchmarks/gemm/definition/").content.decode()


@pytest.mark.parametrize("key", RUNNABLE)
def test_every_program_is_short(key):
    """Ten lines; those of a whole network or language model 23, which make weights of 8 and 4 bits before in eight more."""
    is_model = key.startswith("llm-") or key == "train-step"
    for kind in ("cuda", "mps", "xpu", "cpu"):
        for params in RUNNABLE[key].cases(kind, False):
            most = 23 if is_model or params.get("op") == "resnet-50" else 10
            most += 8 if "weights" in params else 0
            assert len(script_of(RUNNABLE[key], params, kind).splitlines()) <= most
