"""`/benchmarks/?accelerator=&accelerator=`: what others measured on two to six; a comparison of sheets fetches it.

Shown are the settings that most of them have a result of.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from stackviz.base.units import format_factor, quantity_label
from stackviz.pages.benchmarks.chart_page import accelerator_hues
from stackviz.records.catalog.models import Accelerator
from stackviz.records.catalog.queries import public_catalogue
from stackviz.records.cited.benchmark import CitedBenchmark
from stackviz.records.cited.best import is_like_for_like
from stackviz.records.cited.cases import case_counts, edition_of_cases, public_results
from stackviz.records.cited.models import CitedResult
from stackviz.records.cited.ranking import RankedAccelerator, number_of_devices, ranked_accelerators
from stackviz.records.cited.registry import CITED_BENCHMARKS
from stackviz.records.cited.words import (
    benchmark_address,
    devices_text,
    other_params,
    parameter_text,
    result_address,
    setting_text,
    software_text,
)
from stackviz.web.http.address import AddressReader
from stackviz.web.http.htmx import wants_partial
from stackviz.web.i18n.words import joined
from stackviz.web.parts import cached_html, render_part

CACHE_S = 600  # the key moves with cited results and sheets
PARAMETER = "accelerator"
MOST_ACCELERATORS = 6
SETTINGS_OF_A_BENCHMARK = 3
SETTINGS_TRIED = 9  # for those three: in some, each was run with another number of devices

_Counts = Mapping[str, Mapping[int, int]]  # params_key -> accelerator pk -> its public results


@dataclass(frozen=True, slots=True, kw_only=True)
class SideResult:
    """The best result of an accelerator in a setting. `at`: per cent of the largest amount of the row.

    `factor`: against the first accelerator with a result, "" for itself and across precisions. `missing`: why there is
    none; the rest is "" then. `made`: with what and when; `others`: parameters that need not agree.
    """

    missing: str = ""
    value: str = ""
    url: str = ""
    at: float = 0.0
    factor: str = ""
    is_best: bool = False
    made: str = ""
    others: str = ""
    source: str = ""
    source_url: str = ""


@dataclass(frozen=True, slots=True)
class SideRow:
    """One setting of a benchmark. `devices`: how many worked together, in words where it is not one."""

    setting: str
    devices: str
    ladder_url: str
    cells: tuple[SideResult, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SideBenchmark:
    key: str
    title: str
    url: str
    lower_is_better: bool
    rows: tuple[SideRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnResults:
    """What only one of them has results of. `benchmarks`: titles, the one with most results first."""

    name: str
    url: str
    results: int
    benchmarks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SideBySide:
    accelerators: tuple[Accelerator, ...]
    benchmarks: tuple[SideBenchmark, ...]
    unshared: tuple[OwnResults, ...]

    @property
    def css(self) -> tuple[str, ...]:
        """The colours of the accelerators, in the order they were chosen: as in their roofline and their comparison."""
        return tuple(hue.css for hue in accelerator_hues(self.accelerators))

    @property
    def names(self) -> str:
        return ", ".join(item.name for item in self.accelerators)

    @property
    def roofline_query(self) -> str:
        return urlencode([("a", item.slug) for item in self.accelerators])


def side_by_side(accelerators: Sequence[Accelerator]) -> SideBySide:
    """Two queries besides the editions, for any number of results; a third in a process that has not counted."""
    counts = _counts(accelerators)
    chosen = {key: _common_settings(key, by_case) for key, by_case in counts.items()}
    results = _results(accelerators, [params_key for keys in chosen.values() for params_key in keys])
    benchmarks = []
    for key in [key for key in CITED_BENCHMARKS if chosen.get(key)]:
        table = _benchmark(
            CITED_BENCHMARKS[key], accelerators, [results[key, params_key] for params_key in chosen[key]]
        )
        benchmarks += [table] if table.rows else []
    shared = {benchmark.key for benchmark in benchmarks}
    unshared = [_unshared(item, {key: counts[key] for key in counts if key not in shared}) for item in accelerators]
    return SideBySide(tuple(accelerators), tuple(benchmarks), tuple(filter(None, unshared)))


def _counts(accelerators: Sequence[Accelerator]) -> Mapping[str, _Counts]:
    """Benchmark -> its settings with the numbers of public results of these accelerators. One query."""
    rows = public_results().filter(accelerator__in=accelerators).order_by()
    grouped = rows.values_list("benchmark", "params_key", "accelerator_id").annotate(Count("pk"))
    counts: dict[str, dict[str, dict[int, int]]] = defaultdict(lambda: defaultdict(dict))
    for key, params_key, pk, results in grouped:
        counts[key][params_key][pk] = results
    return counts


def _common_settings(benchmark: str, by_case: _Counts) -> list[str]:
    """Settings that at least two of the accelerators have a result of: the most shared first, then the best known."""
    known = case_counts()
    shared = [params_key for params_key, by_accelerator in by_case.items() if len(by_accelerator) > 1]
    shared.sort(key=lambda key: (-len(by_case[key]), known[benchmark, key].sort_key))
    return shared[:SETTINGS_TRIED]


def _results(accelerators: Sequence[Accelerator], keys: Sequence[str]) -> Mapping[tuple[str, str], list[CitedResult]]:
    """(benchmark, params_key) -> the results of these accelerators. One query."""
    rows = public_results().filter(accelerator__in=accelerators, params_key__in=keys).order_by()
    by_case: dict[tuple[str, str], list[CitedResult]] = defaultdict(list)
    for row in rows.select_related("accelerator__vendor", "source"):
        by_case[row.benchmark, row.params_key].append(row)
    return by_case


def _benchmark(
    benchmark: CitedBenchmark, accelerators: Sequence[Accelerator], settings: Sequence[Sequence[CitedResult]]
) -> SideBenchmark:
    """`settings`: the results of each. Those in which fewer than two accelerators can be compared are left out."""
    rows = (_row(benchmark, accelerators, results) for results in settings)
    comparable = [row for row in rows if sum(not cell.missing for cell in row.cells) > 1]
    return SideBenchmark(
        key=benchmark.key,
        title=str(benchmark.title),
        url=benchmark_address(benchmark.key),
        lower_is_better=not benchmark.higher_is_better,
        rows=tuple(comparable[:SETTINGS_OF_A_BENCHMARK]),
    )


def _row(benchmark: CitedBenchmark, accelerators: Sequence[Accelerator], results: Sequence[CitedResult]) -> SideRow:
    devices = number_of_devices(benchmark, results)
    alike = [result for result in results if devices in (None, result.count)]
    best = {row.accelerator.pk: row for row in ranked_accelerators(benchmark, alike)}
    largest = max(row.best.amount_per_device for row in best.values())
    first = next(best[item.pk] for item in accelerators if item.pk in best)
    case = results[0]
    query = {"case": case.params_key} | ({"devices": devices} if devices is not None else {})
    return SideRow(
        setting=setting_text(benchmark, benchmark.compared_params(case.params)),
        devices=devices_text(devices) if devices not in (None, 1) else "",
        ladder_url=f"{benchmark_address(benchmark.key)}?{urlencode(query)}",
        cells=tuple(
            _cell(benchmark, best[item.pk], first, largest)
            if item.pk in best
            else SideResult(missing=_missing(item, results))
            for item in accelerators
        ),
    )


def _cell(benchmark: CitedBenchmark, row: RankedAccelerator, first: RankedAccelerator, largest: float) -> SideResult:
    best = row.best
    amount, against = best.amount_per_device, first.best.amount_per_device
    is_compared = row is not first and is_like_for_like(benchmark, best.params, first.best.params)
    others = [parameter_text(name, value) for name, value in other_params(benchmark, best.params).items()]
    return SideResult(
        value=quantity_label(amount, best.si),
        url=result_address(best),
        at=round(amount / largest * 100, 1),
        factor=format_factor(amount / against) if is_compared else "",
        is_best=row.rank == 1,
        made=joined([software_text(best.software), best.date]),
        others=joined(others),
        source=best.source.title,
        source_url=best.source.url,
    )


def _missing(accelerator: Accelerator, results: Sequence[CitedResult]) -> str:
    """Why it has no result among those compared: none at all, or of another number of devices."""
    numbers = Counter(result.count for result in results if result.accelerator_id == accelerator.pk)
    if not numbers:
        return _("no cited result")
    (number, _results), *_rest = numbers.most_common(1)
    return _("only of %(devices)s") % {"devices": devices_text(number)}


def _unshared(accelerator: Accelerator, counts: Mapping[str, _Counts]) -> OwnResults | None:
    """What it has results of in benchmarks without a shared setting; None for nothing."""
    totals: Counter[str] = Counter()
    for key, by_case in counts.items():
        total = sum(by_accelerator.get(accelerator.pk, 0) for by_accelerator in by_case.values())
        if total and key in CITED_BENCHMARKS:
            totals[key] = total
    if not totals:
        return None
    titles = tuple(str(CITED_BENCHMARKS[key].title) for key, _total in totals.most_common())
    url = f"{reverse('benchmarks:index')}?{urlencode({'accelerator': accelerator.slug})}"
    return OwnResults(name=accelerator.name, url=url, results=totals.total(), benchmarks=titles)


def side_by_side_page(request: HttpRequest) -> HttpResponse:
    """Two to six accelerators; for htmx the tables alone."""
    reader = AddressReader(request.GET)
    by_slug = public_catalogue().by_slug
    slugs = reader.choices(PARAMETER, by_slug, _("accelerator"))
    if len(slugs) > MOST_ACCELERATORS:
        reader.note(PARAMETER, _("At most %(n)d accelerators are compared") % {"n": MOST_ACCELERATORS})
    accelerators = [by_slug[slug] for slug in slugs[:MOST_ACCELERATORS]]
    body = _body(accelerators) if len(accelerators) > 1 else ""
    if wants_partial(request) and body:
        return HttpResponse(body)
    query = "&".join(f"a={item.slug}" for item in accelerators)
    context = {"notes": reader.notes({PARAMETER}), "accelerators": accelerators, "body": body, "query": query}
    return render(request, "benchmarks/side_by_side.html", context)


def _body(accelerators: list[Accelerator]) -> SafeString:
    def draw() -> SafeString:
        return render_part("benchmarks/_side_by_side.jinja", compared=side_by_side(accelerators))

    slugs = tuple(item.slug for item in accelerators)
    return cached_html(("benchmarks side by side", slugs, edition_of_cases()), draw, CACHE_S)
