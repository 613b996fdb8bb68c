"""Accelerators ranked by their best cited result of one case. Like for like: see `cited.ranking`."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from stackviz.pages.benchmarks.selection import ANY_NUMBER, CitedChoice
from stackviz.records.cited.benchmark import CitedBenchmark
from stackviz.records.cited.cases import CitedCase
from stackviz.records.cited.queries import cited_of_benchmark
from stackviz.records.cited.ranking import RankedAccelerator, number_of_devices, ranked_accelerators
from stackviz.web.address import Note


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedLadder:
    """One case of a benchmark. `devices`: how many worked together, None for any number; `counts`: number -> results.

    `cases`: others that the choice leaves open, the best to compare in first.
    """

    benchmark: CitedBenchmark
    case: CitedCase | None
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
    """The ranking an address asks for. One query beside those of `benchmark_cases`."""
    ranking = cited_of_benchmark(benchmark.key, choice.chosen, choice.case)
    if ranking.case is None:
        return CitedLadder(benchmark=benchmark, case=None)
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
    return CitedLadder(
        benchmark=benchmark,
        case=ranking.case,
        rows=ranked_accelerators(benchmark, results),
        devices=devices,
        counts=tuple(sorted(counts.items())),
        cases=[case for case in ranking.cases if case.params_key != ranking.case.params_key],
        notes=notes,
    )
