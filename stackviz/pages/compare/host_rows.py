"""Cited results of public hosts side by side: a row for each test and engine, and under each figure what differs.

Sheets that are compared with hosts have their best cited results of the same tests in these rows. Two queries.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from stackviz.base.light import light_dataclass
from stackviz.base.units import UNITS, format_factor, quantity_label
from stackviz.draw.charts.bars import Meter, meter
from stackviz.pages.compare.explained import SettingChange, Work
from stackviz.pages.compare.host_runs import ENGINES, engine_of, results_by_host, run_settings, test_key
from stackviz.pages.compare.pairs import named_pair
from stackviz.pages.compare.subjects import Head, Loaded
from stackviz.pages.compare.tiles import is_level
from stackviz.records.catalog.fields import FIELDS
from stackviz.records.cited.best import PHASES, is_like_for_like, phase_of
from stackviz.records.cited.cases import public_results
from stackviz.records.cited.host_bounds import host_bound, host_share_text, peaks_of_results
from stackviz.records.cited.models import CitedResult
from stackviz.records.cited.queries import Published
from stackviz.records.cited.ranking import times_as_fast
from stackviz.records.cited.registry import CITED_BENCHMARKS
from stackviz.records.cited.words import devices_text, facet_title, result_address, setting_text
from stackviz.web.i18n.words import joined

MOST_RUNS = 11  # of one host at one test, after the best
MOST_ALONE = 60

_TITLES: Mapping[str, Callable[[], str]] = {
    "driver": lambda: _("driver"),
    "system": lambda: pgettext("operating system", "system"),
    "cpu": lambda: _("processor"),
    "pcie_lanes": lambda: _("PCIe lanes"),
    "power_limit_w": lambda: _("power limit, W"),
    "torch": lambda: "PyTorch",
    "cuda": lambda: "CUDA",
    "macos": lambda: "macOS",
    "macos-sdk": lambda: "macOS SDK",
    "rocm": lambda: "ROCm",
    "vllm": lambda: "vLLM",
    "mlx": lambda: "MLX",
}


_OF_THE_HOST = frozenset({"cpu", "pcie_lanes", "system"})  # in the table of facts, once


def setting_title(name: str) -> str:
    """What a setting of a run is called."""
    return _TITLES[name]() if name in _TITLES else facet_title(name)


def change_text(change: SettingChange) -> str:
    """`driver: 580.126.09 and 570.172.08`; "not stated" where one does not state it."""
    values = {"first": change.first or _("not stated"), "second": change.second or _("not stated")}
    return _("%(title)s: %(first)s and %(second)s") % {"title": setting_title(change.name), **values}


@light_dataclass(slots=True, kw_only=True)
class HostFigure:
    """One result. `note`: what it states that others of the row do not; `share`: of the published bound."""

    text: str
    note: str
    url: str
    share: str = ""
    bound: str = ""


@light_dataclass(slots=True, kw_only=True)
class HostCell:
    """A subject's best result of a row, and its others. `best` None: it has no result of this test."""

    slot: int
    best: HostFigure | None = None
    others: tuple[HostFigure, ...] = ()
    more: int = 0
    factor: str = ""
    is_first: bool = False
    meter: Meter | None = None

    @property
    def css(self) -> str:
        return f"s{self.slot + 1}"


@light_dataclass(slots=True, kw_only=True)
class HostTestRow:
    """One test with one engine. `work`: decode, prefill or ""; `best`: slot -> the result that its cell leads with."""

    title: str
    setting: str
    work: str
    key: Work
    cells: tuple[HostCell, ...]
    best: Mapping[int, CitedResult]
    results: Mapping[int, Sequence[CitedResult]]
    lower_is_better: bool

    @property
    def results_of_all(self) -> list[CitedResult]:
        return [result for results in self.results.values() for result in results]

    @property
    def is_shared(self) -> bool:
        return len(self.best) > 1


@dataclass(frozen=True, slots=True, kw_only=True)
class HostResults:
    """`shared`: rows that several subjects have, decode first; `alone`: rows of one subject. `base`: of factors.

    Of subjects that are a pair of `/compare/` the row that the pair is about leads.
    """

    heads: tuple[Head, ...]
    base: Head
    shared: tuple[HostTestRow, ...]
    alone: tuple[HostTestRow, ...]
    left_out: int

    @property
    def rows(self) -> tuple[HostTestRow, ...]:
        return self.shared or self.alone


