"""The agent's timing beside torch.utils.benchmark, with a Python that has torch:

python -m tests.agent.beside_torch [--times N] [--blocks N] [--threads N]

The same product in fp32 and the same copy, a block of each in turns. Prints for each time the median of the agent's
blocks, that of torch's, and the median ratio of two blocks in a row; at last the median of the ratios. In one thread
the clock is the time that the processor spent, so it holds on a machine that does other things; in several it is the
clock on the wall.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

from stackviz.agent.benchmarks.cases import params_text
from stackviz.agent.benchmarks.timing import runs_per_block, time_blocks, warm_up
from stackviz.report.measuring import RUNNABLE

KEYS = ("gemm", "memory-copy")
BLOCK_S = 0.1


def main() -> None:
    import torch
    import torch.utils.benchmark

    parser = argparse.ArgumentParser()
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--blocks", type=int, default=9)
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    clock = time.process_time if given.threads == 1 else time.perf_counter
    for key in KEYS:
        known = RUNNABLE[key]
        with torch.inference_mode():
            run = known.prepare(torch, "cpu", known.light).run
            ratios = [_ratio(torch, run, clock, given) for _ in range(given.times)]
        print(f"| `{key}` {params_text(known.light)} | {statistics.median(ratios):.3f} |", flush=True)


def _ratio(torch: Any, run: Callable[[], object], clock: Callable[[], float], given: argparse.Namespace) -> float:
    """Seconds of a run by the agent's loop, of those by torch's: the median of the ratios of neighbouring blocks.

    A machine that others share drifts by several percent in seconds; two blocks in a row have nearly the same share.
    """
    timer = torch.utils.benchmark.Timer("run()", globals={"run": run}, timer=clock, num_threads=given.threads)
    runs = runs_per_block(warm_up(run, _wait, BLOCK_S, clock)[1], BLOCK_S)
    agent_s, torch_s = [], []
    for number in range(given.blocks):
        if number % 2:
            torch_s.append(timer.timeit(runs).median)
        agent_s.append(time_blocks(run, _wait, 1, runs, clock)[0].seconds)
        if not number % 2:
            torch_s.append(timer.timeit(runs).median)
    ratio = statistics.median(ours / theirs for ours, theirs in zip(agent_s, torch_s, strict=True))
    print(f"  {statistics.median(agent_s):.6g} s, {statistics.median(torch_s):.6g} s, {ratio:.3f}", flush=True)
    return ratio


def _wait() -> None:
    """A processor has done its work when it is handed over."""


if __name__ == "__main__":
    main()
