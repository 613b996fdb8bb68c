"""Reads across cited results: of one accelerator, of one benchmark, counts. Shapes for pages and charts.

    cited_counts()                        CitedCounts of the whole site: front page, `make run`
    cited_of_benchmark("gemm", {"dtype": "bf16"})   CitedRanking: the leading case, ranked best first
    cited_of_accelerator(accelerator)     [CitedOfAccelerator]: a benchmark each, with its headline results
    benchmark_summaries()                 [BenchmarkSummary]: the list of benchmarks with counts
    benchmark_cases("gemm").cited_facets({})    what there is to choose, with counts  (stackviz.records.cited.cases)
    share_of_bound(result)                the published peak that bounds it, and the share reached
    above_bound(result)                   the bound that it breaks
    results_of_hosts([host.pk, ...])      what was measured on public hosts, doubtful results with their reason included

The number of queries is fixed: it does not depend on how many results there are.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial

from django.db.models import Count, F, QuerySet, TextField, Window
from django.db.models.expressions import OrderBy
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast, RowNumber

from stackviz.records.catalog.models import Accelerator
from stackviz.records.catalog.queries import peaks, public_catalogue, usual_peak
from stackviz.records.cited.benchmark import MEMORY_BANDWIDTH, CitedBenchmark
from stackviz.records.cited.bounds import least_work
from stackviz.records.cited.cases import (
    CitedCase,
    benchmark_cases,
    case_counts,
    edition_of_cases,
    public_results,
)
from stackviz.records.cited.models import CitedResult
from stackviz.records.cited.ranking import best_first
from stackviz.records.cited.registry import CITED_BENCHMARKS
from stackviz.records.cited.work import Need, least_need

MOST_RANKED = 500
_RATES_OF_PROMPTS = ("fp16_tensor_tflops", "fp16_tflops", "fp32_tflops")
CLEAR_MARGIN = 1.25  # of a least share: caches hold a part of small models, and sizes in names are rounded


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedCounts:
    """Of the whole site. `results` and `accelerators`: public; `sources`: documents with a public result."""

    results: int
    accelerators: int
    sources: int
    benchmarks: int
    unmatched: int
    doubtful: int
    withdrawn: int


@dataclass(frozen=True, slots=True)
class BenchmarkSummary:
    benchmark: CitedBenchmark
    results: int
    accelerators: int


@dataclass(frozen=True, slots=True)
class CitedRanking:
    """The public results of one case, best first; `cases`: all that match the choice, the best to compare first."""

    benchmark: CitedBenchmark
    case: CitedCase | None
    results: Sequence[CitedResult]
    cases: Sequence[CitedCase]


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedOfAccelerator:
    """What one accelerator reaches in one benchmark. `case`: of those it has results of, the one that leads, or else
    the one most others have too.

    `results`: of that case, best first, with their sources. `total`: of all its cases.
    """

    benchmark: CitedBenchmark
    case: CitedCase
    results: Sequence[CitedResult]
    total: int


@dataclass(frozen=True, slots=True)
class BoundShare:
    """The published peak that bounds a result, in its base unit. `share` is None where it cannot be computed."""

    field: str
    condition: str
    peak: float
    share: float | None


def cited_counts() -> CitedCounts:
    """Three queries in a process that has not counted this edition yet."""
    return _counts(edition_of_cases())


@lru_cache(maxsize=2)
def _counts(_edition: str) -> CitedCounts:
    states: dict[str, int] = dict(CitedResult.objects.order_by().values_list("state").annotate(Count("pk")))
    public = public_results().aggregate(
        results=Count("pk"),
        accelerators=Count("accelerator", distinct=True),
        sources=Count("source", distinct=True),
        benchmarks=Count("benchmark", distinct=True),
    )
    return CitedCounts(
        **public,
        unmatched=states.get("unmatched", 0),
        doubtful=states.get("doubtful", 0),
        withdrawn=states.get("withdrawn", 0),
    )


def benchmark_summaries() -> list[BenchmarkSummary]:
    """Every benchmark with public results, in the order of the registry."""
    return list(_summaries(edition_of_cases()))


@lru_cache(maxsize=2)
def _summaries(_edition: str) -> tuple[BenchmarkSummary, ...]:
    rows = public_results().order_by().values_list("benchmark")
    counted = rows.annotate(results=Count("pk"), accelerators=Count("accelerator", distinct=True))
    by_key = {key: (results, accelerators) for key, results, accelerators in counted}
    return tuple(
        BenchmarkSummary(benchmark, *by_key[key]) for key, benchmark in CITED_BENCHMARKS.items() if key in by_key
    )


def cited_of_benchmark(key: str, chosen: Mapping[str, str], params_key: str = "") -> CitedRanking:
    """Results that may be compared, best first. `chosen`: parameters as text; `params_key`: one case of those.

    One query beside those of `benchmark_cases`. Raises KeyError for a benchmark that nobody defined.
    """
    known = benchmark_cases(key)
    cases = known.cases_matching(chosen)
    case = next((case for case in cases if case.params_key == params_key), None) if params_key else None
    case = case or known.leading_case(chosen)
    if case is None:
        return CitedRanking(known.benchmark, None, (), cases)
    return CitedRanking(known.benchmark, case, ranked_results(known.benchmark, case, chosen), cases)


def having(benchmark: CitedBenchmark, chosen: Mapping[str, str], rows: Iterable[CitedResult]) -> list[CitedResult]:
    """Those with the chosen values of parameters that may differ within a case."""
    others = _others(benchmark, chosen)
    return [row for row in rows if all(str(row.params.get(name, "")) == value for name, value in others.items())]


def _others(benchmark: CitedBenchmark, chosen: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in chosen.items() if name not in benchmark.compared}


def best_first_order(benchmark: CitedBenchmark) -> OrderBy:
    """`ranking.best_first` in the database: by `amount_per_device`."""
    amount = F("amount") / (F("count") if benchmark.adds_up else 1)
    return amount.desc() if benchmark.higher_is_better else amount.asc()


def ranked_results(benchmark: CitedBenchmark, case: CitedCase, chosen: Mapping[str, str]) -> list[CitedResult]:
    """Public results of one case with accelerator, vendor, source and host, best first, MOST_RANKED at most. One query.

    Where there are more, those left out are what an accelerator has beside its better ones of as many devices: neither
    many results of one accelerator nor many devices together push the first of a ranking out.
    """
    rows = public_results().filter(benchmark=benchmark.key, params_key=case.params_key).order_by()
    for name, value in _others(benchmark, chosen).items():
        text = Cast(KeyTextTransform(name, "params"), TextField())
        rows = rows.alias(**{f"param_{name}": text}).filter(**{f"param_{name}": value})
    if case.results > MOST_RANKED:
        rows = _leaders_first(benchmark, rows)
    results = rows.select_related("accelerator__vendor", "source", "host")[:MOST_RANKED]
    return sorted(results, key=partial(best_first, benchmark))


def _leaders_first(benchmark: CitedBenchmark, rows: "QuerySet[CitedResult]") -> "QuerySet[CitedResult]":
    """The best of each accelerator and number of devices, then the second best of each, and so on."""
    order = (best_first_order(benchmark), F("pk").asc())
    turn = Window(RowNumber(), partition_by=[F("accelerator"), F("count")], order_by=order)
    among_as_many = Window(RowNumber(), partition_by=[F("count")], order_by=order)
    return rows.alias(turn=turn, among_as_many=among_as_many).order_by("turn", "among_as_many", "pk")


def without_sheet(params_keys: Iterable[str]) -> "QuerySet[CitedResult]":
    """Results of these cases that no ranking has, because no sheet is certain."""
    return CitedResult.objects.filter(params_key__in=set(params_keys), state=CitedResult.State.UNMATCHED).order_by()


def cited_of_accelerator(accelerator: Accelerator) -> list[CitedOfAccelerator]:
    """What is cited of one accelerator, a benchmark each in the order of the registry.

    Two queries beside those of `case_counts`.
    """
    of_sheet = public_results().filter(accelerator=accelerator).order_by()
    by_benchmark: dict[str, dict[str, int]] = {}
    for key, params_key, results in of_sheet.values_list("benchmark", "params_key").annotate(Count("pk")):
        by_benchmark.setdefault(key, {})[params_key] = results
    counts = case_counts()
    leading = counts.leading
    headline = {
        key: min(
            (counts[key, params_key] for params_key in keys),
            key=lambda case: (case != leading.get(key), case.sort_key),
        )
        for key, keys in by_benchmark.items()
    }
    in_headlines = of_sheet.filter(params_key__in=[case.params_key for case in headline.values()])
    rows = list(in_headlines.select_related("source", "host"))
    cited = []
    for key in [key for key in CITED_BENCHMARKS if key in headline]:
        benchmark = CITED_BENCHMARKS[key]
        results = [row for row in rows if (row.benchmark, row.params_key) == (key, headline[key].params_key)]
        if results:
            results.sort(key=lambda row: row.amount, reverse=benchmark.higher_is_better)
            case = case_of(results[0], len(results), headline[key].accelerators)
            total = sum(by_benchmark[key].values())
            cited.append(CitedOfAccelerator(benchmark=benchmark, case=case, results=results, total=total))
    return cited


def case_of(result: CitedResult, results: int, accelerators: int) -> CitedCase:
    """The case a result belongs to, with these counts."""
    benchmark = CITED_BENCHMARKS[result.benchmark]
    return CitedCase(
        benchmark=benchmark.key,
        params_key=result.params_key,
        params=benchmark.compared_params(result.params),
        si=result.si,
        results=results,
        accelerators=accelerators,
    )


Published = Mapping[tuple[int, str, str], float]
"""What `catalog.queries.peaks` finds of one accelerator."""


def peaks_by_accelerator() -> Mapping[int, Published]:
    """Of every public sheet. Once for many results: each look of its own is a query."""
    by_accelerator: dict[int, dict[tuple[int, str, str], float]] = defaultdict(dict)
    for key, amount in peaks(public_catalogue().by_pk).items():
        by_accelerator[key[0]][key] = amount
    return by_accelerator


def share_of_bound(result: CitedResult, published: Published | None = None) -> BoundShare | None:
    """The published peak that bounds a result of a sheet; None where nothing does or none is published.

    The usual condition of the field counts. A result beyond it is held against the next larger dense peak of the same
    field, if one is published: the source may have accumulated in a narrower type. One query; none where `published`
    has the peaks of its accelerator.
    """
    known = CITED_BENCHMARKS.get(result.benchmark)
    bound = known.bound(result.params) if known is not None else None
    if bound is None or result.accelerator_id is None:
        return None
    if published is None:
        published = peaks([result.accelerator_id])
    for rank, field in enumerate(bound.fields):
        peak = usual_peak(published, result.accelerator_id, field)
        if peak is None or peak[1] <= 0:
            continue
        if bound.work is None:
            return BoundShare(field, *peak, None)
        amount = result.amount_per_device * bound.work
        condition, reached = peak if amount <= peak[1] else _larger_peak(published, field, amount, peak)
        if rank and amount > reached:  # other units did it, whose own peak nobody published
            return None
        return BoundShare(field, condition, reached, amount / reached)
    return None


def above_bound(result: CitedResult, published: Published | None = None) -> BoundShare | None:
    """The bound that a result breaks; None for one that is possible, or of which nothing is known.

    Of most networks and language models no share of a bound is known, but the least work is: a figure that is beyond it
    by a clear margin was not measured.
    """
    benchmark = CITED_BENCHMARKS.get(result.benchmark)
    if benchmark is None or result.accelerator_id is None:
        return None
    if published is None:
        published = peaks([result.accelerator_id])
    bound = share_of_bound(result, published)
    if bound is not None and bound.share is not None:
        return bound if bound.share > 1 else None
    work = least_work(result.params, bound.field) if bound is not None and benchmark.higher_is_better else None
    if bound is None or work is None:
        need = least_need(benchmark, result.params, result.amount, result.count)
        return _above_need(need, published) if need is not None else None
    peak = bound.peak if bound.field in MEMORY_BANDWIDTH else _largest_rate(published, bound)
    share = result.amount / result.count * work / peak
    return replace(bound, peak=peak, share=share) if share > CLEAR_MARGIN else None


def _above_need(need: Need, published: Published) -> BoundShare | None:
    """The largest of the published figures that bound the least work, where that is clearly more."""
    known = [(amount, field, condition) for field, condition, amount in _dense(published) if field in need.fields]
    if not known or (need.is_of_any_unit and len({field for _amount, field, _condition in known}) == 1):
        return None  # of phones the GPU alone is published, and the Neural Engine did it
    peak, field, condition = max(known)
    share = need.amount / peak
    return BoundShare(field, condition, peak, share) if share > CLEAR_MARGIN else None


def _dense(published: Published) -> Iterator[tuple[str, str, float]]:
    """(field, condition, amount) of what is published without sparsity."""
    for (_pk, field, condition), amount in published.items():
        if "sparsity=sparse" not in condition:
            yield field, condition, amount


def _largest_rate(published: Published, bound: BoundShare) -> float:
    """Other units than the bound names may read a prompt: a Pascal card is far faster in fp32 than in fp16."""
    return max(bound.peak, *(amount for field, _condition, amount in _dense(published) if field in _RATES_OF_PROMPTS))


def _larger_peak(
    published: Mapping[tuple[int, str, str], float], field: str, amount: float, usual: tuple[str, float]
) -> tuple[str, float]:
    """(condition, amount) of the smallest dense peak of the field that `amount` does not exceed; else the usual one."""
    dense = [(peak, condition) for name, condition, peak in _dense(published) if name == field and peak >= amount]
    peak, condition = min(dense, default=(usual[1], usual[0]))
    return condition, peak


SHOWN_OF_HOSTS = (CitedResult.State.PUBLIC, CitedResult.State.UNMATCHED)
"""States of results that pages show of a public host: a sheet need not be certain, as the machine is."""


def results_of_hosts(host_ids: Iterable[int]) -> "QuerySet[CitedResult]":
    """What was measured on these hosts, by benchmark and setting, with all that is shown of them. One query.

    Results that rank nowhere are among them: of no certain sheet, and doubtful ones, whose `reason` pages show.
    """
    rows = CitedResult.objects.filter(host__in=list(host_ids)).exclude(state=CitedResult.State.WITHDRAWN)
    return rows.select_related("accelerator__vendor", "source", "host").order_by("benchmark", "params_key", "pk")


def not_charted(state: str, benchmark: str = "", after: int = 0, limit: int = 100) -> "QuerySet[CitedResult]":
    """Results of a state that no chart shows, the oldest first: those with a larger primary key than `after`."""
    rows = CitedResult.objects.filter(state=state, pk__gt=after, **({"benchmark": benchmark} if benchmark else {}))
    return rows.select_related("accelerator", "source").order_by("pk")[:limit]
