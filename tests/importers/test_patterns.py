"""No regular expression that reads a pasted text takes longer than the text is long: twice the text, twice the time.

All compiled patterns of these rooms search runs of marks and of their own first words, where a search begins everywhere
and ends nowhere. Those of the known messages search windows of bounded length.
"""

import re
import time
from collections.abc import Iterator
from itertools import islice

import pytest

from stackviz import dumps, importers, private
from stackviz.discovery import modules_of
from stackviz.importers.tidy import tidy

SMALL = 1_500
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


def patterns() -> dict[str, re.Pattern[str]]:
    found: dict[str, re.Pattern[str]] = {}
    for module in (*modules_of(importers), *modules_of(dumps), private):
        for name, value in vars(module).items():
            values = value.values() if isinstance(value, dict) else value if isinstance(value, tuple) else (value,)
            for number, each in enumerate(values):
                if isinstance(each, re.Pattern) and isinstance(each.pattern, str):
                    found.setdefault(f"{module.__name__.rsplit('.', 1)[-1]}.{name}[{number}]", each)
    return found


PATTERNS = patterns()


def hostile(pattern: re.Pattern[str]) -> Iterator[str]:
    """What is repeated: marks, and the first words of the pattern, alone and with a blank behind them."""
    words = list(dict.fromkeys(re.findall(r"[A-Za-z]{3,}", pattern.pattern)))[:2]
    yield from MARKS
    yield from words
    yield from (f"{word} " for word in words)


def seconds(pattern: re.Pattern[str], text: str) -> float:
    started = time.process_time()
    for _match in islice(pattern.finditer(text), 100_000):
        pass
    return time.process_time() - started


def slow_units(pattern: re.Pattern[str]) -> list[str]:
    return [unit for unit in hostile(pattern) if not _is_linear(pattern, unit)]


def _is_linear(pattern: re.Pattern[str], unit: str) -> bool:
    # As readers get it: no more than 256 blanks in a row.
    text = tidy(unit * (2 * SMALL // len(unit)) + "\x01")
    if seconds(pattern, text) < FREE_S:
        return True
    large = min(seconds(pattern, text) for _ in range(3))
    little = min(seconds(pattern, text[: len(text) // 2]) for _ in range(3))
    return large < FREE_S or large <= MOST_RATIO * little


@pytest.mark.parametrize("name", PATTERNS)
def test_a_pattern_of_the_readers_is_linear(name):
    assert slow_units(PATTERNS[name]) == []


def test_a_quadratic_pattern_is_found():
    assert slow_units(re.compile(r"(?:a|\n)*b"))
    assert not slow_units(re.compile(r"a{0,40}b"))
    assert len(PATTERNS) > 200
