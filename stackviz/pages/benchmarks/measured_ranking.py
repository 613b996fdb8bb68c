"""The measured part of a benchmark's page: one setting, accelerators ranked by their robust best, on one scale."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from stackviz.base.units import format_in, format_number, from_si
from stackviz.draw.charts.scale import Scale, bar_scale, spans_decades
from stackviz.draw.charts.vendors import css, vendor_slot
from stackviz.pages.benchmarks.ranking import TICKS_APART, CitedDot, CitedTick, spread_out
from stackviz.records.cited.cases import public_results
from stackviz.records.cited.models import CitedResult
from stackviz.records.labs.models import Machine
from stackviz.records.series.chart import chart_unit
from stackviz.records.series.measured_settings import (
    MeasuredAccelerator,
    MeasuredSetting,
    measured_settings,
    other_words,
    setting_shown,
)
from stackviz.records.series.measurement import Measurement
from stackviz.records.series.public_runs import machines_of_runs
from stackviz.records.series.reproduce import reproduce_command
from stackviz.report.measuring import BENCHMARKS
from stackviz.web.templatetags.web import joined

MOST_SETTINGS = 12
MOST_ROWS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredLine:
    """One accelerator. Positions in per cent of the scale as text, "" for what there is not.

    `low_at` .. `high_at`: the interval of the median; `least_at` .. `most_at`: the machines; `rings`: cited results of
    the same setting.
    """

    rank: int
    name: str
    slug: str
    css: str
    at: str
    low_at: str
    high_at: str
    least_at: str
    most_at: str
    rings: tuple[CitedDot, ...]
    bound_at: str
    text: str
    exact: str
    url: str
    share: str
    bound: str
    spread: str
    remarks: tuple[str, ...]
    made: str
    machine: str
    machine_url: str
    day: str


@dataclass(frozen=True, slots=True)
class SettingLink:
    """`query`: the address without its path."""

    words: str
    query: str
    accelerators: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredSection:
    """`key`: of the setting; `command`: repeats the first result, "" where the agent cannot."""

    key: str
    words: str
    counts: str
    unit: str
    is_log: bool
    ticks: tuple[CitedTick, ...]
    lines: tuple[MeasuredLine, ...]
    others: tuple[SettingLink, ...]
    formula: str
    formula_source: str
    command: str
    is_run_by_agent: bool
    higher_is_better: bool

    @property
    def legend(self) -> str:
        """How to read the drawing; only of what is in it."""
        sentences = [
            _("The dot is the best rate that another run confirms, with the 95 % interval of its median."),
            _("The pale band reaches from the slowest machine to the fastest.")
            if any(line.least_at for line in self.lines)
            else "",
            _("Rings are cited results with the same parameters.") if any(line.rings for line in self.lines) else "",
            _("The tick is the most that published values allow.") if any(line.bound_at for line in self.lines) else "",
            "" if self.higher_is_better else _("Lower is better."),
        ]
        return " ".join(filter(None, sentences))


@dataclass(frozen=True, slots=True)
class _Axis:
    """What all lines are drawn on: the scale counts in the unit `symbol`, amounts are in its base unit."""

    scale: Scale
    symbol: str

    def at(self, amount: float | None) -> str:
        """Per cent of the scale as text, "" for no amount."""
        return "" if amount is None else _at(self.scale, from_si(amount, self.symbol))

    def label(self, amount: float) -> str:
        return format_in(amount, self.symbol).label


def measured_section(key: str, wanted: str, alike: str = "") -> MeasuredSection | None:
    """What public machines measured in a benchmark, in the setting `wanted`; None where there is nothing.

    Without a choice it is the setting `alike`, the one of the cited ranking beside it, or else the one that most can be
    compared in. Two queries beside those of `measured_settings`.
    """
    settings = measured_settings(key)
    shown = setting_shown(settings, wanted, alike)
    if shown is None:
        return None
    cited = _cited_beside(shown)
    machines = machines_of_runs(row.best.result for row in shown.rows)
    rows = shown.rows[:MOST_ROWS]
    symbol = chart_unit(shown.unit, median(row.best.rate.value for row in rows))
    everything = [amount for row in rows for amount in _amounts(row, cited.get(row.accelerator.pk, ()))]
    is_log = spans_decades(everything)
    scale = bar_scale([from_si(amount, symbol) for amount in everything], "log" if is_log else "linear")
    known = BENCHMARKS[key]
    return MeasuredSection(
        key=shown.key,
        words=shown.words,
        counts=_counts(shown),
        unit=format_in(1.0, symbol).unit,
        is_log=is_log,
        ticks=tuple(CitedTick(_at(scale, tick), format_number(tick)) for tick in scale.ticks(TICKS_APART)),
        lines=tuple(
            _line(row, machines, cited.get(row.accelerator.pk, ()), _Axis(scale, symbol))
            for row in rows
            if row.best.result.machine_id in machines
        ),
        others=tuple(
            SettingLink(setting.words, f"measured={setting.key}", len(setting.rows))
            for setting in settings[:MOST_SETTINGS]
            if setting is not shown
        ),
        formula=known.formula,
        formula_source=known.source,
        command=reproduce_command(shown.example),
        is_run_by_agent=known.is_run_by_agent,
        higher_is_better=known.higher_is_better,
    )


def _cited_beside(setting: MeasuredSetting) -> Mapping[int, Sequence[CitedResult]]:
    """Accelerator -> public cited results of the same setting, best first. One query."""
    rows = public_results().filter(params_key=setting.key, accelerator__in=[row.accelerator.pk for row in setting.rows])
    cited: dict[int, list[CitedResult]] = defaultdict(list)
    for result in rows.order_by("-amount"):
        if result.accelerator_id is not None:
            cited[result.accelerator_id].append(result)
    return cited


def _counts(setting: MeasuredSetting) -> str:
    accelerators = len(setting.rows)
    return joined(
        [
            ngettext("%(n)d accelerator", "%(n)d accelerators", accelerators) % {"n": accelerators},
            ngettext("%(n)d machine of a public lab", "%(n)d machines of public labs", setting.machines)
            % {"n": setting.machines},
        ]
    )


def _amounts(row: MeasuredAccelerator, cited: Sequence[CitedResult]) -> list[float]:
    """Everything that is drawn in a row, in the base unit."""
    rate, peak = row.best.rate, row.best.result.peak
    ends = [end for end in (rate.low, rate.high, peak.peak if peak else None) if end is not None]
    return [rate.value, *ends, *row.machines, *(result.amount_per_device for result in cited)]


def _line(
    row: MeasuredAccelerator,
    machines: Mapping[int, Machine],
    cited: Sequence[CitedResult],
    axis: _Axis,
) -> MeasuredLine:
    best, rate = row.best.result, row.best.rate
    machine, peak, spread = machines[best.machine_id], best.peak, row.machines
    shown = format_in(rate.value, axis.symbol)
    return MeasuredLine(
        rank=row.rank,
        name=row.accelerator.name,
        slug=row.accelerator.slug,
        css=css(vendor_slot(row.accelerator.vendor.slug)),
        at=axis.at(rate.value),
        low_at=axis.at(rate.low),
        high_at=axis.at(rate.high),
        least_at=axis.at(spread[0]) if len(spread) > 1 else "",
        most_at=axis.at(spread[-1]) if len(spread) > 1 else "",
        rings=tuple(
            CitedDot(axis.at(result.amount_per_device), axis.label(result.amount_per_device))
            for result in spread_out(cited)
        ),
        bound_at=axis.at(peak.peak) if peak else "",
        text=shown.text,
        exact=joined([shown.exact, rate.spread_label]),
        url=run_address(best.report_id, best.position),
        share=peak.label if peak else "",
        bound=axis.label(peak.peak) if peak else "",
        spread=_spread_text(row, axis.symbol),
        remarks=(*filter(None, [row.best.remark]), *best.remarks),
        made=_made(best),
        machine=machine.name,
        machine_url=machine.get_absolute_url(),
        day=f"{best.measured_at:%Y-%m-%d}",
    )


def _made(run: Measurement) -> str:
    """`torch 2.8.0 · cuda:0`, `llama.cpp b5163 (8cf427ff) · CUDA flash_attention=on`."""
    is_torch = run.benchmark is not None and run.benchmark.is_run_by_agent
    return joined([" ".join(run.software or ()), run.device if is_torch else "", other_words(run)])


def _spread_text(row: MeasuredAccelerator, symbol: str) -> str:
    """`3 machines: 690 – 742 – 760`, lowest, median and highest; "" for one machine."""
    if len(row.machines) < 2:
        return ""
    least, middle, most = (format_in(amount, symbol).text for amount in row.spread)
    words = {"n": len(row.machines), "least": least, "middle": middle, "most": most}
    return _("%(n)d machines: %(least)s – %(middle)s – %(most)s") % words


def _at(scale: Scale, value: float) -> str:
    return f"{scale.percent(value):.1f}"


def run_address(report_id: object, position: int) -> str:
    """Stable: a report keeps its id and its order, however often it is read again."""
    return reverse("benchmarks:run", args=[report_id, position])
