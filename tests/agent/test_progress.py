"""How far it is: a moving line on a terminal, plain lines elsewhere, nothing when quiet."""

import io

import pytest

from stackviz.agent.progress import Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_on_a_terminal_one_line_moves_and_is_cleared(monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    screen = Terminal()
    with Progress(screen) as progress:
        progress.step(6, 12, "gemm bf16 8192 on cuda:0", 21.4)
    bar = "[############------------] 6/12 gemm bf16 8192 on cuda:0, about 21 s left"
    assert screen.getvalue() == f"\r\x1b[K{bar}\r\x1b[K"
    monkeypatch.setenv("COLUMNS", "40")
    narrow = Terminal()
    Progress(narrow).step(1, 12, "x" * 200, None)
    assert len(narrow.getvalue()) == len("\r\x1b[K") + 39


@pytest.mark.parametrize(("seconds", "words"), [(0.2, "1 s"), (89, "89 s"), (90, "2 min"), (1500, "25 min")])
def test_time_left_is_told_as_people_tell_it(monkeypatch, seconds, words):
    monkeypatch.setenv("COLUMNS", "100")
    screen = Terminal()
    Progress(screen).step(1, 2, "gemm", seconds)
    assert f"about {words} left" in screen.getvalue()


def test_elsewhere_each_new_thing_is_said_once():
    log = io.StringIO()
    progress = Progress(log)
    for done, what in ((0, "gemm"), (1, "gemm"), (2, "copy")):
        progress.step(done, 4, what, 3.0)
    progress.say("done")
    assert log.getvalue() == "[0/4] gemm\n[2/4] copy\ndone\n"


@pytest.mark.parametrize(("is_quiet", "printed"), [(False, "\r\x1b[KDelivered\n"), (True, "")])
def test_a_line_that_stays_does_not_run_into_the_bar(is_quiet, printed):
    screen = Terminal()
    progress = Progress(screen, is_quiet=is_quiet)
    progress.step(0, 1, "gemm", None)
    progress.say("Delivered")
    assert screen.getvalue().endswith(printed)
    assert not is_quiet or screen.getvalue() == ""


def test_an_error_inside_leaves_a_clean_line():
    screen = Terminal()
    with pytest.raises(ZeroDivisionError), Progress(screen) as progress:  # noqa: PT012
        progress.step(0, 1, "gemm", None)
        raise ZeroDivisionError
    assert screen.getvalue().endswith("\r\x1b[K")
