"""The best cited result of each accelerator in each case: one query a benchmark, edition and process."""

from collections.abc import Sequence
from functools import lru_cache

from django.db.models import F, Window
from django.db.models.functions import RowNumber

from stackviz.records.cited.cases import benchmark_cases, edition_of_cases, public_results
from stackviz.records.cited.models import CitedResult
from stackviz.records.cited.registry import CITED_BENCHMARKS
from stackviz.records.cited.words import other_params, parameter_text, setting_text, software_text
from stackviz.web.templatetags.web import joined


def best_of_cases(key: str, case_keys: Sequence[str] = ()) -> Sequence[CitedResult]:
    """Public results of a benchmark with accelerator, vendor and source: of each accelerator and case the best.

    For one device: the share of one where the benchmark adds up, else only results of a single device. `case_keys`:
    only these cases; () is all. What is read is cached, so that a page costs the same with any number of results.
    """
    return _best(edition_of_cases(), key, tuple(case_keys))


@lru_cache(maxsize=24)
def _best(_edition: str, key: str, case_keys: tuple[str, ...]) -> Sequence[CitedResult]:
    benchmark = CITED_BENCHMARKS[key]
    rows = public_results().filter(benchmark=key)
    if case_keys:
        rows = rows.filter(params_key__in=case_keys)
    rate = F("amount") * 1.0 / F("count") if benchmark.adds_up else F("amount")
    if not benchmark.adds_up:
        rows = rows.filter(count=1)
    best_first = rate.desc() if benchmark.higher_is_better else rate.asc()
    rank = Window(RowNumber(), partition_by=["accelerator", "params_key"], order_by=[best_first, F("pk").asc()])
    ranked = rows.order_by().annotate(rank_in_case=rank).filter(rank_in_case=1)
    return tuple(ranked.select_related("accelerator__vendor", "source"))


def matmul_cases() -> tuple[str, ...]:
    """The cases of timed operators that are products of matrices."""
    return tuple(sorted(case.params_key for case in benchmark_cases("operator-time").cases_matching({"op": "MatMul"})))


def cited_setting(result: CitedResult) -> str:
    """`Matrix product: bf16 · size best`: the benchmark and what must be equal to compare."""
    benchmark = CITED_BENCHMARKS[result.benchmark]
    return f"{benchmark.title}: {setting_text(benchmark, benchmark.compared_params(result.params))}"


def cited_conditions(result: CitedResult) -> str:
    """What else is stated: other parameters, software, the day."""
    others = other_params(CITED_BENCHMARKS[result.benchmark], result.params)
    words = (parameter_text(name, value) for name, value in others.items())
    return joined([*words, software_text(result.software), result.date])
