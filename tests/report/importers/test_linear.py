"""What an importer costs grows with the text, not faster: four times the text, about four times the work.

The work is counted in the time of the processor, as a ratio of two texts of one shape: a busy machine is slow for both.
Texts are made from the words that open each kind, so that the searches begin everywhere and end nowhere.
"""

import cProfile
import gc
import pstats
import re
import time
from types import SimpleNamespace

import pytest

from stackviz.report.importers import BY_KIND, IMPORTERS, read_all
from stackviz.report.importers.tidy import tidy
from tests.report.importers.own_dump import own_dumps

SIZE, FACTOR = 1_000_000, 4  # a text, and how much less of it is read beside it
QUICK_SIZE = 100_000  # in a quick run: what is quadratic takes seconds for it
MOST_RATIO = 3.0 * FACTOR  # a quadratic search has 16
TRIES = 4  # the least of several is the least disturbed by what else the machine does
FREE_S = 0.25  # what takes less than this is no danger, whatever its ratio

TABS = "\t" * 1_000_000
FIRST_LINES = sorted(
    {line.strip() for dump in own_dumps() for line in dump.text.strip().splitlines()[:2] if line.strip()}
)
each_size = pytest.mark.parametrize("size", [SIZE, pytest.param(QUICK_SIZE, marks=pytest.mark.fast)])
WORDS = [" ", "|", "=", ": ", "a", "0.", "- ", "\n"]


HEADS = {
    "agent-report": [
        '{"format": 1,"id": "',
        '{"format": 1,"id": "a","y":[',
        '{"format": 1,"id": "a","y":[' * 200 + "1," * 5_000,
        '{"format": 1,"id": "' + "1" * 5_000,
    ]
}
"""Kind -> beginnings of documents that are never closed."""


def seconds(text: str, importer) -> float:
    """Without the collector, which searches all that other tests of this process left: a second each time."""
    gc.disable()
    try:
        started = time.process_time()
        for span in list(importer.find(text))[:3]:
            importer.read(text[span.start : span.end])
        return time.process_time() - started
    finally:
        gc.enable()


def own_text(importer) -> str:
    return next(dump.text for dump in own_dumps() if dump.kind == importer.kind)


def is_linear(importer, unit: str, size: int = SIZE) -> bool:
    text = (unit * (size // len(unit) + 1))[:size]
    part = text[: size // FACTOR]
    large = seconds(text, importer)
    if large < FREE_S:
        return True
    small = min(seconds(part, importer) for _ in range(2))
    for _ in range(TRIES):  # a quadratic search fails them all
        if large <= MOST_RATIO * small:
            return True
        small, large = min(small, seconds(part, importer)), min(large, seconds(text, importer))
    return large <= MOST_RATIO * small


def slow_beginnings(size: int) -> list[tuple[str, str]]:
    """Of each kind the first two lines, over and over, with an end and without one."""
    return [
        (importer.kind, line)
        for importer in IMPORTERS
        for line in own_text(importer).strip().splitlines()[:2]
        for end in ("\n", "")
        if line.strip() and not is_linear(importer, f"{line[:200]}{end}", size)
    ]


def slow_floods(word: str, size: int) -> list[str]:
    """Kinds that take too long for a beginning of their own and a flood of one mark behind it."""
    heads = {importer: own_text(importer) for importer in IMPORTERS}
    return [
        importer.kind
        for importer, own in heads.items()
        if not is_linear(importer, f"{own[: max(40, len(own) // 2)]}{word * 4_000}", size)
    ]


@each_size
def test_the_beginnings_of_all_kinds(size):
    assert slow_beginnings(size) == []


@each_size
@pytest.mark.parametrize("word", WORDS)
def test_a_flood_of_one_mark_behind_a_beginning(word, size):
    assert slow_floods(word, size) == []


@pytest.mark.fast
def test_what_is_quadratic_is_found(monkeypatch):
    monkeypatch.setitem(globals(), "FREE_S", 0.005)
    quadratic = SimpleNamespace(find=re.compile(r"(?:ab)*c").finditer)
    assert not is_linear(quadratic, "ab", 4_000)


@pytest.mark.parametrize(("kind", "unit"), [(kind, unit) for kind, units in HEADS.items() for unit in units])
def test_documents_that_begin_and_never_end(kind, unit):
    assert is_linear(BY_KIND[kind], unit)


@pytest.mark.parametrize(
    "text",
    [
        f"Linux box 5.15.167.4-microsoft-standard-WSL2 #1 SMP Tue Nov 5 00:21:55{TABS}\x01",
        # each name could be read in two ways: forty of them in a million millions
        "[" + "'gfx_a1a', " * 40 + "\n" + "['sm_90a'" * 1_000,
    ],
    ids=["uname", "architectures"],
)
def test_an_endless_line_is_passed_over_once(text):
    started = time.process_time()
    read_all(text)
    assert time.process_time() - started < 1.0


def test_a_row_of_gpustat_that_never_ends_is_passed_over_once():
    """Where a pattern may end at each of 400 places, a megabyte of blanks behind it is passed over 400 times."""
    row = "[0] NVIDIA GeForce RTX 3090   | 31°C,   0 % |    10 / 24576 MB |"
    assert seconds(f"{row}{TABS}\x01\n{row}", BY_KIND["gpustat"]) < 1.0


def test_a_card_of_collect_env_with_a_name_too_long_is_read_once():
    """6 kB of such lines took a second and a half: blanks, a name and blanks again could end at each place of each."""
    own = next(dump.text for dump in own_dumps() if dump.kind == "collect-env")
    first = own.index("\n", own.index("GPU models")) + 1
    line = "GPU 0:" + " " * 250 + "x" * 202
    started = time.process_time()
    BY_KIND["collect-env"].read(own[:first] + f"{line}\n" * 40 + own[first:])
    assert time.process_time() - started < 1.0


@pytest.mark.parametrize(
    ("kind", "text", "sizes"),
    [
        (
            "nvitop",
            "NVITOP 1.3.2 Driver Version: 550.54.14\n│   0  A100-SXM4-40GB  On │ 1MiB / 1..1MiB │\n",
            [None],
        ),
        ("dxdiag", f"Operating System: Windows 11 Home 64-bit\nCard name: {'a' * 3_000}\n", []),
    ],
)
def test_a_card_without_a_readable_size_or_name(kind, text, sizes):
    assert [card.memory_bytes for card in BY_KIND[kind].read(text).cards] == sizes


def test_all_importers_together_read_a_megabyte_of_first_lines():
    text = "\n".join(FIRST_LINES * (1_000_000 // sum(map(len, FIRST_LINES))))
    assert tidy(text)
    paste = read_all(text)
    assert len(paste.readings) <= 64


def test_lines_of_a_log_cost_few_calls():
    """What looks at single lines looks closely at those alone that begin as something it knows."""
    log = "".join(f"2026-11-01 10:00:07,113 INFO worker[{n % 8}] step {n}/80000 loss=0.{n:05}\n" for n in range(3_000))
    read_all(log)  # patterns are compiled
    calls = cProfile.Profile()
    calls.runcall(read_all, log)
    assert pstats.Stats(calls).total_calls < 4 * 3_000  # it has been 48 a line
