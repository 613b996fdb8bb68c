"""Accelerators ranked by their best cited result of one case. Like for like: see `cited.ranking`."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from stackviz.base.units import format_factor, format_in, format_number, from_si, quantity_label, unit, unit_label
from stackviz.draw.charts.scale import Scale, bar_scale, spans_decades
from stackviz.draw.colours import Hue, hue_of
from stackviz.pages.benchmarks.priced import cheapest, priced_result
from stackviz.pages.benchmarks.selection import ANY_NUMBER, CitedChoice
from stackviz.records.catalog.fields import FIELDS
from stackviz.records.catalog.queries import public_catalogue
from stackviz.records.cited.benchmark import CitedBenchmark
from stackviz.records.cited.bounds import case_bound
from stackviz.records.cited.cases import CitedCase
from stackviz.records.cited.models import CitedResult
from stackviz.records.cited.queries import cited_of_benchmark, having, share_of_bound, without_sheet
from stackviz.records.cited.ranking import (
    Lead,
    RankedAccelerator,
    lead_of,
    number_of_devices,
    ranked_with_families,
    readable_symbol,
)
from stackviz.records.cited.registry import CITED_BENCHMARKS
from stackviz.records.cited.words import (
    HostLink,
    host_link,
    other_params,
    parameter_text,
    result_address,
    share_text,
    software_text,
)
from stackviz.web.http.address import Note
from stackviz.web.i18n.words import joined


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachedBound:
    """The most that one device could reach. `amount`: in the result's base unit; `share`: of it that was reached.

    `field`: title of the published value; `peak`: that value; `divisor`: what it is divided by, "" for nothing.
    """

    amount: float
    share: float
    field: str
    peak: str
    divisor: str = ""

    @property
    def share_text(self) -> str:
        return share_text(self.share)

    @property
    def formula(self) -> str:
        return f"{self.peak} ÷ {self.divisor}" if self.divisor else self.peak


def reached_bound(result: CitedResult) -> ReachedBound | None:
    """The bound of a result with a sheet; None where nothing published bounds it, or not by what it says."""
    bound = share_of_bound(result)
    if bound is None:
        return None
    field = FIELDS[bound.field]
    title, peak = field.words[0], quantity_label(bound.peak, unit(field.unit).si)
    reached = result.amount_per_device
    if bound.share:
        return ReachedBound(amount=reached / bound.share, share=bound.share, field=title, peak=peak)
    by_case = case_bound(CITED_BENCHMARKS[result.benchmark], result.params)
    if by_case is None:
        return None
    most = by_case.most(bound.peak)
    divisor = quantity_label(by_case.divisor, "B", binary=True, digits=3)
    return ReachedBound(amount=most, share=reached / most, field=title, peak=peak, divisor=divisor)


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedLadder:
    """One case of a benchmark. `devices`: how many worked together, None for any number; `counts`: number -> results.

    `lead`: whether it has a first; `cases`: others that the choice leaves open, the best to compare in first.
    """

    benchmark: CitedBenchmark
    case: CitedCase | None
    lead: Lead
    rows: tuple[RankedAccelerator, ...] = ()
    devices: int | None = None
    counts: tuple[tuple[int, int], ...] = ()
    cases: Sequence[CitedCase] = ()
    notes: tuple[Note, ...] = ()

    @property
    def results(self) -> int:
        return sum(len(row.results) for row in self.rows)

    @property
    def results_read(self) -> int:
        """Of any number of devices: fewer than the case has where that has too many."""
        return sum(count for _number, count in self.counts)

    @property
    def is_shared_out(self) -> bool:
        """Whether amounts are those of one device, of several that worked together."""
        return self.benchmark.adds_up and self.devices is None and any(number > 1 for number, _count in self.counts)


def ladder_of(benchmark: CitedBenchmark, choice: CitedChoice) -> CitedLadder:
    """Return the ranking that an address asks for. Three queries besides those of `benchmark_cases`."""
    ranking = cited_of_benchmark(benchmark.key, choice.chosen, choice.case)
    if ranking.case is None:
        return CitedLadder(benchmark=benchmark, case=None, lead=lead_of(benchmark, ()))
    counts = Counter(result.count for result in ranking.results)
    devices = number_of_devices(benchmark, ranking.results)
    notes: tuple[Note, ...] = ()
    if choice.devices == ANY_NUMBER:
        devices = None
    elif choice.devices and int(choice.devices) in counts:
        devices = int(choice.devices)
    elif choice.devices:
        problem = _("No result of this setting is of %(n)s devices") % {"n": choice.devices}
        notes = (Note("devices", problem),)
    results = [result for result in ranking.results if devices in (None, result.count)]
    unmatched = without_sheet([ranking.case.params_key]).filter(benchmark=benchmark.key)
    unmatched = unmatched.select_related("source", "host")
    alike = [row for row in having(benchmark, choice.chosen, unmatched) if devices in (None, row.count)]
    rows, others = ranked_with_families(benchmark, results, alike, public_catalogue().by_slug)
    return CitedLadder(
        benchmark=benchmark,
        case=ranking.case,
        lead=lead_of(benchmark, rows, others),
        rows=rows,
        devices=devices,
        counts=tuple(sorted(counts.items())),
        cases=[case for case in ranking.cases if case.params_key != ranking.case.params_key],
        notes=notes,
    )


TICKS_APART = 20
MOST_DOTS = 40  # of one accelerator; more would hide one another


@dataclass(frozen=True, slots=True)
class CitedDot:
    """`at`: per cent of the scale."""

    at: float
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedRow:
    """One accelerator. `text` in the unit of the scale; `made`: with what and when. What there is not is "", such as
    the `rank` in a ranking without a first.

    `priced`: (figure, what it is made of) against the cheapest price of each kind and currency in the result's month.
    """

    rank: str
    name: str
    slug: str
    hue: Hue
    dot: CitedDot
    others: tuple[CitedDot, ...]
    text: str
    exact: str
    spread: str
    bound_at: float | None
    share: str
    formula: str
    made: str
    devices: int
    source: str
    source_url: str
    url: str
    family: str
    lone: str
    host: HostLink | None = None
    priced: tuple[tuple[str, str], ...] = ()

    @property
    def remark(self) -> str:
        return joined([self.family, self.lone])


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnLadder:
    """`unit`: as printed; `ticks`: (per cent of the scale, label)."""

    unit: str
    is_log: bool
    ticks: tuple[tuple[float, str], ...]
    rows: tuple[CitedRow, ...]

    @property
    def has_bounds(self) -> bool:
        return any(row.bound_at is not None for row in self.rows)

    @property
    def has_prices(self) -> bool:
        """Whether any row has a price of its month."""
        return any(row.priced for row in self.rows)


def draw_ladder(ladder: CitedLadder) -> DrawnLadder:
    """The whole ranking: rows of every page share the scale."""
    bounds = [reached_bound(row.best) for row in ladder.rows]
    amounts = [result.amount_per_device for row in ladder.rows for result in row.results]
    everything = amounts + [bound.amount for bound in bounds if bound]
    symbol = readable_symbol(ladder.rows, ladder.case.si if ladder.case else "")
    is_log = spans_decades(everything)
    scale = bar_scale([from_si(amount, symbol) for amount in everything], "log" if is_log else "linear")
    return DrawnLadder(
        unit=unit_label(symbol),
        is_log=is_log,
        ticks=tuple((scale.position(tick), format_number(tick)) for tick in scale.ticks(TICKS_APART)),
        rows=tuple(_row(ladder, row, bound, (scale, symbol)) for row, bound in zip(ladder.rows, bounds, strict=True)),
    )


def _row(
    ladder: CitedLadder, row: RankedAccelerator, bound: ReachedBound | None, drawn_on: tuple[Scale, str]
) -> CitedRow:
    scale, symbol = drawn_on
    best = row.best
    shown = format_in(best.amount_per_device, symbol)
    others = other_params(ladder.benchmark, best.params)
    return CitedRow(
        rank=str(row.rank) if ladder.lead.row else "",
        name=row.name,
        slug=row.slug,
        hue=hue_of(row.accelerator.vendor.slug),
        dot=_dot(best, scale, symbol),
        others=tuple(_dot(result, scale, symbol) for result in spread_out(row.results[1:])),
        text=shown.text,
        exact=shown.exact,
        spread=spread_text(row.results, symbol),
        bound_at=scale.position(from_si(bound.amount, symbol)) if bound else None,
        share=bound.share_text if bound else "",
        formula=bound.formula if bound else "",
        made=joined(
            [*(parameter_text(name, value) for name, value in others.items()), software_text(best.software), best.date]
        ),
        devices=best.count,
        source=best.source.title,
        source_url=best.source.url,
        url=result_address(best),
        family=family_text(row),
        lone=lone_text(row),
        host=host_link(best),
        priced=()
        if row.family
        else tuple((item.text, f"{item.where}: {item.worked}") for item in cheapest(priced_result(best))),
    )


def place_text(row: CitedRow) -> str:
    """`1. H200`, or the name alone in a ranking without a first."""
    return f"{row.rank}. {row.name}" if row.rank else row.name


def family_text(row: RankedAccelerator) -> str:
    """Which sheets a row of a family may be of; "" for a row of one."""
    if not row.family:
        return ""
    return _("one of %(names)s") % {"names": ", ".join(item.drawn_name for item in row.family)}


def lone_text(row: RankedAccelerator) -> str:
    """`a single result`, or `stands alone: 1.4x its next result`; "" if another result supports the best."""
    if len(row.results) == 1:
        return _("a single result")
    lead = row.lone_lead
    return "" if lead is None else _("%(factor)s its next result") % {"factor": format_factor(lead)}


def spread_out(results: Sequence[CitedResult]) -> Sequence[CitedResult]:
    """At most MOST_DOTS of results in order: the ends, and every so many between them."""
    if len(results) <= MOST_DOTS:
        return results
    step = (len(results) - 1) / (MOST_DOTS - 1)
    return [results[round(number * step)] for number in range(MOST_DOTS)]


def spread_text(results: Sequence[CitedResult], symbol: str) -> str:
    """`12 results, 150 to 187`; "" for one."""
    if len(results) < 2:
        return ""
    least, most = sorted((results[0].amount_per_device, results[-1].amount_per_device))
    words = {"n": len(results), "least": format_in(least, symbol).text, "most": format_in(most, symbol).text}
    return _("%(n)d results, %(least)s to %(most)s") % words if least < most else _("%(n)d equal results") % words


def _dot(result: CitedResult, scale: Scale, symbol: str) -> CitedDot:
    amount = result.amount_per_device
    return CitedDot(scale.position(from_si(amount, symbol)), format_in(amount, symbol).label)


@dataclass(frozen=True, slots=True)
class VendorBest:
    """The best accelerator of a vendor. `factor`: against the best of all, "" for itself."""

    vendor: str
    css: str
    row: CitedRow
    factor: str


def best_of_vendors(ladder: CitedLadder, drawn: DrawnLadder, most: int = 4, chosen: str = "") -> tuple[VendorBest, ...]:
    """The best of each vendor, best first; at most so many, the chosen one among them. () in a ranking without a first.

    `chosen`: the slug of a vendor, "" for none.
    """
    if ladder.lead.row is None:
        return ()
    seen: dict[str, VendorBest] = {}
    for row, shown in zip(ladder.rows, drawn.rows, strict=True):
        vendor = row.accelerator.vendor
        if vendor.slug not in seen:
            ratio = row.best.amount_per_device / ladder.rows[0].best.amount_per_device
            factor = format_factor(ratio) if seen else ""
            seen[vendor.slug] = VendorBest(vendor.name, hue_of(vendor.slug).css, shown, factor)
    leaders = list(seen)[:most]
    if chosen in seen and chosen not in leaders:
        leaders[-1] = chosen
    return tuple(seen[slug] for slug in leaders)
