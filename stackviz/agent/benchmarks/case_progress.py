"""One case while it is measured: what is known of it between its visits."""

from dataclasses import dataclass, field, replace

from stackviz.agent.benchmarks.cases import Case
from stackviz.agent.benchmarks.devices import AnyDevice
from stackviz.agent.benchmarks.instruments import Instruments
from stackviz.agent.benchmarks.timing import Pace
from stackviz.report.measuring import Benchmark

__all__ = ["CaseLeft", "CaseProgress", "Skip"]


class Skip(Exception):
    """This case is not run here; the text is the reason."""


@dataclass(kw_only=True)
class CaseLeft:
    """A case to measure, with what other processes did of it: visits, the longest of them, and the runs that they put
    into a block."""

    case: Case
    visits: int = 0
    runs: int = 0
    longest_visit_s: float | None = None
    is_over: bool = False


@dataclass(kw_only=True)
class CaseProgress:
    """`disturbed`: rounds of this process in which something else was at work."""

    case: Case
    benchmark: Benchmark
    device: AnyDevice
    instruments: Instruments
    visits: int
    run_s: float | None = None  # of one run, as a smaller one has it
    runs: int
    is_over: bool
    longest_visit_s: float | None = None
    inputs_s: float = 0.0  # about how long making them takes
    warm_up_runs: int = 0
    disturbed: list[int] = field(default_factory=list)

    def pace(self, pace: Pace) -> Pace:
        """That of the suite, but of a case that lasts: one visit, a second a block."""
        lasts_s = self.benchmark.lasts_s(self.case.params)
        if not lasts_s:
            return pace
        return replace(
            pace, rounds=1, blocks_per_round=round(lasts_s), block_s=1.0, warm_up_s=0.0, longest_timed_s=lasts_s
        )

    def visit_s(self, pace: Pace) -> float:
        """About how long another visit takes: what the longest took, or what the trial promises."""
        if self.longest_visit_s is not None:
            return self.longest_visit_s
        return self.inputs_s + self.pace(pace).visit_s(self.run_s or 0.0)

    @property
    def working_set_bytes(self) -> int:
        return self.benchmark.working_set_bytes(self.case.params)
