"""A line of the files that changes says why, in the history of its value."""

import shutil
from pathlib import Path

import pytest

from stackviz.pages.accelerators.changes import LogFilter, read_log
from stackviz.records.catalog.files import DATA, read_catalogue
from stackviz.records.catalog.load import load_catalogue
from stackviz.records.catalog.models import SpecValue
from stackviz.records.curated.change import own_reason
from stackviz.records.curated.rows import CuratedDataError

HEADER = "device,field,reason\n"
WHY = "The card was measured anew: it takes 72 W."


@pytest.fixture
def folder(tmp_path) -> Path:
    """A copy of the curated files with one card, which nothing was corrected of."""
    data = tmp_path / "data"
    (data / "specs").mkdir(parents=True)
    for name in ("vendors.csv", "sources.csv"):
        shutil.copy(DATA / name, data / name)
    for name in ("accelerators.csv", "aliases.csv", "specs/nvidia.csv"):
        lines = (DATA / name).read_text(encoding="utf-8").splitlines()
        chosen = [line for line in lines[1:] if line.startswith("nvidia-t4,")]
        (data / name).write_text("\n".join([lines[0], *chosen, ""]), encoding="utf-8")
    return data


def correct(folder: Path, lines: str) -> None:
    """Change the power of the T4, and write these lines of corrections."""
    path = folder / "specs" / "nvidia.csv"
    text = path.read_text(encoding="utf-8")
    assert "nvidia-t4,tdp_w,70,W" in text
    path.write_text(text.replace("nvidia-t4,tdp_w,70,W", "nvidia-t4,tdp_w,72,W"), encoding="utf-8")
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


def test_values_that_stay_get_no_reason(folder, db):
    load_catalogue(folder)
    correct(folder, f"nvidia-t4,tdp_w,{WHY}\nnvidia-t4,memory_gb,Nothing changed here.\n")
    load_catalogue(folder)
    assert reasons(field="memory_gb") == {""}


def test_a_first_load_corrects_nothing(folder, db):
    correct(folder, f"nvidia-t4,tdp_w,{WHY}\n")
    load_catalogue(folder)
    assert reasons() == {""}


def test_a_change_without_a_line_has_no_reason_of_its_own(folder, db):
    load_catalogue(folder)
    correct(folder, "")
    load_catalogue(folder)
    assert reasons(field="tdp_w", value="72") == {""}


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
