"""`/benchmarks/`: every benchmark that machines measure or others published, or what these did on one accelerator."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlencode

from django.conf import settings
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils.safestring import SafeString
from django.utils.translation import get_language, gettext_lazy, ngettext
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from stackviz.base.units import format_factor, format_number, quantity_label
from stackviz.draw.colours import hue_of
from stackviz.pages.benchmarks.ranking import family_text, lone_text, reached_bound
from stackviz.pages.benchmarks.side_by_side import side_by_side_page
from stackviz.records.catalog.bare_names import family_slugs
from stackviz.records.catalog.models import Accelerator
from stackviz.records.catalog.queries import public_catalogue
from stackviz.records.cited.benchmark import CitedBenchmark
from stackviz.records.cited.cases import CaseCount, case_counts, edition_of_cases, public_results
from stackviz.records.cited.models import CitedResult
from stackviz.records.cited.queries import (
    CitedOfAccelerator,
    benchmark_summaries,
    cited_counts,
    cited_of_accelerator,
    without_sheet,
)
from stackviz.records.cited.ranking import is_better, lead_of, number_of_devices, ranked_with_families
from stackviz.records.cited.registry import CITED_BENCHMARKS
from stackviz.records.cited.words import (
    HostLink,
    benchmark_address,
    devices_text,
    host_link,
    no_first_text,
    result_address,
    setting_text,
    share_text,
    too_few_text,
)
from stackviz.records.series.measured_settings import MeasuredAccelerator, MeasuredSetting, measured_settings
from stackviz.records.series.measurement import benchmark_titles
from stackviz.records.series.public_runs import measured_edition
from stackviz.report.measuring import BENCHMARKS, RUNNABLE, Benchmark
from stackviz.web.http.address import AddressReader
from stackviz.web.http.addresses import address_by_name
from stackviz.web.http.htmx import vary_on_htmx, wants_partial
from stackviz.web.i18n.words import joined
from stackviz.web.parts import cached_html, render_part

__all__ = ["index_page", "urlpatterns"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadlineResult:
    """One benchmark of an accelerator. `at`: per cent of its bound, or of the first, as `scale` says; `rank`: text.

    `no_first`: why there is no place and no first; "" where there is.
    """

    benchmark: str
    benchmark_url: str
    setting: str
    ladder_url: str
    value: str
    devices: str
    url: str
    rank: str
    no_first: str
    at: float
    scale: str
    is_of_bound: bool
    source: str
    source_url: str
    host: HostLink | None
    more: str


def headline_results(accelerator: Accelerator) -> tuple[HeadlineResult, ...]:
    """Return a line for each benchmark, in their order. One query besides those of `cited_of_accelerator`."""
    headlines = cited_of_accelerator(accelerator)
    if not headlines:
        return ()
    others = _results_of_cases([item.case.params_key for item in headlines])
    return tuple(_headline(item, others.get((item.benchmark.key, item.case.params_key), ())) for item in headlines)


@dataclass(frozen=True, slots=True)
class FamilyLine:
    """Results under a name that may mean this accelerator: of one benchmark, with the address of its ranking."""

    benchmark: str
    url: str
    names: str
    results: int


def family_lines(accelerator: Accelerator) -> tuple[FamilyLine, ...]:
    """Results of cards that are one of several sheets, this one among them. Two queries; one where there are none."""
    unmatched = CitedResult.objects.filter(state=CitedResult.State.UNMATCHED).order_by()
    names = unmatched.values_list("reported_name", flat=True).distinct()
    fitting = [name for name in names if accelerator.slug in family_slugs(name)]
    if not fitting:
        return ()
    rows = unmatched.filter(reported_name__in=fitting).values_list("benchmark", "reported_name")
    counts: dict[str, dict[str, int]] = defaultdict(dict)
    for key, name, results in rows.annotate(Count("pk")):
        counts[key][name] = results
    known = ((key, str(benchmark.title), counts.get(key, {})) for key, benchmark in CITED_BENCHMARKS.items())
    return tuple(
        FamilyLine(title, benchmark_address(key), ", ".join(sorted(by_name)), sum(by_name.values()))
        for key, title, by_name in known
        if by_name
    )


def _results_of_cases(keys: Sequence[str]) -> Mapping[tuple[str, str], Sequence[CitedResult]]:
    """(benchmark, params_key) -> its results: benchmarks with the same parameters share keys. One query."""
    public = Q(state=CitedResult.State.PUBLIC, accelerator__is_public=True)
    rows = CitedResult.objects.filter(public | Q(state=CitedResult.State.UNMATCHED), params_key__in=keys)
    rows = rows.select_related("accelerator").order_by()
    by_case: dict[tuple[str, str], list[CitedResult]] = defaultdict(list)
    for row in rows.only("benchmark", "params_key", "count", "amount", "reported_name", "accelerator__vendor"):
        by_case[row.benchmark, row.params_key].append(row)
    return by_case


def _headline(item: CitedOfAccelerator, everything: Sequence[CitedResult]) -> HeadlineResult:
    benchmark = item.benchmark
    best = _best_like_most(item, everything)
    devices = None if benchmark.adds_up else best.count
    alike = [row for row in everything if devices in (None, row.count)]
    rows, _others = ranked_with_families(
        benchmark,
        (row for row in alike if row.accelerator_id is not None),
        (row for row in alike if row.accelerator_id is None),
        public_catalogue().by_slug,
    )
    position = sum(is_better(benchmark, row.best, best) for row in rows) + 1
    no_first = no_first_text(lead_of(benchmark, rows))
    bound = reached_bound(best)
    first = rows[0].best.amount_per_device
    ratio = best.amount_per_device / first if benchmark.higher_is_better else first / best.amount_per_device
    share = bound.share if bound else ratio
    url = benchmark_address(benchmark.key)
    return HeadlineResult(
        benchmark=str(benchmark.title),
        benchmark_url=url,
        setting=setting_text(benchmark, item.case.params),
        ladder_url=f"{url}?{urlencode({'case': item.case.params_key})}",
        value=quantity_label(best.amount_per_device, best.si),
        devices=devices_text(best.count) if best.count > 1 else "",
        url=result_address(best),
        rank=_("%(place)d of %(n)d") % {"place": position, "n": len(rows)} if not no_first else "",
        no_first=no_first,
        at=round(min(share, 1.0) * 100, 1),
        scale=scale_text(share, position, is_of_bound=bound is not None, no_first=no_first),
        is_of_bound=bound is not None,
        source=best.source.title,
        source_url=best.source.url,
        host=host_link(best),
        more=_more_text(item.total - 1),
    )


def _best_like_most(item: CitedOfAccelerator, everything: Sequence[CitedResult]) -> CitedResult:
    """Its best result with the number of devices that most are compared with; else its best of all."""
    devices = number_of_devices(item.benchmark, [row for row in everything if row.accelerator_id is not None])
    alike = [row for row in item.results if devices in (None, row.count)]
    choose = max if item.benchmark.higher_is_better else min
    return choose(alike or item.results, key=lambda row: row.amount_per_device)


def scale_text(share: float, position: int, *, is_of_bound: bool, no_first: str = "") -> str:
    """Return how far a result is from its bound or the first. `no_first`: why there is none, as `no_first_text`."""
    if is_of_bound:
        return _("%(share)s of its bound") % {"share": share_text(share)}
    if no_first:
        return no_first
    if position == 1:
        return _("the first")
    factor = format_factor(share)
    if factor == format_factor(1.0):
        return _("level with the first")
    return _("%(factor)s the first") % {"factor": factor}


def _more_text(others: int) -> str:
    return ngettext("%(n)d more result", "%(n)d more results", others) % {"n": others} if others > 0 else ""


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
    """Who is first in the setting that leads; `name` is "" where nobody is, and `remark` says why."""

    setting: str
    remark: str
    name: str = ""
    slug: str = ""
    css: str = ""
    value: str = ""


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
    leading = case_counts().leading
    ranked, others = _public_of(leading), _without_sheet(leading)
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
                leader=_leader(row.benchmark, ranked.get(row.benchmark.key, []), others.get(row.benchmark.key, [])),
            )
        )
    return tuple(
        BenchmarkGroup(f"group-{number}", str(GROUPS.get(number, _("Others"))), tuple(group))
        for number, group in lines.items()
    )


def _public_of(cases: Mapping[str, CaseCount]) -> dict[str, list[CitedResult]]:
    """Benchmark -> the public results of its case. One query."""
    rows = public_results().filter(params_key__in={case.params_key for case in cases.values()})
    fields = ("unit", "params", "accelerator__name", "accelerator__slug", "accelerator__vendor__slug")
    return _of_cases(rows.select_related("accelerator__vendor").only(*_COMPARED, *fields), cases)


def _without_sheet(cases: Mapping[str, CaseCount]) -> dict[str, list[CitedResult]]:
    """Benchmark -> the results of its case that no sheet is certain of. One query."""
    rows = without_sheet(case.params_key for case in cases.values())
    return _of_cases(rows.only(*_COMPARED, "reported_name", "unit", "params"), cases)


def _of_cases(rows: Iterable[CitedResult], cases: Mapping[str, CaseCount]) -> dict[str, list[CitedResult]]:
    """By benchmark, without those of a benchmark whose case is another one."""
    by_benchmark: dict[str, list[CitedResult]] = {}
    for row in rows:
        if row.benchmark in cases and row.params_key == cases[row.benchmark].params_key:
            by_benchmark.setdefault(row.benchmark, []).append(row)
    return by_benchmark


def _leader(benchmark: CitedBenchmark, results: list[CitedResult], others: list[CitedResult]) -> Leader | None:
    devices = number_of_devices(benchmark, results)
    rows, hidden = ranked_with_families(
        benchmark,
        [result for result in results if devices in (None, result.count)],
        [result for result in others if devices in (None, result.count)],
        public_catalogue().by_slug,
    )
    if not rows:
        return None
    lead = lead_of(benchmark, rows, hidden)
    setting = setting_text(benchmark, benchmark.compared_params(rows[0].best.params))
    if lead.row is None:
        return Leader(setting=setting, remark=no_first_text(lead))
    first = lead.row
    overtaken = _("first of those with a sheet") if lead.better else ""
    return Leader(
        setting=setting,
        remark=joined([overtaken, family_text(first), lone_text(first)]),
        name=first.name,
        slug=first.slug,
        css=hue_of(first.accelerator.vendor.slug).css,
        value=quantity_label(first.best.amount_per_device, first.best.si),
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
    def first(self) -> MeasuredAccelerator | None:
        """Of the setting that most can be compared in; None where too few have a result in it."""
        return self.settings[0].rows[0] if self.settings[0].has_first else None

    @property
    def no_first(self) -> str:
        """Why there is no first; "" where there is one."""
        setting = self.settings[0]
        return "" if setting.has_first else too_few_text(len(setting.rows), setting.vendors)

    @property
    def css(self) -> str:
        return hue_of(self.first.accelerator.vendor.slug).css if self.first else ""

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
        return render_part(
            "benchmarks/_accelerator.jinja",
            lines=lines,
            families=family_lines(accelerator),
            name=accelerator.name,
            slug=accelerator.slug,
        )

    return cached_html(("benchmarks of", accelerator.slug, edition_of_cases()), draw, CACHE_S)


urlpatterns = [path("benchmarks/", index_page, name="index")]
