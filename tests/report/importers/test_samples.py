"""Real dumps are read as a careful reader read them: 99 of 100 cells at least, the others reviewed one by one.

`pytest -n 0 -s tests/report/importers/test_samples.py` prints the table of docs/diagnose.md.
"""

from pathlib import Path

import pytest

from stackviz.report.dumps.machines import machines
from stackviz.report.importers import Reading, read_all
from tests.report.importers.accuracy import Cell, cells, table
from tests.samples import SAMPLES, Row, index, text_of

LEAST_SHARE = 0.99
LEAST_SHARE_OF_EXCERPTS = 0.98  # each cell that is read otherwise has its excerpt, few of the others have

REVIEWED = {
    ("other_env/008.csv", "os"): "the text names no system; the index has it from the capture's name",
    ("other_env/011.csv", "os"): "the text names no system; the index has it from the capture's name",
    ("other_env/013.txt", "os"): "an error message of one line; the index has the system from the capture's name",
    ("other_env/015.txt", "mem_mib"): "the index leaves it empty; the text tells the size of the pool of each card",
    ("llama_bench/009.json", "cpu"): "cpu_info names a library before the processor: Accelerate is none",
    ("llama_bench/013.log", "mem_mib"): "the index leaves it empty; the log's first lines tell the card's memory",
    ("llama_bench/014.txt", "gpus"): "the index adds up the two cards of two runs; it is one machine with two",
}
"""(file, field) -> why this cell is read otherwise than the index has it."""


@pytest.fixture(scope="module", params=SAMPLES)
def results(request: pytest.FixtureRequest) -> dict[str, list[tuple[str, Cell]]]:
    found: dict[str, list[tuple[str, Cell]]] = {}
    for row in index(request.param):
        found.setdefault(row["kind"], []).extend((row["file"], cell) for cell in read_cells(request.param, row))
    return found


def read_cells(folder: Path, row: Row) -> list[Cell]:
    paste = read_all(text_of(folder, row["file"]))
    found = machines(paste)
    assert len(found) <= 1, f"{row['file']}: one machine, read as {len(found)}: {[one.differs for one in found]}"
    return cells(row, paste.kinds, found[0].reading if found else Reading(kind="none"))


def wrong(results: dict[str, list[tuple[str, Cell]]]) -> dict[tuple[str, str], Cell]:
    return {(file, cell.field): cell for found in results.values() for file, cell in found if not cell.is_right}


def test_importers_match_the_hand_written_index(results):
    everything = [cell for found in results.values() for _file, cell in found if cell.field != "kind"]
    right = sum(cell.is_right for cell in everything)
    print(f"\n{table(results)}\n\nwithout kinds {right} of {len(everything)}: {right / len(everything):.2%}")
    assert len(everything) > 350
    assert right / len(everything) >= (LEAST_SHARE if len(everything) > 800 else LEAST_SHARE_OF_EXCERPTS)


def test_deviating_cells_have_reasons(results):
    found = wrong(results)
    new = [
        f"{file} {cell.field}: {cell.expected or 'nothing'} is read as {cell.found or 'nothing'}"
        for (file, _field), cell in found.items()
        if (file, cell.field) not in REVIEWED
    ]
    assert new == []
    assert sorted(set(REVIEWED) - set(found)) == [], "these are right by now"
