"""What machines measured on one kind of card, in short: the best newest figure of each benchmark and number format."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.urls import reverse

from stackviz.benchmarks.measurement import Measurement
from stackviz.benchmarks.models import Series
from stackviz.benchmarks.queries import newest_results
from stackviz.labs.models import Machine
from stackviz.measuring import BENCHMARKS

MOST_SERIES = 600  # of all machines on a page; anyone may send new parameters
FORMATS = ("fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "int8")  # in the order of a sheet's rates


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

    Who asks must have made sure that these machines may be seen.
    """
    by_pk = {machine.pk: machine for machine in machines}
    series = Series.objects.filter(machine__in=by_pk, benchmark__in=tuple(BENCHMARKS), card_index__isnull=False)
    results = newest_results(series.order_by("-pk").values_list("pk", flat=True)[:MOST_SERIES])
    return {pk: _told(best.values(), by_pk[pk]) for pk, best in _best(accelerator_id, results).items()}


def _best(accelerator_id: int, results: Iterable[Measurement]) -> Mapping[int, dict[tuple[str, str], Measurement]]:
    """Machine pk -> by benchmark and number format the result with the highest rate."""
    best: dict[int, dict[tuple[str, str], Measurement]] = defaultdict(dict)
    for result in results:
        if result.card is None or result.card.accelerator_id != accelerator_id or result.rate is None:
            continue
        of_machine, kind = best[result.machine_id], (result.benchmark_key, str(result.params.get("dtype", "")))
        known = of_machine.get(kind)
        if known is None or known.rate is None or result.rate.value > known.rate.value:
            of_machine[kind] = result
    return best


def _told(results: Iterable[Measurement], machine: Machine) -> tuple[MeasuredOn, ...]:
    return tuple(_figure(result, machine) for result in sorted(results, key=_order))


def _order(result: Measurement) -> tuple[int, int, str]:
    dtype = str(result.params.get("dtype", ""))
    place = list(BENCHMARKS).index(result.benchmark_key)
    return place, FORMATS.index(dtype) if dtype in FORMATS else len(FORMATS), dtype


def _figure(result: Measurement, machine: Machine) -> MeasuredOn:
    names_it = BENCHMARKS[result.benchmark_key].setting_names_it
    setting = result.setting if names_it else f"{result.title} {result.setting}"
    return MeasuredOn(
        setting=setting,
        rate=result.rate.label if result.rate else "",
        share=result.peak.label if result.peak else "",
        is_above_peak=bool(result.peak and result.peak.is_above_peak),
        remarks=result.remarks,
        url=reverse("machines:series", args=[machine.lab.slug, machine.slug, result.series_id]),
    )
