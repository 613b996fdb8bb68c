"""A short program that measures a case by itself, to check the agent's figure: torch, or MLX, and nothing of
ours."""

from stackviz.report.measuring.benchmark import Benchmark, Params
from stackviz.report.measuring.in_mlx import MLX, in_mlx

__all__ = ["script_of"]

_SAMPLES, _DROPPED = 20, 5  # the first runs load and compile
_SHORT_WORK = 64 * 2**20  # FLOP or bytes: below, a program times the clock instead; then it makes many runs a sample
_RUNS_OF_SHORT = 1000


def script_of(known: Benchmark, params: Params, device: str) -> str:
    """The program, "" for a benchmark that another tool runs; it prints the rate in the benchmark's unit."""
    by_mlx = in_mlx(known) if device == MLX else None
    lines = by_mlx.lines(params) if by_mlx else known.script(params)
    if not lines:
        return ""
    if known.has_rates:
        return "\n".join(["import torch", f'device = "{device}"', *lines, ""])
    work = known.work(params) or 1.0
    runs = _RUNS_OF_SHORT if max(known.operations(params) or 0, known.bytes_moved(params) or 0) < _SHORT_WORK else 1
    call = f"[run() for _ in range({runs})]" if runs > 1 else "run()"
    result = f"{work * runs:.17g} / statistics.median(seconds[{_DROPPED}:])"
    lasts_s = known.lasts_s(params)
    if lasts_s:
        result = f"{work:.17g} / statistics.median(seconds)"
        again = [f"end = time.perf_counter() + {lasts_s:g}", "while time.perf_counter() < end:"]
    else:
        again = [f"for _ in range({_SAMPLES}):"]
    head = (
        [
            'import os, statistics, time; os.environ["MLX_ENABLE_TF32"] = "0"  # fp32 stays fp32',
            "import mlx.core as mx; seconds, wait = [], mx.synchronize",
        ]
        if by_mlx
        else [
            "import statistics, time, torch",
            f'device, seconds = "{device}", []',
            'wait = torch.accelerator.synchronize if device != "cpu" else lambda: None',
        ]
    )
    return "\n".join(
        [
            *head,
            *lines,
            *again,
            f"    wait(); start = time.perf_counter(); {call}; wait()",
            "    seconds.append(time.perf_counter() - start)",
            f'print({result}, "{known.unit_of(params)}")',
            "",
        ]
    )
