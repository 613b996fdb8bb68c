"""Timing one case: warm up, then blocks of runs, each between two readings of the clock that wait for the device.

The rules are DESIGN section 6. A sample is a block's time divided by its runs, in seconds.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["FULL", "PACES", "QUICK", "STANDARD", "Pace", "TimedBlock", "runs_per_block", "time_blocks", "warm_up"]

_MOST_RUNS_PER_BLOCK = 100_000
_FEWEST_WARM_UP_RUNS = 2
_FEWEST_SAMPLES = 3  # of a visit whose blocks are slow: a median needs them


@dataclass(frozen=True, kw_only=True)
class Pace:
    """How long and how often. Rounds visit all cases in turn, so that heat and clocks favour none.

    `block_s`: at least this long between two readings: the readings and the wait for the device, some 20 microseconds,
    stay below 1/1000 of it. `longest_run_s`: a single run expected to take longer is skipped. `longest_timed_s`: after
    this long a visit has enough with the fewest samples. `budget_s`: of all that is measured, trials included.
    """

    rounds: int
    blocks_per_round: int
    block_s: float
    warm_up_s: float
    longest_run_s: float
    budget_s: float
    longest_timed_s: float = 5.0

    def visit_s(self, run_s: float) -> float:
        """About how long a visit takes, without its inputs, if a run takes so long."""
        block_s = max(self.block_s, run_s)
        timed_s = self.blocks_per_round * block_s
        if timed_s > self.longest_timed_s:
            timed_s = max(self.longest_timed_s, _FEWEST_SAMPLES * block_s)
        return max(self.warm_up_s, _FEWEST_WARM_UP_RUNS * run_s) + timed_s


QUICK = Pace(
    rounds=3,
    blocks_per_round=4,
    block_s=0.02,
    warm_up_s=0.05,
    longest_run_s=4.0,
    budget_s=40.0,
    longest_timed_s=1.0,
)
STANDARD = Pace(rounds=3, blocks_per_round=8, block_s=0.05, warm_up_s=0.2, longest_run_s=5.0, budget_s=570.0)
FULL = Pace(rounds=5, blocks_per_round=10, block_s=0.1, warm_up_s=0.5, longest_run_s=10.0, budget_s=1170.0)

PACES = {"quick": QUICK, "standard": STANDARD, "full": FULL}
"""Suite -> its pace. A quick one has cases of its own, a full one those too that a standard one leaves out.

One, ten and twenty minutes are promised; what the budgets leave of them is for the probes and for importing torch."""

Run = Callable[[], object]


@dataclass(frozen=True, slots=True)
class TimedBlock:
    """Of one run in a block: seconds, those of them until all runs were handed over, and energy; None: no counter."""

    seconds: float
    enqueue_s: float
    energy_j: float | None = None


def warm_up(
    run: Run, synchronize: Run, seconds: float, clock: Callable[[], float] = time.perf_counter
) -> tuple[int, float]:
    """Run until caches, clocks and just-in-time compilers have settled. -> (runs, seconds of the quickest run)."""
    runs, quickest = 0, math.inf
    until = clock() + seconds
    while runs < _FEWEST_WARM_UP_RUNS or clock() < until:
        quickest = min(quickest, time_blocks(run, synchronize, 1, 1, clock)[0].seconds)
        runs += 1
    return runs, quickest


def runs_per_block(seconds_per_run: float, block_s: float) -> int:
    """As many runs as fill a block, at least one."""
    return max(1, min(_MOST_RUNS_PER_BLOCK, math.ceil(block_s / max(seconds_per_run, 1e-9))))


def time_blocks(
    run: Run,
    synchronize: Run,
    blocks: int,
    runs: int,
    clock: Callable[[], float] = time.perf_counter,
    until: float | None = None,
    slow_after_s: float | None = None,
    energy_j: Callable[[], float | None] = lambda: None,
) -> list[TimedBlock]:
    """The blocks, one sample each. The device is idle at the first and the last reading of the clock.

    `energy_j`: a counter, read outside of the timed span. No block begins after `until`, of the clock; but one is timed
    in any case. None after `slow_after_s` either, but then _FEWEST_SAMPLES are.
    """
    timed: list[TimedBlock] = []
    slow_after = None if slow_after_s is None else clock() + slow_after_s
    for _ in range(blocks):
        if timed and until is not None and clock() >= until:
            break
        if len(timed) >= _FEWEST_SAMPLES and slow_after is not None and clock() >= slow_after:
            break
        synchronize()
        counted = energy_j()
        started = clock()
        for _ in range(runs):
            run()
        handed_over = clock()
        synchronize()
        ended = clock()
        after = energy_j()
        energy = None if counted is None or after is None else max(0.0, after - counted) / runs
        timed.append(TimedBlock((ended - started) / runs, (handed_over - started) / runs, energy))
    return timed
