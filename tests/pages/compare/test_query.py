"""The address of a comparison says what is compared, and bad addresses are answered, not crashed on."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackviz.pages.compare.query import MOST_SUBJECTS, Address, Subject, SubjectKind, parse_selection, parse_subject

H100 = Subject(SubjectKind.ACCELERATOR, "nvidia-h100-sxm")
METAL = Subject(SubjectKind.STACK, "apple-metal")
BOX = Subject(SubjectKind.MACHINE, "dgx-07", "lab-a")


@pytest.mark.parametrize(
    ("text", "subject"), [("nvidia-h100-sxm", H100), ("stack:apple-metal", METAL), ("machine:lab-a/dgx-07", BOX)]
)
def test_three_kinds_of_subject_are_told_apart_by_their_prefix(text, subject):
    assert parse_subject(text) == subject
    assert subject.name == text


@pytest.mark.parametrize(
    "text",
    [
        "", "stack:", "machine:box", "machine:/box", "machine:a/b/c", "planet:x", "a b", "<script>", "../etc", "x" * 121,
        "ü", "a\x00",
    ],
)  # fmt: skip
def test_what_is_not_a_subject_is_refused(text):
    assert parse_subject(text) is None


def test_repeated_subject_is_taken_once_and_said():
    selection = parse_selection(["nvidia-h100-sxm", "stack:apple-metal", "nvidia-h100-sxm"])
    assert selection.subjects == (H100, METAL)
    assert [note.text for note in selection.refused] == ["“nvidia-h100-sxm” is listed twice; it is shown once."]


def test_fifty_subjects_become_six_and_the_rest_are_named():
    selection = parse_selection([f"gpu-{n}" for n in range(50)])
    assert len(selection.subjects) == MOST_SUBJECTS
    assert len(selection.refused) == 44
    assert {note.problem for note in selection.refused} == {"A comparison holds at most 6 subjects"}
    assert selection.refused[0].consequence == "“gpu-6” was left out"


def test_an_address_keeps_its_readable_form_and_baseline():
    whole = Address((H100, METAL, BOX))
    assert whole.query() == "?a=nvidia-h100-sxm&a=stack:apple-metal&a=machine:lab-a/dgx-07"
    assert Address((H100,)).query(only_differences=True) == "?a=nvidia-h100-sxm&only=differences"
    moment = datetime(2026, 11, 20, 16, tzinfo=UTC)
    assert Address((H100, BOX), BOX, at=moment).query() == (
        "?a=nvidia-h100-sxm&a=machine:lab-a/dgx-07&base=machine:lab-a/dgx-07&at=2026-11-20T16:00:00Z"
    )
    assert Address((H100, BOX), H100).query() == Address((H100, BOX)).query()
    assert Address((H100, BOX), BOX).without(BOX) == "?a=nvidia-h100-sxm"


@given(st.lists(st.text(max_size=200), max_size=60))
def test_no_address_is_too_strange(values):
    selection = parse_selection(values)
    assert len(selection.subjects) + len(selection.refused) == len(values)
    assert len(set(selection.subjects)) == len(selection.subjects) <= MOST_SUBJECTS
