"""The rates that a dump or a report states: can they be of one machine, one beside the other?"""

import re
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from stackviz.base.sentence import say
from stackviz.base.units import quantity_label
from stackviz.report.format import Result
from stackviz.report.rules.compatibility import RuleSource, Tables
from stackviz.report.rules.look import Look
from stackviz.report.rules.rule import Conclusion, RuleSet, Severity

RULES = RuleSet(order=150)

LLAMA_BENCH_README = RuleSource(
    "llama-bench-readme",
    "llama.cpp, README of llama-bench",
    "https://github.com/ggml-org/llama.cpp/blob/master/tools/llama-bench/README.md",
)
IMPLAUSIBLE = 10.0  # times: of tests that differ in the number of tokens only
_TEST = re.compile(r"(pp|tg) ?(\d{1,8})((?: ?@ ?d ?\d{1,8})?)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, order=True)
class _Run:
    tokens: int
    rate: float
    test: str


@RULES.rule(
    "rate-unlike-neighbour",
    "llama-cpp",
    asks="the rates of llama-bench can be of one machine",
    worst=Severity.WARNING,
    source=LLAMA_BENCH_README,
)
def check_rates(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    """Of neighbours in length: generating more tokens makes none faster, a longer prompt at most in proportion."""
    for is_prompt, runs in _alike(look.results):
        for short, long in pairwise(sorted(runs)):
            slow, fast = sorted((short, long), key=lambda run: run.rate)
            allowed = IMPLAUSIBLE * (long.tokens / short.tokens if is_prompt else 1)
            if fast.rate > slow.rate * allowed:
                option = "-p" if is_prompt else "-n"
                look.evidence |= {run.test: quantity_label(run.rate, "token/s") for run in (short, long)}
                yield Conclusion(
                    severity=Severity.WARNING,
                    title=say(
                        "{test} is {n_rate} times as fast as {test_2}: implausible",
                        fast.test,
                        f"{fast.rate / slow.rate:,.0f}",
                        slow.test,
                    ),
                    explanation=say(
                        "Both are of the same model, device and settings and differ in the number of tokens only, "
                        "which does not change the rate that much. One of them is mistyped, damaged, or from another "
                        "machine."
                    ),
                    advice=say(
                        "Run both tests again: llama-bench {option} {tokens},{tokens_2}",
                        option,
                        short.tokens,
                        long.tokens,
                    ),
                )


def _alike(results: Iterable[Result]) -> Iterator[tuple[bool, list[_Run]]]:
    """(whether they process a prompt, runs that differ in the number of tokens only)."""
    groups: dict[tuple[str, Hashable], list[_Run]] = {}
    for result in results:
        if result.benchmark != "llama-bench":
            continue
        match = _TEST.fullmatch(str(result.params.get("test", "")))
        rate = _rate(result)
        if match is None or not int(match[2]) or rate <= 0:
            continue
        kind = match[1].casefold()
        others = frozenset((name, value) for name, value in result.params.items() if name != "test")
        key = (kind, (match[3].replace(" ", ""), result.device, result.card, others))
        groups.setdefault(key, []).append(_Run(int(match[2]), rate, match[0]))
    for (kind, _setting), runs in groups.items():
        yield kind == "pp", runs


def _rate(result: Result) -> float:
    """Token/s: the mean as stated, or the median of the samples; 0 for a run that did not come to its end."""
    mean = result.extra.get("mean")
    if isinstance(mean, int | float) and not isinstance(mean, bool):
        return float(mean)
    return median(result.samples) if result.state == "ok" and result.samples else 0.0
