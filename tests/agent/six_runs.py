"""Measure this computer several times with the agent and compare the runs pairwise: are equal runs called equal?

    ACCELWEB_TORCH_PYTHON=<python with torch> python -m tests.agent.six_runs [--runs 6] [--pause 0] [-- arguments of bench]

Prints, over all settings and pairs, how many are called different: with intervals by rounds, as the site works them out;
the same with what was noticed of other load left aside; and with intervals by samples, as before format 1.1.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import combinations

from stackviz.agent.benchmarks.interference import PREFIX
from stackviz.agent.measured import result_key
from stackviz.base.stats import Summary, ratio, summarize
from stackviz.report.format import Result, parse_report
from stackviz.report.measuring.stated_rate import disturbances

Summarize = Callable[[Result], Summary | None]


def _as_the_site(result: Result) -> Summary | None:
    noticed = result.interference
    names = ("foreign_cpu_ratio", "steal_ratio", "card_ratio")
    shares = {PREFIX + name: getattr(noticed, name) for name in names} if noticed else {}
    return summarize(result.samples, result.rounds, is_disturbed=bool(disturbances(shares, result.device)))


def _rounds_alone(result: Result) -> Summary | None:
    return summarize(result.samples, result.rounds)


def _samples_alone(result: Result) -> Summary | None:
    return summarize(result.samples)


WAYS: dict[str, Summarize] = {
    "by rounds, load noticed": _as_the_site,
    "by rounds, load left aside": _rounds_alone,
    "by samples, as in 1.0": _samples_alone,
}


def _runs(count: int, pause_s: float, more: list[str]) -> Iterator[list[Result]]:
    command = [
        os.environ.get("ACCELWEB_TORCH_PYTHON", sys.executable),
        "-m",
        "stackviz.agent",
        "bench",
        "--quick",
        "--device",
        "cpu",
        "--json",
        "-q",
    ]
    for number in range(count):
        with tempfile.TemporaryDirectory() as spool:
            done = subprocess.run([*command, "--spool", spool, *more], capture_output=True, check=True)
        yield [result for result in parse_report(done.stdout).results if result.state == "ok"]
        print(f"run {number + 1} of {count} is done", file=sys.stderr, flush=True)
        time.sleep(pause_s)


def _answers(results: dict[str, list[Result]], way: Summarize, *, is_raw: bool) -> dict[str, int]:
    """Verdict -> how many pairs. `is_raw`: by the intervals alone, whether noisy or not."""
    answers = {"equal": 0, "cannot tell": 0, "different": 0}
    for of_setting in results.values():
        for first, second in combinations(filter(None, map(way, of_setting)), 2):
            apart = ratio(first, second)
            is_different = apart.is_different if apart else None
            if is_raw and apart and apart.low is not None and apart.high is not None:
                is_different = not apart.low <= 1 <= apart.high
            answers["cannot tell" if is_different is None else "different" if is_different else "equal"] += 1
    return answers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=6)
    parser.add_argument("--pause", type=float, default=0.0, metavar="S")
    parser.add_argument("more", nargs="*", metavar="ARGUMENT")
    arguments = parser.parse_args()
    results: dict[str, list[Result]] = defaultdict(list)
    for of_run in _runs(arguments.runs, arguments.pause, arguments.more):
        for result in of_run:
            results[result_key(result)].append(result)
    for key, of_setting in results.items():
        rounds = [len(set(result.rounds)) for result in of_setting]
        foreign = [result.interference and result.interference.foreign_cpu_ratio for result in of_setting]
        print(key, "rounds", rounds, "foreign", json.dumps(foreign))
    for name, way in WAYS.items():
        for is_raw in (False, True):
            answers = _answers(results, way, is_raw=is_raw)
            pairs = sum(answers.values())
            agreeing = (pairs - answers["different"]) / pairs if pairs else 1.0
            kind = "intervals alone" if is_raw else "verdict"
            print(f"{name:28} {kind:16} {answers} of {pairs} pairs: {agreeing:.0%} are not called different")


if __name__ == "__main__":
    main()
