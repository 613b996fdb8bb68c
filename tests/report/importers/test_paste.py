"""Several dumps in one paste, dumps inside dumps, and what nobody understood."""

import pytest

from stackviz.report.importers import paste as module
from stackviz.report.importers import read_all
from stackviz.report.importers.importer import Span
from tests.report.importers import nvidia_dumps as dumps
from tests.report.importers.test_nvidia_smi import ALL


def test_the_order_is_that_of_the_text():
    for order in (1, -1):
        assert read_all("\n".join(list(ALL.values())[::order])).kinds == tuple(ALL)[::order]


def test_lines_between_dumps_are_listed_and_commands_are_not():
    text = f"It crashes since Monday.\n$ nvidia-smi\n{dumps.TABLE}\nme@node:~$ nvcc --version\n{dumps.NVCC}\nThanks!\n"
    assert read_all(text).not_understood == ("It crashes since Monday.", "Thanks!")


def test_more_dumps_than_are_read_are_counted():
    paste = read_all(dumps.NVCC * (module.MOST_DUMPS + 3))
    assert len(paste.readings) == module.MOST_DUMPS
    assert paste.not_understood == (f"3 dumps after the first {module.MOST_DUMPS}",)


def test_a_text_beyond_the_limit_is_cut_and_that_is_said(monkeypatch):
    monkeypatch.setattr(module, "MOST_CHARS", len(dumps.TABLE))
    paste = read_all(dumps.TABLE + "x" * 50)
    assert len(paste.readings[0].cards) == 2
    assert paste.not_understood == (f"50 characters after the first {len(dumps.TABLE)}",)


def test_100000_rows_are_refused_unread():
    paste = read_all("what is wrong here?\n" * 100_000)
    assert len(paste.not_understood) == module.MOST_LINES_LISTED


def test_table_of_100000_lines_stays_bounded():
    row = dumps.TABLE.splitlines()[8:12]
    reading = read_all("\n".join([*dumps.TABLE.splitlines()[:8], *(row * 25_000)])).readings[0]
    assert len(reading.cards) <= 64
    assert any("the rest was not read" in problem for problem in reading.problems)


@pytest.mark.parametrize("spans", [[], [(0, 1)], [(0, 12)], [(3, 5), (4, 9)], [(2, 4), (4, 5)], [(5, 12), (0, 3)]])
def test_blanked_text_keeps_positions_of_the_rest(spans):
    text = "abcdefghijkl"
    rest = module._without(text, [Span(*span) for span in spans])
    covered = {at for start, end in spans for at in range(start, end)}
    assert len(rest) == len(text)
    assert all(
        (rest[at] == text[at]) != (at in covered) and (at not in covered or rest[at].isspace()) for at in range(12)
    )
