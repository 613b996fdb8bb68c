"""The agent's runs beside those of the programs on the definition pages, with a Python that has torch:

python -m tests.agent.beside_scripts [KEY...] [--blocks N] [--case NAME=VALUE,...]

Each benchmark's run and the program's, made of its lines, in turns and in one thread, by the time that the processor
spent: so it holds on a machine that does other things. Prints the rate of the quickest block of each and their ratio.
"""

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from stackviz.agent.benchmarks.cases import params_text, read_case
from stackviz.agent.benchmarks.timing import runs_per_block, time_blocks, warm_up
from stackviz.base.units import quantity_label
from stackviz.report.measuring import RUNNABLE, Benchmark, Params

BLOCK_S = 0.1


def main() -> None:
    import torch

    parser = argparse.ArgumentParser()
    parser.add_argument(
        "keys",
        nargs="*",
        default=[key for key, known in RUNNABLE.items() if "cpu" not in known.not_on and not known.has_rates],
    )
    parser.add_argument("--blocks", type=int, default=9)
    parser.add_argument("--case", type=read_case, default=None)
    given = parser.parse_args()
    torch.set_num_threads(1)
    for key in given.keys:
        known = RUNNABLE[key]
        for params in _cases(known, given.case):
            print(_line(torch, known, params, given.blocks), flush=True)


def _cases(known: Benchmark, wanted: dict[str, str] | None) -> Iterator[Params]:
    if wanted is None:
        yield known.light
        return
    for params in known.cases("cpu", False):
        if all(str(params.get(name)) == value for name, value in wanted.items()):
            yield params


def _line(torch: Any, known: Benchmark, params: Params, blocks: int) -> str:
    program: dict[str, Any] = {"device": "cpu"}
    exec("import statistics, time, torch\n" + "\n".join(known.script(params)), program)
    run_program = program["run"]
    if "backward()" in known.script(params)[-1]:
        run_program = torch.inference_mode(mode=False)(run_program)  # no program on a page is in that mode

    with torch.inference_mode():
        prepared = known.prepare(torch, "cpu", params)
        ours, theirs = _in_turns((prepared.run, run_program), blocks)
        problem = prepared.check()
    if problem:
        raise SystemExit(f"{known.key}: {problem}")
    agent, script = known.rate(params, ours) or 0.0, known.rate(params, theirs) or 0.0
    unit = known.unit_of(params)
    shown = " | ".join(quantity_label(rate, unit, digits=4) for rate in (agent, script))
    return f"| `{known.key}` {params_text(params)} | {shown} | {agent / script:.3f} |"


def _in_turns(runs: Sequence[Callable[[], object]], blocks: int) -> list[float]:
    """Seconds of one run of each, in its quickest block: neighbours share caches and memory."""
    counts = [runs_per_block(warm_up(run, _wait, BLOCK_S, time.process_time)[1], BLOCK_S) for run in runs]
    samples: list[list[float]] = [[] for _ in runs]
    for number in range(blocks):
        order = list(enumerate(runs))
        for index, run in order if number % 2 == 0 else reversed(order):
            (block,) = time_blocks(run, _wait, 1, counts[index], time.process_time)
            samples[index].append(block.seconds)
    return [min(each) for each in samples]


def _wait() -> None:
    """A processor has done its work when it is handed over."""


if __name__ == "__main__":
    main()
