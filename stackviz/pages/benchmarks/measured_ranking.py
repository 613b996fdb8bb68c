"""The measured part of a benchmark's page: one setting, accelerators ranked by their robust best, on one scale."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from stackviz.base.units import Shown, format_in, format_number, from_si, readable_unit, unit_label
from stackviz.draw.charts.scale import Scale, ScaleKind, bar_scale, spans_decades
from stackviz.draw.colours import hue_of
from stackviz.pages.benchmarks.ranking import TICKS_APART, spread_out
from stackviz.records.cited.cases import public_results
from stackviz.records.cited.models import CitedResult
from stackviz.records.labs.models import Machine
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
from stackviz.report.measuring import BENCHMARKS, Benchmark
from stackviz.web.i18n.words import joined

MOST_SETTINGS = 12
MOST_ROWS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredRanking:
    """One setting on a scale that counts in the unit `symbol`.

    `others`: further settings of the benchmark; `machines`: by primary key; `cited`: results of the same setting, best
    first, by accelerator.
    """

    benchmark: Benchmark
    setting: MeasuredSetting
    others: Sequence[MeasuredSetting]
    rows: Sequence[MeasuredAccelerator]
    machines: Mapping[int, Machine]
    cited: Mapping[int, Sequence[CitedResult]]
    scale: Scale
    symbol: str

    @property
    def unit(self) -> str:
        return unit_label(self.symbol)

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """(position, label) of each."""
        return [(self.scale.position(tick), format_number(tick)) for tick in self.scale.ticks(TICKS_APART)]

    @property
    def counts(self) -> str:
        accelerators, machines = len(self.setting.rows), self.setting.machines
        return joined(
            [
                ngettext("%(n)d accelerator", "%(n)d accelerators", accelerators) % {"n": accelerators},
                ngettext("%(n)d machine of a public lab", "%(n)d machines of public labs", machines) % {"n": machines},
            ]
        )

    @property
    def legend(self) -> str:
        """How to read the drawing, without what it does not contain."""
        sentences = [_("The dot is the best rate that another run confirms, with the 95 % interval of its median.")]
        if any(len(row.machines) > 1 for row in self.rows):
            sentences.append(_("The pale band reaches from the slowest machine to the fastest."))
        if any(self.rings(row) for row in self.rows):
            sentences.append(_("Rings are cited results with the same parameters."))
        if any(row.best.result.peak for row in self.rows):
            sentences.append(_("The tick is the most that published values allow."))
        if not self.benchmark.higher_is_better:
            sentences.append(_("Lower is better."))
        return " ".join(sentences)

    @property
    def command(self) -> str:
        """Repeats the first result; "" where the agent cannot."""
        return reproduce_command(self.setting.example)

    def position(self, amount: float) -> float:
        return self.scale.position(from_si(amount, self.symbol))

    def shown(self, amount: float) -> Shown:
        return format_in(amount, self.symbol)

    def rings(self, row: MeasuredAccelerator) -> Sequence[CitedResult]:
        return spread_out(self.cited.get(row.accelerator.pk, ()))

    def css(self, row: MeasuredAccelerator) -> str:
        return hue_of(row.accelerator.vendor.slug).css

    def spread_text(self, row: MeasuredAccelerator) -> str:
        """`3 machines: 690 – 742 – 760`, lowest, median and highest; "" for one machine."""
        if len(row.machines) < 2:
            return ""
        least, middle, most = (self.shown(amount).text for amount in row.spread)
        words = {"n": len(row.machines), "least": least, "middle": middle, "most": most}
        return _("%(n)d machines: %(least)s – %(middle)s – %(most)s") % words

    def measured_with(self, run: Measurement) -> str:
        """`torch 2.8.0 · cuda:0`, `llama.cpp b5163 (8cf427ff) · CUDA flash_attention=on`."""
        device = run.device if self.benchmark.is_run_by_agent else ""
        return joined([" ".join(run.software or ()), device, other_words(run)])


def measured_ranking(key: str, wanted: str, alike: str = "") -> MeasuredRanking | None:
    """What public machines measured in a benchmark, in the setting `wanted`; None if they measured nothing.

    Without a choice it is the setting `alike`, that of the cited ranking on the same page, or else the one that most
    can be compared in. Two queries besides those of `measured_settings`.
    """
    settings = measured_settings(key)
    setting = setting_shown(settings, wanted, alike)
    if setting is None:
        return None
    cited = _cited_by_accelerator(setting)
    machines = machines_of_runs(row.best.result for row in setting.rows)
    rows = setting.rows[:MOST_ROWS]
    symbol = readable_unit(median(row.best.rate.value for row in rows), setting.unit)
    amounts = [amount for row in rows for amount in _drawn_amounts(row, cited.get(row.accelerator.pk, ()))]
    kind: ScaleKind = "log" if spans_decades(amounts) else "linear"
    return MeasuredRanking(
        benchmark=BENCHMARKS[key],
        setting=setting,
        others=[other for other in settings[:MOST_SETTINGS] if other is not setting],
        rows=[row for row in rows if row.best.result.machine_id in machines],
        machines=machines,
        cited=cited,
        scale=bar_scale([from_si(amount, symbol) for amount in amounts], kind),
        symbol=symbol,
    )


def _cited_by_accelerator(setting: MeasuredSetting) -> Mapping[int, Sequence[CitedResult]]:
    """Return the public cited results of the same setting, best first. One query."""
    rows = public_results().filter(params_key=setting.key, accelerator__in=[row.accelerator.pk for row in setting.rows])
    cited: dict[int, list[CitedResult]] = defaultdict(list)
    for result in rows.order_by("-amount"):
        if result.accelerator_id is not None:
            cited[result.accelerator_id].append(result)
    return cited


def _drawn_amounts(row: MeasuredAccelerator, cited: Sequence[CitedResult]) -> list[float]:
    """Everything that is drawn in a row, in the base unit."""
    rate, peak = row.best.rate, row.best.result.peak
    ends = [end for end in (rate.low, rate.high, peak.peak if peak else None) if end is not None]
    return [rate.value, *ends, *row.machines, *(result.amount_per_device for result in cited)]


def run_address(report_id: object, position: int) -> str:
    """Stable: a report keeps its id and its order, however often it is read again."""
    return reverse("benchmarks:run", args=[report_id, position])
