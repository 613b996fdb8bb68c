"""The cases of cited benchmarks, in memory: which settings have public results, and of how many accelerators.

Read once for each edition and process, then looked up. What a case has results of is counted here alone: of all
benchmarks at once (`case_counts`), and of one under a choice of parameters (`benchmark_cases`). A benchmark's cases are
read when its page is first asked for; at most BENCHMARKS_CACHED of them stay: measured 1.7 MB for the largest (3,707
settings), 9 MB for all 38.
"""

import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

from django.db.models import Count, QuerySet

from stackviz.base.units import UNITS
from stackviz.records.catalog.models import CatalogueEdition
from stackviz.records.cited.benchmark import CitedBenchmark, Params
from stackviz.records.cited.models import CitedEdition, CitedResult
from stackviz.records.cited.parameters import comparison_key
from stackviz.records.cited.registry import CITED_BENCHMARKS

BENCHMARKS_CACHED = 40
_Text = TypeVar("_Text", str, int)
_Case = TypeVar("_Case", bound="CaseCount")


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseCount:
    """How many public results of one case there are, and of how many accelerators."""

    benchmark: str
    params_key: str
    results: int
    accelerators: int

    @property
    def sort_key(self) -> tuple[int, int, str]:
        """Sorts the case that most can be compared in to the front."""
        return -self.accelerators, -self.results, self.params_key


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedCase(CaseCount):
    """Results that may be compared: one setting of one benchmark, in one base unit.

    `params`: those that must be equal, sorted by name.
    """

    params: Params
    si: str


@dataclass(frozen=True, slots=True)
class FacetOption:
    """`results`: how many public results there are with this value and what else is chosen."""

    value: str | int
    results: int
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class CitedFacet:
    """One parameter to filter by; options by number of results, counts in order of size."""

    name: str
    options: tuple[FacetOption, ...]


@dataclass(frozen=True, slots=True)
class _Setting:
    """All parameters of some results of one accelerator, the compared and the others."""

    params: Params
    params_key: str
    si: str
    accelerator_id: int
    results: int


class BenchmarkCases:
    """The public results of one benchmark, counted by setting. One query.

    What a choice leaves is looked up, not searched for: the settings of each value of each parameter are known.
    """

    def __init__(self, benchmark: CitedBenchmark) -> None:
        self.benchmark = benchmark
        rows = public_results().filter(benchmark=benchmark.key)
        grouped = rows.order_by().values_list("params", "params_key", "unit", "accelerator_id")
        shared: dict[tuple[tuple[str, str | int], ...], Params] = {}  # one in memory where several accelerators have it
        keys: dict[str, str] = {}
        self._settings = [
            _Setting(
                shared.setdefault(tuple(params.items()), {_one_text(name): _one_text(params[name]) for name in params}),
                keys.setdefault(key, key),
                UNITS[unit].si,
                accelerator_id,
                results,
            )
            for params, key, unit, accelerator_id, results in grouped.annotate(results=Count("pk"))
        ]
        self._with_value: dict[tuple[str, str], set[int]] = defaultdict(set)
        for number, setting in enumerate(self._settings):
            for name, value in setting.params.items():
                self._with_value[name, str(value)].add(number)
        cases = sorted(self._counted(self._settings), key=lambda case: case.sort_key)
        self.cases: Mapping[str, CitedCase] = {case.params_key: case for case in cases}
        self._counts = {name: self._counts_of(name, self._settings) for name in benchmark.facets}

    def cases_matching(self, chosen: Mapping[str, str]) -> list[CitedCase]:
        """Cases with results that have these parameters, counted among those; the best to compare first."""
        if not chosen:
            return list(self.cases.values())
        return sorted(self._counted(self._matching(chosen)), key=lambda case: case.sort_key)

    def leading_case(self, chosen: Mapping[str, str]) -> CitedCase | None:
        """The case shown for this choice: `leads_with` under it, or else the one that most accelerators have."""
        cases = self.cases_matching(chosen)
        if not cases:
            return None
        typed = {name: value for name, value in cases[0].params.items() if name in chosen}
        by_key = {case.params_key: case for case in cases}
        return _leading_case(self.benchmark, {**self.benchmark.leads_with, **typed}, by_key) or cases[0]

    def cited_facets(self, chosen: Mapping[str, str]) -> list[CitedFacet]:
        """Options of each facet under what is chosen in the others; a facet with nothing to choose is left out."""
        facets = []
        for name in self.benchmark.facets:
            others = {other: value for other, value in chosen.items() if other != name}
            counts = self._counts_of(name, self._matching(others)) if others else self._counts[name]
            if counts:
                facets.append(CitedFacet(name, _options(counts, chosen.get(name))))
        return facets

    def _matching(self, chosen: Mapping[str, str]) -> list[_Setting]:
        """Settings with all of these values, of which there is at least one."""
        numbers = set.intersection(*(self._with_value.get(value, set()) for value in chosen.items()))
        return [self._settings[number] for number in sorted(numbers)]

    @staticmethod
    def _counts_of(name: str, settings: Iterable[_Setting]) -> Mapping[str | int, int]:
        """Value of the parameter -> how many of the results have it."""
        counts: dict[str | int, int] = defaultdict(int)
        for setting in settings:
            if name in setting.params:
                counts[setting.params[name]] += setting.results
        return counts

    def _counted(self, settings: Iterable[_Setting]) -> list[CitedCase]:
        by_key: dict[str, list[_Setting]] = defaultdict(list)
        for setting in settings:
            by_key[setting.params_key].append(setting)
        return [
            CitedCase(
                benchmark=self.benchmark.key,
                params_key=key,
                params=self.benchmark.compared_params(group[0].params),
                si=group[0].si,
                results=sum(setting.results for setting in group),
                accelerators=len({setting.accelerator_id for setting in group}),
            )
            for key, group in by_key.items()
        ]


