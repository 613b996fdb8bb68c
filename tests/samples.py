"""Real dumps with what a careful reader found in each: excerpts in the repository, and all of them where they are.

The excerpts (tests/fixtures/samples) are cut so that they read as the whole dumps do; every test runs on them. Where
`ACCELWEB_SAMPLES`, or a folder `shared/samples` beside the checkout, holds the whole dumps, the same tests run on those as well.
"""

import csv
import os
from pathlib import Path

import pytest

from tests.live import ROOT

Row = dict[str, str]

EXCERPTS = ROOT / "tests" / "fixtures" / "samples"
WHOLE_DUMPS = Path(os.environ.get("ACCELWEB_SAMPLES") or ROOT.parent / "shared" / "samples")
SAMPLES = [pytest.param(EXCERPTS, id="excerpts")]
if (WHOLE_DUMPS / "INDEX.tsv").is_file():
    SAMPLES.append(pytest.param(WHOLE_DUMPS, id="whole dumps"))


def index(folder: Path) -> list[Row]:
    """What is found in each sample of a folder, one row a file; the columns are those of tests/report/importers/accuracy.py."""
    return _rows(folder / "INDEX.tsv")


def benchmark_rows(folder: Path) -> list[Row]:
    """Every row of every benchmark table among the samples."""
    return _rows(folder / "BENCH_TRUTH.tsv", quoting=csv.QUOTE_NONE)


def text_of(folder: Path, name: str) -> str:
    """One sample, with its own line ends."""
    return (folder / name).read_bytes().decode("utf-8", "replace")


def _rows(file: Path, **form: int) -> list[Row]:
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t", **form))
