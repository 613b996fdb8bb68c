"""What others measured on one accelerator: of each benchmark the result most others can be compared with."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from stackviz.base.units import format_factor, quantity_label
from stackviz.pages.benchmarks.ranking import reached_bound
from stackviz.records.catalog.models import Accelerator
from stackviz.records.cited.cases import public_results
from stackviz.records.cited.models import CitedResult
from stackviz.records.cited.queries import CitedOfAccelerator, cited_of_accelerator
from stackviz.records.cited.ranking import is_better, number_of_devices, results_by_accelerator
from stackviz.records.cited.words import benchmark_address, devices_text, result_address, setting_text, share_text


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadlineResult:
    """One benchmark of an accelerator. `at`: per cent of its bound, or of the first, as `scale` says; `rank`: text."""

    benchmark: str
    benchmark_url: str
    setting: str
    ladder_url: str
    value: str
    devices: str
    url: str
    rank: str
    at: float
    scale: str
    is_of_bound: bool
    source: str
    source_url: str
    more: str


def headline_results(accelerator: Accelerator) -> tuple[HeadlineResult, ...]:
    """Return a line for each benchmark, in their order. One query besides those of `cited_of_accelerator`."""
    headlines = cited_of_accelerator(accelerator)
    if not headlines:
        return ()
    others = _results_of_cases([item.case.params_key for item in headlines])
    return tuple(_headline(item, others.get((item.benchmark.key, item.case.params_key), ())) for item in headlines)


def _results_of_cases(keys: Sequence[str]) -> Mapping[tuple[str, str], Sequence[CitedResult]]:
    """(benchmark, params_key) -> its results: benchmarks with the same parameters share keys. One query."""
    rows = public_results().filter(params_key__in=keys).order_by()
    by_case: dict[tuple[str, str], list[CitedResult]] = defaultdict(list)
    for row in rows.only("benchmark", "params_key", "count", "amount", "accelerator_id"):
        by_case[row.benchmark, row.params_key].append(row)
    return by_case


def _headline(item: CitedOfAccelerator, everything: Sequence[CitedResult]) -> HeadlineResult:
    benchmark = item.benchmark
    best = _best_like_most(item, everything)
    devices = None if benchmark.adds_up else best.count
    alike = [row for row in everything if devices in (None, row.count)]
    bests = [results[0] for results in results_by_accelerator(benchmark, alike).values()]
    position = sum(is_better(benchmark, other, best) for other in bests) + 1
    bound = reached_bound(best)
    first = bests[0].amount_per_device
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
        rank=_("%(place)d of %(n)d") % {"place": position, "n": len(bests)} if len(bests) > 1 else "",
        at=round(min(share, 1.0) * 100, 1),
        scale=scale_text(share, position, is_of_bound=bound is not None),
        is_of_bound=bound is not None,
        source=best.source.title,
        source_url=best.source.url,
        more=_more_text(item.total - 1),
    )


def _best_like_most(item: CitedOfAccelerator, everything: Sequence[CitedResult]) -> CitedResult:
    """Its best result with the number of devices that most are compared with; else its best of all."""
    devices = number_of_devices(item.benchmark, everything)
    alike = [row for row in item.results if devices in (None, row.count)]
    choose = max if item.benchmark.higher_is_better else min
    return choose(alike or item.results, key=lambda row: row.amount_per_device)


def scale_text(share: float, position: int, *, is_of_bound: bool) -> str:
    if is_of_bound:
        return _("%(share)s of its bound") % {"share": share_text(share)}
    if position == 1:
        return _("the first")
    factor = format_factor(share)
    if factor == format_factor(1.0):
        return _("level with the first")
    return _("%(factor)s the first") % {"factor": factor}


def _more_text(others: int) -> str:
    return ngettext("%(n)d more result", "%(n)d more results", others) % {"n": others} if others > 0 else ""
