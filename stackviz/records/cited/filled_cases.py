"""The settings that many accelerators have a result of: what a chart of all accelerators can show, chosen by rule."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from django.db.models import Min
from django.utils.text import slugify

from stackviz.records.catalog.queries import public_catalogue
from stackviz.records.cited.benchmark import CitedBenchmark
from stackviz.records.cited.cases import CitedCase, case_counts, edition_of_cases, public_results
from stackviz.records.cited.models import CitedResult
from stackviz.records.cited.queries import case_of, ranked_results, without_sheet
from stackviz.records.cited.ranking import (
    Lead,
    RankedAccelerator,
    lead_of,
    number_of_devices,
    ranked_accelerators,
    ranked_with_families,
)
from stackviz.records.cited.registry import CITED_BENCHMARKS
from stackviz.records.cited.words import setting_text

FEWEST_ACCELERATORS = 6
MOST_OF_BENCHMARK = 4
_APART = str.maketrans("/.:", "   ")  # what a name has a hyphen for: FP32/FP16S, bert-99.9


@dataclass(frozen=True, slots=True)
class FilledCase:
    """`name`: in addresses, of the benchmark and the value of its first facet: `llama-bench-tg128`."""

    name: str
    benchmark: CitedBenchmark
    case: CitedCase

    @property
    def setting(self) -> str:
        return setting_text(self.benchmark, self.case.params)


def filled_cases() -> Mapping[str, FilledCase]:
    """Name -> case, in the order of the registry. One query beside `case_counts` in a process that has not read this
    edition yet.

    Of each benchmark, for each value of its first facet, the case that most accelerators have a public result of: at
    least FEWEST_ACCELERATORS; the MOST_OF_BENCHMARK fullest of them.
    """
    return _filled_cases(edition_of_cases())


@lru_cache(maxsize=2)
def _filled_cases(_edition: str) -> Mapping[str, FilledCase]:
    by_benchmark: dict[str, list[CitedCase]] = defaultdict(list)
    for case in _cases():
        by_benchmark[case.benchmark].append(case)
    filled = [case for key in CITED_BENCHMARKS for case in _of_benchmark(CITED_BENCHMARKS[key], by_benchmark[key])]
    return {case.name: case for case in filled}


def _cases() -> list[CitedCase]:
    """Every case of at least FEWEST_ACCELERATORS. One query beside `case_counts`."""
    filled = {key: case for key, case in case_counts().items() if case.accelerators >= FEWEST_ACCELERATORS}
    rows = public_results().filter(params_key__in={case.params_key for case in filled.values()}).order_by()
    first = rows.values("benchmark", "params_key").annotate(first=Min("pk")).values("first")
    examples = CitedResult.objects.filter(pk__in=first).only("benchmark", "params", "params_key", "unit")
    known = ((example, filled.get((example.benchmark, example.params_key))) for example in examples)
    return [case_of(example, case.results, case.accelerators) for example, case in known if case is not None]


def _of_benchmark(benchmark: CitedBenchmark, cases: Iterable[CitedCase]) -> list[FilledCase]:
    facet = benchmark.facets[0]
    fullest: dict[str, CitedCase] = {}
    for case in sorted(cases, key=lambda case: (*case.sort_key[:2], setting_text(benchmark, case.params))):
        fullest.setdefault(slugify(f"{benchmark.key} {case.params.get(facet, '')}".translate(_APART)), case)
    return [FilledCase(name, benchmark, case) for name, case in list(fullest.items())[:MOST_OF_BENCHMARK]]


@dataclass(frozen=True, slots=True)
class ComparedCase:
    """Accelerators by their best result of a case, best first. `devices`: how many worked together; None: any number.

    Where devices add up, amounts are those of one device. `lead`: that of the ranking of the benchmark's page, which
    has rows for names of several sheets, too.
    """

    case: FilledCase
    rows: tuple[RankedAccelerator, ...]
    devices: int | None
    lead: Lead


def compared_case(case: FilledCase) -> ComparedCase:
    """Two queries. The same results are read as for the ranking of the benchmark's page."""
    benchmark = case.benchmark
    results = ranked_results(benchmark, case.case, {})
    devices = number_of_devices(benchmark, results)
    alike = [result for result in results if devices in (None, result.count)]
    unmatched = without_sheet([case.case.params_key]).filter(benchmark=benchmark.key)
    others = [result for result in unmatched if devices in (None, result.count)]
    ranked, unranked = ranked_with_families(benchmark, alike, others, public_catalogue().by_slug)
    lead = lead_of(benchmark, ranked, unranked)
    return ComparedCase(case, ranked_accelerators(benchmark, alike), devices, lead)