def host_results(chosen: Sequence[Loaded], heads: Sequence[Head], base: Head | None) -> HostResults | None:
    """What is cited of the hosts among these, and of the sheets in the same tests; None without any."""
    if not any(loaded.host for loaded in chosen):
        return None
    by_host = results_by_host(loaded.host for loaded in chosen if loaded.host is not None)
    by_slot: dict[int, Sequence[CitedResult]] = {
        head.slot: by_host.get(loaded.host.pk, ())
        for head, loaded in zip(heads, chosen, strict=True)
        if loaded.host is not None
    }
    keys = {test_key(result) for results in by_slot.values() for result in results}
    by_slot |= _of_sheets(chosen, heads, keys)
    shown = tuple(head for head in heads if head.slot in by_slot)
    first = base if base in shown else shown[0]
    rows = _rows(by_slot, shown, first)
    if not rows:
        return None
    if (pair := named_pair(head.name for head in shown)) and (first_of_pair := pair.first):
        rows.sort(key=lambda row: not any(map(first_of_pair.fits, row.results_of_all)))
    shared = tuple(row for row in rows if row.is_shared)
    alone = tuple(row for row in rows if not row.is_shared)
    return HostResults(
        heads=shown,
        base=first,
        shared=shared,
        alone=alone[:MOST_ALONE],
        left_out=max(0, len(alone) - MOST_ALONE),
    )


def verdict_of_hosts(results: HostResults | None) -> str:
    """The leading row in one sentence of plain text; "" where no row has a factor."""
    row = next((row for row in results.shared if _ends_of(row)), None) if results else None
    if results is None or row is None:
        return ""
    first, last, factor = _ends_of(row) or (0, 0, "")
    names = {head.slot: head.title for head in results.heads}
    words = {"first": names[first], "last": names[last], "factor": factor, "setting": f"{row.setting} ({row.title})"}
    if not factor:
        return _("%(first)s and %(last)s are about equal in %(setting)s.") % words
    return _("%(first)s is %(factor)s as fast as %(last)s in %(setting)s.") % words


def _ends_of(row: HostTestRow) -> tuple[int, int, str] | None:
    """(slot of the fastest, of the slowest, how many times); "" for no difference, None without a factor."""
    benchmark = CITED_BENCHMARKS[row.key[0]]
    ranked = sorted(row.best.items(), key=lambda item: _speed(item[1]), reverse=True)
    (first, fastest), (last, slowest) = ranked[0], ranked[-1]
    if not benchmark.has_first or not is_like_for_like(benchmark, fastest.params, slowest.params):
        return None
    ratio = times_as_fast(benchmark, fastest, slowest)
    return first, last, "" if is_level(ratio) else format_factor(ratio)


def _of_sheets(
    chosen: Sequence[Loaded], heads: Sequence[Head], keys: Iterable[Work]
) -> dict[int, Sequence[CitedResult]]:
    """Slot of a sheet -> its best cited result of each of these tests. One query; none without a sheet."""
    keys = set(keys)
    slots = {
        loaded.accelerator.pk: head.slot
        for head, loaded in zip(heads, chosen, strict=True)
        if loaded.accelerator is not None and not loaded.has_cards
    }
    if not slots or not keys:
        return {}
    rows = public_results().filter(accelerator__in=list(slots), params_key__in={key[1] for key in keys})
    by_sheet: dict[int, dict[Work, CitedResult]] = {slot: {} for slot in slots.values()}
    for row in rows.select_related("accelerator__vendor", "source").order_by("pk"):
        key, slot = test_key(row), slots[row.accelerator_id or 0]
        known = by_sheet[slot].get(key)
        if key in keys and (known is None or _speed(row) > _speed(known)):
            row.host = None
            by_sheet[slot][key] = row
    return {slot: tuple(results.values()) for slot, results in by_sheet.items()}


def _speed(result: CitedResult) -> float:
    return result.amount if CITED_BENCHMARKS[result.benchmark].higher_is_better else -result.amount


