"""A text is read until its deadline: what was read counts, what was not is named, and nothing is interrupted."""

import threading

import pytest

from stackviz.report.dumps import mask_text
from stackviz.report.importers import deadline as module
from stackviz.report.importers import read_all
from stackviz.report.importers.deadline import NEVER, Deadline, DeadlinePassed
from stackviz.report.importers.paste import IMPORTERS
from tests.report.importers import nvidia_dumps as dumps

TEXT = f"{dumps.TABLE}\n{dumps.NVCC}\n{dumps.VERSION}\na line that nothing reads"


@pytest.fixture
def clock(monkeypatch):
    """Each look at the clock takes a tick."""
    looks: list[int] = []

    def tick():
        looks.append(0)
        return float(len(looks))

    monkeypatch.setattr(module, "_worked", tick)
    return looks


def test_a_deadline_that_never_comes_leaves_nothing_out():
    paste = read_all(TEXT)
    assert paste.kinds == ("nvidia-smi-table", "nvcc-version", "nvidia-smi-version")
    assert (paste.left_out, paste.not_understood) == ((), ("a line that nothing reads",))
    assert not NEVER.is_over


def test_passed_deadline_reads_nothing_and_names_the_rest():
    paste = read_all(TEXT, Deadline(0.0))
    assert (paste.readings, paste.not_understood) == ((), ())
    assert {"nvidia-smi-table", "nvcc-version", "nvidia-smi-version"} <= set(paste.left_out)


def test_what_was_read_in_time_counts(clock):
    whole = read_all(TEXT)
    seen = set()
    for ticks in range(1, 400):
        paste = read_all(TEXT, Deadline(ticks))
        seen.add(len(paste.readings))
        assert list(paste.readings) == [reading for reading in whole.readings if reading in paste.readings]
        missing = set(whole.kinds) - set(paste.kinds)
        assert missing <= set(paste.left_out), "nothing is left out silently"
    assert seen == {0, 1, 2, 3}
    assert paste == whole


def test_finding_leaves_time_to_read(clock):
    """All searches together take more than there is: what was found until then is read all the same."""
    ticks = 20 + len([importer for importer in IMPORTERS if not importer.marks])
    paste = read_all(TEXT, Deadline(ticks))
    assert paste.left_out
    assert paste.readings


def test_a_text_is_masked_whole_or_not_at_all(clock):
    text = "user: hush\nserial: 1234567\n" + TEXT
    whole = mask_text(text)
    answers = set()
    for ticks in range(1, 80):
        try:
            answers.add(mask_text(text, Deadline(ticks)))
        except DeadlinePassed:
            answers.add("")
    assert answers == {"", whole}


def test_masking_asks_for_each_address_of_a_line(clock):
    with pytest.raises(DeadlinePassed):
        mask_text("10.0.0.1 " * 1_000, Deadline(500))
    with pytest.raises(DeadlinePassed):
        mask_text("2001:db8::1 " * 1_000, Deadline(500))


def test_a_share_is_a_part_of_what_is_left(clock):
    deadline = Deadline(100.0)
    assert 45 < deadline.share(0.5)._end - deadline._start < 60
    clock += [0] * 200
    assert deadline.is_over
    assert deadline.share(0.5).is_over
    with pytest.raises(DeadlinePassed):
        deadline.check()


def test_the_work_of_others_does_not_count():
    """A thread that computes beside it, and time that passes, are not this text's work."""
    deadline = Deadline(0.2)
    other = threading.Thread(target=lambda: sum(range(6_000_000)))
    other.start()
    other.join()
    assert not deadline.is_over
