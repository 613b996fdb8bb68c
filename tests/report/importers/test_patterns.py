"""No regular expression that reads a pasted text takes longer than the text is long: twice the text, twice the time.

All compiled patterns of these rooms search runs of marks and of their own first words, where a search begins everywhere
and ends nowhere. Those of the known messages search windows of bounded length.
"""

import inspect
import math
import re
import time
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from stackviz.base import private
from stackviz.base.discovery import modules_of
from stackviz.report import dumps, importers
from stackviz.report.importers.tidy import tidy

SMALL = 1_500
ROUNDS = 20
MOST_RATIO = 3.0  # of the time for twice the text; a quadratic search has 4
FREE_S = 0.003  # what is quicker than this for so much text costs a megabyte a second
MARKS = (
    " ",
    "a",
    "0",
    "a.",
    "0x",
    "0.",
    "a ",
    ": ",
    "a: ",
    "|",
    "\t",
    "-",
    "/a",
    "a\n",
    " \n",
    "\n",
    "&",
    "'a', ",
    "[",
    "<a ",
)


FEW = 4  # marks in a quick run: a blank, a letter, a digit, a word with a stop
OF_OURS = {"messages._CLASS_OR_SPACE"}  # read our own table, no text that somebody pastes


def patterns() -> dict[str, tuple[re.Pattern[str], bool]]:
    """Name -> pattern, and whether a text is searched for it; others are held against the beginning of a line only."""
    found: dict[str, tuple[re.Pattern[str], bool]] = {}
    for module in (*modules_of(importers), *modules_of(dumps), private):
        source = inspect.getsource(module)
        for name, value in vars(module).items():
            values = value.values() if isinstance(value, dict) else value if isinstance(value, tuple) else (value,)
            uses = set(re.findall(rf"\b{name}\.(\w+)", source))
            is_searched = not uses or bool(uses - {"match", "fullmatch", "pattern"})
            room = module.__name__.rsplit(".", 1)[-1]
            for number, each in enumerate(values):
                if isinstance(each, re.Pattern) and f"{room}.{name}" not in OF_OURS:
                    found.setdefault(f"{room}.{name}[{number}]", (each, is_searched))
    return found


PATTERNS = patterns()


def hostile(pattern: re.Pattern[str], most: int) -> Iterator[str]:
    """What is repeated: so many marks, and the first words of the pattern, alone and with a blank behind them."""
    words = list(dict.fromkeys(re.findall(r"[A-Za-z]{3,}", pattern.pattern)))[:2]
    yield from MARKS[:most]
    yield from words
    yield from (f"{word} " for word in words)


def seconds(pattern: re.Pattern[str], text: str, *, is_searched: bool) -> float:
    started = time.process_time()
    if is_searched:
        for _match in pattern.finditer(text):
            pass
    else:
        pattern.match(text)
    return time.process_time() - started


def slow_units(pattern: re.Pattern[str], most: int = len(MARKS), *, is_searched: bool = True) -> list[str]:
    return [
        unit
        for unit in hostile(pattern, most)
        if not _is_linear(partial(seconds, pattern, is_searched=is_searched), unit)
    ]


def _is_linear(work: Callable[[str], float], unit: str) -> bool:
    # As readers get it: no more than 256 blanks in a row.
    text = tidy(unit * (2 * SMALL // len(unit)) + "\x01")
    if work(text) < FREE_S:
        return True
    large = little = math.inf
    for _round in range(ROUNDS):  # on a busy machine all measurements of several rounds may be disturbed
        large = min(large, *(work(text) for _ in range(3)))
        little = min(little, *(work(text[: len(text) // 2]) for _ in range(3)))
        if large < FREE_S or large <= MOST_RATIO * little:
            return True
    return False


@pytest.mark.parametrize(
    "most", [pytest.param(FEW, id="some"), pytest.param(len(MARKS), id="all", marks=pytest.mark.slow)]
)
def test_the_patterns_of_the_readers_are_linear(most):
    found = {name: slow_units(pattern, most, is_searched=searched) for name, (pattern, searched) in PATTERNS.items()}
    assert {name: units for name, units in found.items() if units} == {}


def test_a_quadratic_pattern_is_found():
    assert slow_units(re.compile(r"(?:a|\n)*b"))
    assert not slow_units(re.compile(r"a{0,40}b"))
    assert len(PATTERNS) > 200