def _one_text(value: _Text) -> _Text:
    """The same text in memory for all that say it."""
    return sys.intern(value) if isinstance(value, str) else value


def _options(counts: Mapping[str | int, int], chosen: str | None) -> tuple[FacetOption, ...]:
    is_count = all(isinstance(value, int) for value in counts)
    ordered = sorted(counts, key=lambda value: value if is_count else (-counts[value], str(value)))
    return tuple(FacetOption(value, counts[value], str(value) == chosen) for value in ordered)


def public_results() -> "QuerySet[CitedResult]":
    """What pages chart: public results of public sheets."""
    return CitedResult.objects.filter(state=CitedResult.State.PUBLIC, accelerator__is_public=True)


def edition_of_cases() -> str:
    """Moves with cited results and with sheets. One query, once for each request."""
    return f"{CitedEdition.current()} {CatalogueEdition.current()}"


class CaseCounts(dict[tuple[str, str], CaseCount]):
    """(benchmark, params_key) -> its case: benchmarks with the same parameters share keys. An unknown case is empty.

    `leading`: benchmark -> the case that its page shows without a choice, as `BenchmarkCases.leading_case`.
    """

    leading: Mapping[str, CaseCount]

    def __missing__(self, case: tuple[str, str]) -> CaseCount:
        return CaseCount(benchmark=case[0], params_key=case[1], results=0, accelerators=0)


def case_counts() -> CaseCounts:
    """Every case with public results. One query in a process that has not counted this edition yet."""
    return _case_counts(edition_of_cases())


@lru_cache(maxsize=2)
def _case_counts(_edition: str) -> CaseCounts:
    """1.7 MB for the 7,100 cases of November 2026."""
    rows = public_results().order_by().values_list("benchmark", "params_key")
    counted = rows.annotate(results=Count("pk"), accelerators=Count("accelerator", distinct=True))
    counts = CaseCounts()
    for benchmark, params_key, results, accelerators in counted:
        name = sys.intern(benchmark)
        counts[name, params_key] = CaseCount(
            benchmark=name, params_key=params_key, results=results, accelerators=accelerators
        )
    counts.leading = _leading(counts)
    return counts


def _leading(counts: CaseCounts) -> Mapping[str, CaseCount]:
    worst_first = sorted(counts.values(), key=lambda case: case.sort_key, reverse=True)
    leading = {case.benchmark: case for case in worst_first}
    by_key: dict[str, dict[str, CaseCount]] = defaultdict(dict)
    for case in counts.values():
        by_key[case.benchmark][case.params_key] = case
    for key, benchmark in CITED_BENCHMARKS.items():
        if lead := _leading_case(benchmark, benchmark.leads_with, by_key[key]):
            leading[key] = lead
    return leading


def _leading_case(benchmark: CitedBenchmark, params: Params, by_key: Mapping[str, _Case]) -> _Case | None:
    """Return the case with exactly these compared parameters, in the unit that has most. `by_key`: by params_key."""
    keys = [comparison_key(benchmark, params, si) for si in benchmark.units]
    return min((by_key[key] for key in keys if key in by_key), key=lambda case: case.sort_key, default=None)


def benchmark_cases(key: str) -> BenchmarkCases:
    """The cases of a benchmark as they are now. One query more where this process has not read them yet.

    Raises KeyError for a benchmark that nobody defined.
    """
    return _cases(edition_of_cases(), CITED_BENCHMARKS[key].key)


@lru_cache(maxsize=BENCHMARKS_CACHED)
def _cases(_edition: str, key: str) -> BenchmarkCases:
    return BenchmarkCases(CITED_BENCHMARKS[key])
