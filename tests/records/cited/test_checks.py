"""`check_cited` finds what is wrong in the database, and the curated results pass."""

from datetime import date
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from stackviz.records.catalog.never_named import never_named
from stackviz.records.cited.checks import check_cited
from stackviz.records.cited.load import load_cited
from stackviz.records.cited.models import CitedResult, CitedSource
from tests.curated import copy_curated
from tests.records.cited.conftest import LINE

GEMM = LINE | {"params": "dtype=tf32; k=8192; m=8192; n=8192", "unit": "TFLOP/s", "value": "60"}


@pytest.fixture
def result(rtx_4090, folder) -> CitedResult:
    load_cited(folder([LINE]))
    return CitedResult.objects.get()


def load_as_public(path: Path) -> None:
    """What the load sets aside is public again, as after a person's decision without a reason."""
    load_cited(path)
    CitedResult.objects.filter(state="doubtful").update(state="public", reason="")


def problems(today: date | None = None) -> dict[str, list[str]]:
    return {check.name: [found.problem for found in check.problems] for check in check_cited(today)}


@pytest.mark.parametrize(
    ("changes", "name", "problem"),
    [
        ({"unit": "GB/s"}, "values", "unit: This benchmark has token/s."),
        ({"params": {"colour": "red"}}, "values", "params: llama-bench has no parameter 'colour'."),
        ({"benchmark": "guesses"}, "values", "benchmark: 'guesses' is not a cited benchmark."),
        ({"amount": 190.0}, "values", "its amount is 190.0, not 189.05"),
        ({"params_key": "0" * 32}, "values", "its key is not that of its parameters"),
        ({"date": date(2030, 1, 3)}, "dates", "dated 2030-01-03"),
    ],
)
def test_a_wrong_row_is_found(result, changes, name, problem):
    CitedResult.objects.filter(pk=result.pk).update(**changes)
    assert problems(date(2030, 1, 1))[name] == [problem]


def test_a_source_that_must_not_be_named_is_found(result):
    CitedSource.objects.update(url=f"https://{never_named()[0].address}/db")
    assert "must not be named" in problems()["sources"][0]


@pytest.fixture
def above_peak(db, folder) -> CitedResult:
    copy_curated("catalog_")
    load_as_public(folder([GEMM, GEMM | {"value": "120"}], benchmark="gemm"))
    return CitedResult.objects.get(value="120")


def test_result_above_peak_is_found_until_explained(above_peak):
    (problem,) = problems()["bounds"]
    assert problem == "145% of tf32_tensor_tflops (sparsity=dense)"
    above_peak.reason = "clocked at 3.0 GHz, says the source"
    above_peak.save()
    assert problems()["bounds"] == []


def test_impossible_rates_are_found_for_any_model(db, folder):
    copy_curated("catalog_")
    dense, mixture = "model=Qwen2.5-14B; quant=Q4_K_M; test=", "model=Qwen3-30B-A3B; quant=4bit; test="
    rates = [
        (dense + "tg", "1563.57"),
        (dense + "tg", "90"),
        (dense + "tg", "170"),  # 118 %: within the margin of a least share
        (mixture + "tg", "900"),
        (mixture + "tg", "400"),  # of 30 billion parameters 3 are read for a token
        ("model=gpt-oss 20B; quant=MXFP4; test=tg", "900"),  # a mixture: its name does not say how many
        (dense + "pp", "90000"),
        (dense + "pp", "10000"),
    ]
    load_as_public(
        folder([LINE | {"params": params, "value": value} for params, value in rates], benchmark="localscore")
    )
    assert sorted(problem.partition(" (")[0] for problem in problems()["bounds"]) == [
        "1086% of memory_bandwidth_gb_s",
        "134% of memory_bandwidth_gb_s",
        "191% of fp16_tensor_tflops",
    ]


def test_several_users_share_one_reading_of_the_weights(db, folder):
    copy_curated("catalog_")
    line = LINE | {"params": "batch=8; model=Llama 2 7B Chat; precision=fp16", "value": "500"}
    per_user = line | {"params": "batch=8; model=Llama 2 7B Chat; per=user; precision=fp16"}
    load_as_public(folder([line, per_user], benchmark="llm-decode"))
    assert problems()["bounds"] == ["694% of memory_bandwidth_gb_s (no condition)"]


def test_the_command_fails_with_what_is_wrong(above_peak):
    out = StringIO()
    with pytest.raises(SystemExit):
        call_command("check_cited", stdout=out)
    assert "WRONG bounds" in out.getvalue()
    assert "(RTX 4090): 120 TFLOP/s: 145% of tf32_tensor_tflops" in out.getvalue()
