"""What machines measured on one kind of card, in short: the robust best of each benchmark and number format."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from django.urls import reverse

from stackviz.records.labs.models import Machine
from stackviz.records.series.comparability import BestRun, best_by, is_of_whole_card
from stackviz.records.series.measurement import Measurement
from stackviz.records.series.models import Series
from stackviz.records.series.queries import comparable_runs, ranked_series
from stackviz.report.measuring import BENCHMARKS

MOST_SERIES = 600  # of all machines on a page, of each the same number at most
FORMATS = ("fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "mxfp8", "nvfp4", "int8")  # in the order of a sheet's rates


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredOn:
    """One figure with its page: `bf16 8192³` `712 TFLOP/s`; `share` of the published peak, "" where none is."""

    setting: str
    rate: str
    share: str
    is_above_peak: bool
    remarks: tuple[str, ...]
    url: str


def measured_on(accelerator_id: int, machines: Sequence[Machine]) -> dict[int, tuple[MeasuredOn, ...]]:
    """Machine pk -> what it measured on cards of this accelerator. Six queries; `lab` must be loaded.

    The caller must have checked that these machines may be seen.
    """
    by_pk = {machine.pk: machine for machine in machines}
    series = Series.objects.filter(machine__in=by_pk, benchmark__in=tuple(BENCHMARKS), card_index__isnull=False)
    results = comparable_runs(ranked_series(series, MOST_SERIES, MOST_SERIES // max(len(by_pk), 1)))
    whole_card = [result for result in results if is_of_whole_card(result) and result.accelerator_id == accelerator_id]
    by_machine: dict[int, list[MeasuredOn]] = defaultdict(list)
    for best in sorted(best_by(_machine_and_kind, whole_card).values(), key=lambda best: _order(best.result)):
        by_machine[best.result.machine_id].append(_figure(best, by_pk[best.result.machine_id]))
    return {pk: tuple(figures) for pk, figures in by_machine.items()}


def _machine_and_kind(result: Measurement) -> tuple[int, str, str]:
    return result.machine_id, result.benchmark_key, str(result.params.get("dtype") or result.params.get("test") or "")


def _order(result: Measurement) -> tuple[int, int, str]:
    dtype = str(result.params.get("dtype", ""))
    benchmark = list(BENCHMARKS).index(result.benchmark_key)
    return benchmark, FORMATS.index(dtype) if dtype in FORMATS else len(FORMATS), dtype


def _figure(best: BestRun, machine: Machine) -> MeasuredOn:
    result = best.result
    names_it = BENCHMARKS[result.benchmark_key].setting_names_it
    setting = result.setting if names_it else f"{result.title} {result.setting}"
    return MeasuredOn(
        setting=setting,
        rate=best.rate.label,
        share=result.peak.label if result.peak else "",
        is_above_peak=bool(result.peak and result.peak.is_above_peak),
        remarks=(*result.remarks, *filter(None, [best.remark])),
        url=reverse("machines:series", args=[machine.lab.slug, machine.slug, result.series_id]),
    )
