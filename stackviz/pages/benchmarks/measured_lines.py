"""The benchmarks that machines of public labs measured, for the list: counts, and who is first."""

from dataclasses import dataclass

from stackviz.base.units import format_number
from stackviz.draw.charts.vendors import css, vendor_slot
from stackviz.records.cited.words import benchmark_address
from stackviz.records.series.measured_settings import measured_settings
from stackviz.records.series.measurement import benchmark_titles
from stackviz.report.measuring import BENCHMARKS


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredBenchmarkLine:
    """One measured benchmark; counts formatted. `name` to `remark`: the first in the setting most are compared in."""

    title: str
    formula: str
    url: str
    settings: str
    accelerators: str
    machines: str
    name: str
    slug: str
    css: str
    value: str
    setting: str
    remark: str


def measured_lines() -> tuple[MeasuredBenchmarkLine, ...]:
    """In the order in which the agent runs them, without those that nobody measured."""
    lines, titles = [], benchmark_titles()
    for key, known in BENCHMARKS.items():
        settings = measured_settings(key)
        if not settings:
            continue
        first = settings[0].rows[0]
        lines.append(
            MeasuredBenchmarkLine(
                title=titles[key, known.version],
                formula=known.formula,
                url=f"{benchmark_address(key)}#measured",
                settings=format_number(len(settings)),
                accelerators=format_number(len({row.accelerator.pk for item in settings for row in item.rows})),
                machines=format_number(len(frozenset().union(*(item.machine_ids for item in settings)))),
                name=first.accelerator.name,
                slug=first.accelerator.slug,
                css=css(vendor_slot(first.accelerator.vendor.slug)),
                value=first.best.rate.label,
                setting=settings[0].words,
                remark=first.best.remark,
            )
        )
    return tuple(lines)
