"""`/benchmarks/`: every benchmark that machines measure or others published, or what these did on one accelerator."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from django.conf import settings
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils.safestring import SafeString
from django.utils.translation import get_language, gettext_lazy
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from stackviz.base.units import format_number, quantity_label
from stackviz.draw.charts.vendors import css, vendor_slot
from stackviz.pages.benchmarks.of_accelerator import headline_results
from stackviz.pages.benchmarks.ranking import lone_text
from stackviz.pages.benchmarks.side_by_side import side_by_side_page
from stackviz.records.catalog.models import Accelerator
from stackviz.records.catalog.queries import public_catalogue
from stackviz.records.cited.benchmark import CitedBenchmark
from stackviz.records.cited.cases import CaseCount, case_counts, edition_of_cases, public_results
from stackviz.records.cited.models import CitedResult
from stackviz.records.cited.queries import benchmark_summaries, cited_counts, without_sheet
from stackviz.records.cited.ranking import better_than, number_of_devices, ranked_accelerators
from stackviz.records.cited.words import benchmark_address, setting_text
from stackviz.records.series.measured_settings import MeasuredAccelerator, MeasuredSetting, measured_settings
from stackviz.records.series.measurement import benchmark_titles
from stackviz.records.series.public_runs import measured_edition
from stackviz.report.measuring import BENCHMARKS, RUNNABLE, Benchmark
from stackviz.web.address import AddressReader
from stackviz.web.htmx import vary_on_htmx, wants_partial
from stackviz.web.parts import cached_html, render_part
from stackviz.web.reverse import address_by_name
from stackviz.web.templatetags.web import joined

__all__ = ["index_page", "urlpatterns"]

CACHE_S = 600  # the key moves with cited results and sheets


# By the hundred of a benchmark's order; a module of `cited.definitions` each.
GROUPS = {
    0: gettext_lazy("Language models"),
    1: gettext_lazy("Arithmetic"),
    2: gettext_lazy("Memory and links"),
    3: gettext_lazy("Networks"),
    4: gettext_lazy("MLPerf"),
    5: gettext_lazy("Energy"),
}

_COMPARED = ("benchmark", "params_key", "count", "amount")


@dataclass(frozen=True, slots=True, kw_only=True)
class Leader:
    """Who is first in the setting that most accelerators have a result of."""

    name: str
    slug: str
    css: str
    value: str
    setting: str
    remark: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkLine:
    """One benchmark in the list; counts formatted."""

    title: str
    measures: str
    url: str
    results: str
    accelerators: str
    sources: str
    leader: Leader | None


@dataclass(frozen=True, slots=True)
class BenchmarkGroup:
    id: str
    title: str
    lines: tuple[BenchmarkLine, ...]


def benchmark_groups() -> tuple[BenchmarkGroup, ...]:
    """Benchmarks with public results, in the order of the registry. Five queries in a process that has not prepared
    this edition in this language yet: reports that come in do not change it.
    """
    return _groups(edition_of_cases(), get_language())


@lru_cache(maxsize=2 * len(settings.LANGUAGES))
def _groups(_edition: str, _language: str | None) -> tuple[BenchmarkGroup, ...]:
    common = common_cases()
    leaders, others = _leaders(common), _without_sheet(common)
    sources = dict(public_results().order_by().values_list("benchmark").annotate(Count("source", distinct=True)))
    lines: dict[int, list[BenchmarkLine]] = {}
    for row in benchmark_summaries():
        lines.setdefault(row.benchmark.order // 100, []).append(
            BenchmarkLine(
                title=str(row.benchmark.title),
                measures=str(row.benchmark.measures),
                url=benchmark_address(row.benchmark.key),
                results=format_number(row.results),
                accelerators=format_number(row.accelerators),
                sources=format_number(sources.get(row.benchmark.key, 0)),
                leader=_leader(row.benchmark, leaders.get(row.benchmark.key, []), others.get(row.benchmark.key, [])),
            )
        )
    return tuple(
        BenchmarkGroup(f"group-{number}", str(GROUPS.get(number, _("Others"))), tuple(group))
        for number, group in lines.items()
    )


def common_cases() -> Mapping[str, CaseCount]:
    """Benchmark -> the case its page shows without a choice: the one that most accelerators have a public result of."""
    worst_first = sorted(case_counts().values(), key=lambda case: case.sort_key, reverse=True)
    return {case.benchmark: case for case in worst_first}


def _leaders(common: Mapping[str, CaseCount]) -> dict[str, list[CitedResult]]:
    """Benchmark -> the public results of its common case. One query."""
    rows = public_results().filter(params_key__in={case.params_key for case in common.values()})
    fields = ("unit", "params", "accelerator__name", "accelerator__slug", "accelerator__vendor__slug")
    return _of_common_cases(rows.select_related("accelerator__vendor").only(*_COMPARED, *fields), common)


def _without_sheet(common: Mapping[str, CaseCount]) -> dict[str, list[CitedResult]]:
    """Benchmark -> the results of its common case that no sheet is certain of. One query."""
    rows = without_sheet(case.params_key for case in common.values())
    return _of_common_cases(rows.only(*_COMPARED), common)


def _of_common_cases(rows: Iterable[CitedResult], common: Mapping[str, CaseCount]) -> dict[str, list[CitedResult]]:
    """By benchmark, without those of a benchmark whose common case is another one."""
    by_benchmark: dict[str, list[CitedResult]] = {}
    for row in rows:
        if row.benchmark in common and row.params_key == common[row.benchmark].params_key:
            by_benchmark.setdefault(row.benchmark, []).append(row)
    return by_benchmark


def _leader(benchmark: CitedBenchmark, results: list[CitedResult], others: list[CitedResult]) -> Leader | None:
    devices = number_of_devices(benchmark, results)
    rows = ranked_accelerators(benchmark, [result for result in results if devices in (None, result.count)])
    if not rows:
        return None
    first = rows[0]
    overtaken = _("first of those with a sheet") if better_than(first, benchmark, others) else ""
    return Leader(
        name=first.accelerator.name,
        slug=first.accelerator.slug,
        css=css(vendor_slot(first.accelerator.vendor.slug)),
        value=quantity_label(first.best.amount_per_device, first.best.si),
        setting=setting_text(benchmark, benchmark.compared_params(first.best.params)),
        remark=joined([overtaken, lone_text(first)]),
    )


@dataclass(frozen=True, slots=True)
class MeasuredBenchmark:
    """A benchmark that machines measured. `settings`: at least one, the one that most can be compared in first."""

    benchmark: Benchmark
    title: str
    settings: Sequence[MeasuredSetting]

    @property
    def address(self) -> str:
        return f"{benchmark_address(self.benchmark.key)}#measured"

    @property
    def first(self) -> MeasuredAccelerator:
        return self.settings[0].rows[0]

    @property
    def css(self) -> str:
        return css(vendor_slot(self.first.accelerator.vendor.slug))

    @property
    def accelerators(self) -> int:
        return len({row.accelerator.pk for setting in self.settings for row in setting.rows})

    @property
    def machines(self) -> int:
        return len(frozenset().union(*(setting.machine_ids for setting in self.settings)))


def measured_benchmarks() -> list[MeasuredBenchmark]:
    """Return them in the order in which the agent runs them."""
    titles = benchmark_titles()
    known = [(benchmark, measured_settings(benchmark.key)) for benchmark in BENCHMARKS.values()]
    return [
        MeasuredBenchmark(benchmark, titles[benchmark.key, benchmark.version], settings)
        for benchmark, settings in known
        if settings
    ]


@require_safe
@vary_on_htmx
def index_page(request: HttpRequest) -> HttpResponse:
    """All benchmarks with public results, in groups; with `?accelerator=` those of one, for htmx its table alone.

    With several accelerators: `side_by_side_page`.
    """
    if len(request.GET.getlist("accelerator")) > 1:
        return side_by_side_page(request)
    reader = AddressReader(request.GET)
    by_slug = public_catalogue().by_slug if "accelerator" in request.GET else {}
    accelerator = by_slug.get(reader.choice("accelerator", by_slug, _("accelerator")))
    body = _body() if accelerator is None else _of_accelerator(accelerator)
    if accelerator is not None and wants_partial(request):
        return HttpResponse(body)
    context = {"notes": reader.notes({"accelerator"}), "accelerator": accelerator, "body": body}
    return render(request, "benchmarks/index.html", context)


def _body() -> SafeString:
    def draw() -> SafeString:
        counts, titles = cited_counts(), benchmark_titles()
        return render_part(
            "benchmarks/_index.jinja",
            groups=benchmark_groups(),
            results=format_number(counts.results),
            accelerators=format_number(counts.accelerators),
            sources=format_number(counts.sources),
            left_out=format_number(counts.unmatched + counts.doubtful + counts.withdrawn),
            measured=measured_benchmarks(),
            definitions=[
                (titles[key, known.version], address_by_name("benchmarks:definition", key))
                for key, known in RUNNABLE.items()
            ],
        )

    return cached_html(("benchmarks", edition_of_cases(), *measured_edition()), draw, CACHE_S)


def _of_accelerator(accelerator: Accelerator) -> SafeString:
    def draw() -> SafeString:
        lines = headline_results(accelerator)
        return render_part("benchmarks/_accelerator.jinja", lines=lines, name=accelerator.name, slug=accelerator.slug)

    return cached_html(("benchmarks of", accelerator.slug, edition_of_cases()), draw, CACHE_S)


urlpatterns = [path("benchmarks/", index_page, name="index")]
