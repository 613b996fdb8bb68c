"""What machines of public labs measured in one benchmark: its settings, and each accelerator's robust best in them."""

import json
import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from django.db.models import Q

from stackviz.records.catalog.models import Accelerator
from stackviz.records.catalog.queries import public_catalogue
from stackviz.records.cited.parameters import comparison_key
from stackviz.records.cited.ranking import is_field
from stackviz.records.cited.registry import CITED_BENCHMARKS
from stackviz.records.series.comparability import BestRun, robust_best
from stackviz.records.series.measurement import Measurement, setting_label
from stackviz.records.series.public_runs import cached_for_edition, public_runs
from stackviz.report.measuring import BENCHMARKS

# Measured benchmark -> the cited one of the same work, which of its parameters each of ours is, and those that may be
# left out. A result is ranked with cited ones only where all its compared parameters have a counterpart and none of the
# cited ones is left open.
_CITED_PARAMETERS: Mapping[str, tuple[str, Mapping[str, str], frozenset[str]]] = {
    "gemm": ("gemm", {"dtype": "dtype", "m": "m", "n": "n", "k": "k"}, frozenset()),
    "llama-bench": (
        "llama-bench",
        {"test": "test", "model": "model", "quant": "quant", "depth": "depth"},
        frozenset({"depth"}),
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredAccelerator:
    """One accelerator in one setting. `machines`: the best of each machine, lowest first, in the benchmark's unit."""

    rank: int
    accelerator: Accelerator
    best: BestRun
    machines: tuple[float, ...]

    @property
    def spread(self) -> tuple[float, float, float]:
        """Lowest, median and highest over the machines."""
        return self.machines[0], statistics.median(self.machines), self.machines[-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredSetting:
    """Results that may be compared. `key`: that of the cited case of the same parameters, where there is one.

    `words`: the parameters in short; `machine_ids`: those that measured it.
    """

    key: str
    words: str
    unit: str
    rows: tuple[MeasuredAccelerator, ...]
    machine_ids: frozenset[int]
    example: Measurement

    @property
    def machines(self) -> int:
        return len(self.machine_ids)

    @property
    def vendors(self) -> int:
        return len({row.accelerator.vendor_id for row in self.rows})

    @property
    def has_first(self) -> bool:
        """Whether enough have a result for the best to be the first."""
        return is_field(len(self.rows), self.vendors)

    @property
    def sort_key(self) -> tuple[object, ...]:
        """Puts the setting that most can be compared in first, of equals the larger work."""
        benchmark, params = self.example.benchmark, self.example.params
        work = (benchmark.work(params) or 0.0) if benchmark else 0.0
        return -len(self.rows), -self.machines, -work, self.key


def measured_settings(key: str) -> Sequence[MeasuredSetting]:
    """The settings of a benchmark that machines of public labs measured, the best to compare in first.

    Two queries where nothing has changed since the last call in this process, else six more. () for a benchmark that
    is only cited.
    """
    if key not in BENCHMARKS:
        return ()
    return cached_for_edition(_settings, key)


def setting_shown(settings: Sequence[MeasuredSetting], wanted: str, alike: str) -> MeasuredSetting | None:
    """The setting `wanted`, else `alike`, else the one that most can be compared in; None of none."""
    by_key = {setting.key: setting for setting in settings}
    return by_key.get(wanted) or by_key.get(alike) or (settings[0] if settings else None)


def _settings(key: str) -> Sequence[MeasuredSetting]:
    sheets = public_catalogue().by_pk
    by_setting: dict[str, list[Measurement]] = defaultdict(list)
    for result in public_runs(Q(benchmark=key, version=BENCHMARKS[key].version)):
        if result.accelerator_id in sheets:
            by_setting[measured_setting_key(result)].append(result)
    settings = [_setting(runs, sheets) for runs in by_setting.values()]
    return sorted(filter(None, settings), key=lambda setting: setting.sort_key)


def _setting(runs: Sequence[Measurement], sheets: Mapping[int, Accelerator]) -> MeasuredSetting | None:
    """`runs`: all of one setting, with a rate, on public accelerators. Parameters that are not compared may differ, and
    runs that differ in them confirm each other.
    """
    by_sheet: dict[int, list[Measurement]] = defaultdict(list)
    for run in runs:
        if run.accelerator_id is not None:
            by_sheet[run.accelerator_id].append(run)
    ranked = sorted(
        ((best, pk) for pk, group in by_sheet.items() if (best := robust_best(group)) is not None),
        key=lambda item: (-item[0].rate.speed, item[1]),
    )
    rows = tuple(
        MeasuredAccelerator(rank=rank, accelerator=sheets[pk], best=best, machines=_of_machines(by_sheet[pk]))
        for rank, (best, pk) in enumerate(ranked, 1)
    )
    if not rows:
        return None
    example = rows[0].best.result
    return MeasuredSetting(
        key=measured_setting_key(example),
        words=setting_label(_compared(example)),
        unit=rows[0].best.rate.unit,
        rows=rows,
        machine_ids=frozenset(run.machine_id for run in runs),
        example=example,
    )


def _of_machines(runs: Sequence[Measurement]) -> tuple[float, ...]:
    """The robust best of each machine, lowest first."""
    by_machine: dict[int, list[Measurement]] = defaultdict(list)
    for run in runs:
        by_machine[run.machine_id].append(run)
    bests = (robust_best(group) for group in by_machine.values())
    return tuple(sorted(best.rate.value for best in bests if best is not None))


def measured_setting_key(result: Measurement) -> str:
    """Identifies the setting in addresses: the key of the cited case with the same parameters, else one of its own."""
    compared = _compared(result)
    cited, names, optional = _CITED_PARAMETERS.get(result.benchmark_key, ("", {}, frozenset()))
    if cited and result.rate is not None and set(names) - optional <= set(compared) <= set(names):
        params = {names[name]: value for name, value in compared.items()}
        return comparison_key(CITED_BENCHMARKS[cited], params, result.rate.unit)
    if len(compared) == len(result.params):
        return result.params_key[:32]
    return blake2b(json.dumps(compared, sort_keys=True).encode(), digest_size=16).hexdigest()


def other_words(result: Measurement) -> str:
    """The parameters that need not be equal, in short: `CUDA flash_attention=on`."""
    compared = _compared(result)
    return setting_label({name: value for name, value in result.params.items() if name not in compared})


def _compared(result: Measurement) -> dict[str, Any]:
    """The parameters that must be equal for results to be ranked together."""
    return result.benchmark.compared(result.params) if result.benchmark else dict(result.params)