def _rows(by_slot: Mapping[int, Sequence[CitedResult]], heads: Sequence[Head], base: Head) -> list[HostTestRow]:
    published = peaks_of_results(result for results in by_slot.values() for result in results)
    groups: dict[Work, dict[int, list[CitedResult]]] = defaultdict(lambda: defaultdict(list))
    for slot, results in by_slot.items():
        for result in results:
            groups[test_key(result)][slot].append(result)
    for of_slots in groups.values():
        for results in of_slots.values():
            results.sort(key=_speed, reverse=True)
    rows = [_row(key, of_slots, heads, base, published) for key, of_slots in groups.items()]

    def order_of(row: HostTestRow) -> tuple[int, int, int, str]:
        return PHASES.index(row.work), -len(row.best), CITED_BENCHMARKS[row.key[0]].order, row.setting

    return sorted(rows, key=order_of)


def _row(
    key: Work,
    of_slots: Mapping[int, Sequence[CitedResult]],
    heads: Sequence[Head],
    base: Head,
    published: Mapping[int, Published],
) -> HostTestRow:
    best = {slot: results[0] for slot, results in of_slots.items()}
    every = [result for results in of_slots.values() for result in results]
    benchmark = CITED_BENCHMARKS[key[0]]
    settings = {result.pk: run_settings(result) for result in every}
    differing = _differing(settings.values())
    first = best.get(base.slot) or next(iter(best.values()))
    largest = max(result.amount for result in best.values())
    cells = []
    for head in heads:
        results = of_slots.get(head.slot, ())
        if not results:
            cells.append(HostCell(slot=head.slot))
            continue
        figures = [_figure(result, settings[result.pk], differing, published) for result in results]
        cells.append(
            HostCell(
                slot=head.slot,
                best=figures[0],
                others=tuple(figures[1 : MOST_RUNS + 1]),
                more=max(0, len(figures) - 1 - MOST_RUNS),
                factor=_factor(results[0], first) if head != base and base.slot in best else "",
                is_first=len(best) > 1 and results[0] is _leader(best.values()),
                meter=meter(results[0].amount, largest),
            )
        )
    compared = benchmark.compared_params(every[0].params)
    engine = engine_of(every[0])
    further = [engine] if engine and not set(ENGINES) & set(compared) else []
    if every[0].count > 1:
        further.append(devices_text(every[0].count))
    return HostTestRow(
        title=str(benchmark.title),
        setting=" · ".join([setting_text(benchmark, compared), *further]),
        work=phase_of(benchmark.key, every[0].params),
        key=key,
        cells=tuple(cells),
        best=best,
        results=of_slots,
        lower_is_better=not benchmark.higher_is_better,
    )


def _leader(results: Iterable[CitedResult]) -> CitedResult | None:
    """The best; None where the best figure is no merit, or two are equal."""
    ranked = sorted(results, key=_speed, reverse=True)
    is_clear = ranked[0].amount != ranked[1].amount and CITED_BENCHMARKS[ranked[0].benchmark].has_first
    return ranked[0] if is_clear else None


def _factor(result: CitedResult, base: CitedResult) -> str:
    """Return how many times as fast as the baseline; "" where they are not of one precision and availability."""
    benchmark = CITED_BENCHMARKS[result.benchmark]
    if not is_like_for_like(benchmark, result.params, base.params) or not benchmark.has_first:
        return ""
    return format_factor(times_as_fast(benchmark, result, base))


def _differing(settings: Iterable[Mapping[str, str]]) -> frozenset[str]:
    """Names of what not all of them state alike."""
    every = list(settings)
    names = {name for each in every for name in each}
    return frozenset(name for name in names if len({each.get(name, "") for each in every}) > 1 or len(every) == 1)


def _figure(
    result: CitedResult, settings: Mapping[str, str], differing: frozenset[str], published: Mapping[int, Published]
) -> HostFigure:
    bound = host_bound(result, published)
    named = [
        f"{setting_title(name)} {value}"
        for name, value in settings.items()
        if name in differing and name not in _OF_THE_HOST
    ]
    return HostFigure(
        text=quantity_label(result.amount, result.si, digits=3),
        note=joined(named),
        url=result_address(result),
        share=host_share_text(result, published),
        bound=_bound_text(bound.field, bound.peak) if bound else "",
    )


def _bound_text(field: str, peak: float) -> str:
    """`memory bandwidth 1.792 TB/s`"""
    known = FIELDS[field]
    return f"{known.words[0]} {quantity_label(peak, UNITS[known.unit].si, digits=4)}"
