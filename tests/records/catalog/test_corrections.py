"""A line of the files that changes says why, in the history of its value."""

from pathlib import Path

import pytest

from stackviz.pages.accelerators.changes import LogFilter, read_log
from stackviz.records.catalog.files import read_catalogue
from stackviz.records.catalog.load import load_catalogue
from stackviz.records.catalog.models import SpecValue
from stackviz.records.curated.change import own_reason
from stackviz.records.curated.rows import CuratedDataError
from tests.records.catalog.fixtures import change, files_of

HEADER = "device,field,reason\n"
WHY = "The card was measured anew: it takes 72 W."


@pytest.fixture
def folder(tmp_path) -> Path:
    return files_of(tmp_path, "nvidia-t4")


def correct(folder: Path, lines: str) -> None:
    """Change the power of the T4, and write these lines of corrections."""
    change(folder, "specs/nvidia.csv", "nvidia-t4,tdp_w,70,W", "nvidia-t4,tdp_w,72,W")
    (folder / "corrections.csv").write_text(HEADER + lines, encoding="utf-8")


def reasons(**which: str) -> set[str]:
    rows = SpecValue.history.filter(**which)
    return {own_reason(row.history_change_reason) for row in rows}


def test_correction_has_its_reason_in_history_and_log(folder, db):
    load_catalogue(folder)
    correct(folder, f"nvidia-t4,tdp_w,{WHY}\n")
    load_catalogue(folder)
    assert reasons(field="tdp_w", value="72") == {WHY}
    entry = next(entry for entry in read_log(LogFilter(accelerator="nvidia-t4")).entries if entry.load)
    steps = read_log(LogFilter(accelerator="nvidia-t4", load=entry.load)).entries
    assert WHY in {step.reason for step in steps}
    assert {step.who for step in steps} == {"the catalogue's files"}


@pytest.mark.parametrize(
    ("lines", "which"),
    [
        (f"nvidia-t4,tdp_w,{WHY}\nnvidia-t4,memory_gb,Nothing changed here.\n", {"field": "memory_gb"}),
        ("", {"field": "tdp_w", "value": "72"}),
    ],
    ids=["value that stays", "change without a line"],
)
def test_other_values_get_no_reason(folder, db, lines, which):
    load_catalogue(folder)
    correct(folder, lines)
    load_catalogue(folder)
    assert reasons(**which) == {""}


def test_a_first_load_corrects_nothing(folder, db):
    correct(folder, f"nvidia-t4,tdp_w,{WHY}\n")
    load_catalogue(folder)
    assert reasons() == {""}


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ("nvidia-t5,tdp_w,why\n", "unknown accelerator 'nvidia-t5'"),
        ("nvidia-t4,power,why\n", "unknown field 'power'"),
        ("nvidia-t4,tdp_w,\n", "the reason is missing"),
        ("nvidia-t4,tdp_w,why\nnvidia-t4,tdp_w,why not\n", "duplicate"),
    ],
)
def test_a_wrong_line_is_refused_with_its_number(folder, lines, problem):
    correct(folder, lines)
    with pytest.raises(CuratedDataError, match=rf"corrections.csv:\d: {problem}"):
        read_catalogue(folder)


def test_every_correction_names_a_value_that_exists():
    catalogue = read_catalogue()
    preferred = {(line.device, line.field) for line in catalogue.specs if line.status in ("public", "retired")}
    assert len(catalogue.corrections) > 10
    assert {(line.device, line.field) for line in catalogue.corrections} <= preferred
