"""The best results of each accelerator for the charts: cited ones in each case, and those of public machines.

Of machines: of each benchmark and setting the best, on whole cards only. Whose results count, and how long an answer
is cached, is defined in `stackviz.records.series.public_runs`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from django.db.models import F, Q, Window
from django.db.models.functions import RowNumber

from stackviz.pages.benchmarks.intensity import ITEM_BYTES, Operation, bytes_moved, product
from stackviz.records.cited.cases import benchmark_cases, edition_of_cases, public_results
from stackviz.records.cited.models import CitedResult
from stackviz.records.cited.registry import CITED_BENCHMARKS
from stackviz.records.cited.words import other_params, parameter_text, setting_text, software_text
from stackviz.records.labs.models import Machine
from stackviz.records.series.comparability import BestRun, best_by
from stackviz.records.series.measurement import Measurement
from stackviz.records.series.public_runs import cached_for_edition, machines_of_runs, public_runs
from stackviz.web.i18n.words import joined

GEMM, COPY = "gemm", "memory-copy"


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredBest:
    """The best result of an accelerator in one setting. `size`: side of the matrices, or bytes; 0 for oblong ones."""

    accelerator_id: int
    series_id: int
    benchmark: str
    operation: Operation
    size: int
    setting: str
    made: str
    machine: str
    url: str


def measured_bests() -> tuple[MeasuredBest, ...]:
    """Two queries where nothing has changed since the last call in this process; nine at most."""
    return cached_for_edition(_measured_bests)


def _measured_bests() -> tuple[MeasuredBest, ...]:
    runs = public_runs(Q(benchmark__in=[GEMM, COPY]))
    best = best_by(lambda result: (result.accelerator_id, *result.pair), runs)
    machines = machines_of_runs(run.result for run in best.values())
    shown = (_shown(run, machines) for run in best.values())
    return tuple(best for best in shown if best is not None)


def _shown(run: BestRun, machines: Mapping[int, Machine]) -> MeasuredBest | None:
    result = run.result
    machine, operation = machines.get(result.machine_id), _operation(result)
    if machine is None or operation is None or result.accelerator_id is None:
        return None
    torch = f"torch {result.torch_version}" if result.torch_version else ""
    return MeasuredBest(
        accelerator_id=result.accelerator_id,
        series_id=result.series_id,
        benchmark=result.benchmark_key,
        operation=operation,
        size=_size(result),
        setting=f"{result.title} {result.setting}",
        made=joined([torch, f"{result.measured_at:%Y-%m-%d}", *result.remarks, run.remark]),
        machine=machine.name,
        url=machine.get_absolute_url(),
    )


def _operation(result: Measurement) -> Operation | None:
    if result.rate is None:
        return None
    if result.benchmark_key == COPY:
        return bytes_moved(result.rate.value, "copy")
    sides = [result.params.get(side) for side in ("m", "n", "k")]
    dtype = str(result.params.get("dtype"))
    m, n, k = (side if isinstance(side, int) and side > 0 else 0 for side in sides)
    return product(dtype, (m, n, k), result.rate.value) if dtype in ITEM_BYTES and m and n and k else None


def _size(result: Measurement) -> int:
    if result.benchmark_key == COPY:
        size = result.params.get("bytes")
        return size if isinstance(size, int) else 0
    sides = {result.params.get(side) for side in ("m", "n", "k")}
    (side,) = sides if len(sides) == 1 else (0,)
    return side if isinstance(side, int) else 0


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
