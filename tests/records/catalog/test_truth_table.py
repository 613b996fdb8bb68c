"""docs/truth-table.csv: values that somebody else read again are still what the catalogue has."""

import csv
from collections import Counter
from pathlib import Path

import pytest

from stackviz.records.catalog.files import DATA

ROOT = Path(__file__).resolve().parents[3]
LEAST_RIGHT = 60


def _read_again() -> list[dict[str, str]]:
    with (ROOT / "docs" / "truth-table.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def printed() -> dict[tuple[str, str, str], tuple[str, str]]:
    """(accelerator, field, condition) -> the preferred value and unit of the files."""
    found = {}
    for path in (DATA / "specs").glob("*.csv"):
        with path.open(encoding="utf-8", newline="") as file:
            lines = [line for line in csv.DictReader(file) if line["status"] == "public"]
        found |= {(line["device"], line["field"], line["condition"]): (line["value"], line["unit"]) for line in lines}
    return found


def _cell(line: dict[str, str]) -> tuple[str, str, str]:
    return line["accelerator"], line["field"], line["condition"]


@pytest.mark.parametrize("line", _read_again(), ids=lambda line: ":".join(filter(None, _cell(line))))
def test_a_value_that_was_read_again_has_not_changed(printed, line):
    assert printed[_cell(line)] == (line["value"], line["unit"])


def test_each_says_where_and_how_it_was_read():
    assert all(line["where"] and line["how"] and line["read"] for line in _read_again())


def test_enough_values_were_right_and_no_cell_counts_twice():
    verdicts = Counter(line["verdict"] for line in _read_again())
    assert verdicts.keys() == {"right", "mended"}  # of a cell that could not be read, its replacement stands here
    assert verdicts["right"] >= LEAST_RIGHT
    assert max(Counter(map(_cell, _read_again())).values()) == 1
