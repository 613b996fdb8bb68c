"""Marks decide which importers are asked: none that would find something is left out, and a log costs a few lines."""

import pytest

from stackviz.report.importers import IMPORTERS, paste, read_all
from stackviz.report.importers.reading import distinct_lines
from stackviz.report.importers.tidy import tidy
from tests.report.importers.own_dump import FIXTURES, own_dumps

DUMPS = sorted((FIXTURES / "dumps").glob("*.*"))
MARKED = [importer for importer in IMPORTERS if importer.marks]


def halves(text: str) -> list[str]:
    lines = text.splitlines()
    return [text, "\n".join(lines[len(lines) // 2 :]), "\n".join(lines[::2]), "\n".join(lines[1::2])]


@pytest.fixture(scope="module")
def texts() -> list[str]:
    whole = [*(dump.text for dump in own_dumps()), *(path.read_text(errors="replace") for path in DUMPS)]
    return [tidy(part) for text in whole for part in halves(text)]


@pytest.mark.parametrize("importer", MARKED, ids=lambda importer: importer.kind)
def test_a_text_that_has_a_dump_of_a_kind_has_one_of_its_marks(texts, importer):
    found = [text for text in texts if list(importer.find(text))]
    assert found  # otherwise the next line proves nothing
    assert [text[:80] for text in found if not paste._may_be_in(distinct_lines(text), importer)] == []


@pytest.mark.parametrize("importer", MARKED, ids=lambda importer: importer.kind)
def test_a_mark_says_something_without_its_digits(importer):
    assert all(len(mark) >= 3 for mark in paste._MARKS[importer.kind])


def test_an_importer_is_not_asked_about_a_text_without_its_marks():
    lines = distinct_lines("epoch 1 of 90\nloss 0.25\n")
    assert [importer.kind for importer in MARKED if paste._may_be_in(lines, importer)] == []


def test_the_lines_of_a_log_are_few():
    log = "".join(f"step {number}/80000 loss=0.{number:05}\n" for number in range(9_000))
    assert distinct_lines(f"{log}é\ud800 7\n{log}") == "step / loss=.\né\ud800 \n"


@pytest.mark.parametrize(
    "text",
    [
        "step 1\nRuntimeError: CUDA error: no kernel\nimage is available for execution on the device\nstep 2",
        "RUNTIMEERROR: CUDA ERROR: NO KERNEL IMAGE IS AVAILABLE FOR EXECUTION ON THE DEVICE \u0130",
        "NVRM: Xid (PCI:0000:01:00): 79, pid=1234, GPU has fallen off the bus.",
        "Could not load library cudnn_cnn_infer64_8.dll. Error code 126",
    ],
    ids=["wrapped", "capitals", "digits", "digits within a word"],
)
def test_a_message_is_found_however_its_words_are_parted(text):
    assert "error-message" in read_all(text).kinds
