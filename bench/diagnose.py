"""`python -m bench.diagnose`: the time it takes in-process to diagnose a dump of 20 KB and a log of 1 MB, as text.

The yardstick is what reading so much text costs at the least: Python's own JSON, once over the same bytes as a list of
lines, written and read again. Both are timed in turns within the same seconds. `make bench` prints the same line.
"""

import json
import time
from collections.abc import Iterator

from bench.fuzz_diagnose import ROOT
from bench.measure import Pair
from stackviz.report.dumps import answer, machines
from stackviz.report.importers import read_all
from stackviz.report.rules import packaged_tables

GOAL_MS = 12.0
LOG_GOAL_MS = 150.0
LOG_CHARS = 1_000_000
LOG_TURNS = 10
WANTED_CHARS = 20_000
TURNS = 60
BARE_RUNS = 20  # one is too short to be timed


def dump() -> str:
    """One machine's dumps in one paste, as long as people's are: collect_env and `nvidia-smi -q -x`, some 20 KB."""
    folder = ROOT / "tests" / "fixtures" / "dumps"
    texts = [
        (folder / name).read_text(encoding="utf-8") for name in ("collect_env_cuda.txt", "nvidia_smi_a100_mig.xml")
    ]
    text = "\n".join(texts)
    line = "a line of a log that stands around it\n"
    return text + line * max(0, (WANTED_CHARS - len(text)) // len(line))


def log() -> str:
    """A training log with one error message in its middle, as long as logs get."""
    lines: list[str] = []
    while sum(map(len, lines[-1:])) * len(lines) < LOG_CHARS:
        step = len(lines)
        lines.append(
            f"2026-11-01 10:{step % 60:02}:07,113 INFO worker[{step % 8}] step {step}/80000 loss=0.{step:05}\n"
        )
    lines.insert(
        len(lines) // 2, "RuntimeError: CUDA error: no kernel image is available for execution on the device\n"
    )
    return "".join(lines)


def diagnosed(text: str) -> str:
    paste = read_all(text)
    return json.dumps(answer(machines(paste), packaged_tables(), not_understood=paste.not_understood))


def bare(text: str) -> list[str]:
    lines: list[str] = json.loads(json.dumps(text.splitlines()))
    return lines


Cost = tuple[Pair, int]  # milliseconds, ours and the yardstick's; the length of the text


def costs() -> Iterator[tuple[str, Cost, float]]:
    """What was measured, what it took, and the goal in milliseconds."""
    yield "diagnose a dump", _cost(dump(), TURNS), GOAL_MS
    yield "diagnose a log", _cost(log(), LOG_TURNS), LOG_GOAL_MS


def _cost(text: str, turns: int) -> Cost:
    diagnosed(text)
    ours, yardstick = [], []
    for _ in range(turns):
        started = time.perf_counter()
        diagnosed(text)
        ours.append((time.perf_counter() - started) * 1e3)
        started = time.perf_counter()
        for _run in range(BARE_RUNS):
            bare(text)
        yardstick.append((time.perf_counter() - started) * 1e3 / BARE_RUNS)
    return Pair.of(ours, yardstick), len(text)


def pair_text(pair: Pair, characters: int) -> str:
    return f"p50 {pair.ours:6.1f} ms   {characters / 1000:.0f} kB   bare {pair.bare:6.2f} ms   ratio {pair.ratio:5.1f}"


if __name__ == "__main__":
    for name, (pair, length), goal in costs():
        print(f"{name:<16} {pair_text(pair, length)}   goal <= {goal:.0f} ms: {pair.ours <= goal}")
