"""The prepared databases can never be out of date: what makes them is part of their name."""

import shutil
from pathlib import Path

import pytest

from stackviz.records.cited.files import DATA
from tests.curated import inputs
from tests.imports import files_imported
from tests.live import ROOT

WATCHED_LOAD = Path(__file__).with_name("watched_load.py")


@pytest.fixture
def few_cited(tmp_path):
    """A few cited results: watched, 38,000 would take minutes."""
    folder = tmp_path / "cited"
    (folder / "results").mkdir(parents=True)
    for name in ("sources.csv", "results/clpeak-latency.csv"):
        shutil.copy(DATA / name, folder / name)
    return folder


def test_digest_covers_every_file_loading_reads(new_site, few_cited):
    site = new_site()
    (site.folder / "accelweb.sqlite3").unlink()
    done = site.run_python(str(WATCHED_LOAD), str(ROOT), str(few_cited))
    touched = {Path(line) for line in done.splitlines() if line.startswith(str(ROOT))}
    assert len(touched) > 40
    touched -= {file for file in touched if {"__pycache__", ".venv"} & set(file.parts)}
    assert {str(file.relative_to(ROOT)) for file in touched - inputs()} == set()


def test_imports_are_followed_into_functions():
    reached = {str(file.relative_to(ROOT)) for file in files_imported([ROOT / "stackviz/records/stacks/apps.py"])}
    assert {
        "stackviz/records/stacks/models.py",
        "stackviz/records/catalog/fields/memory.py",
        "stackviz/base/units.py",
    } <= reached
    assert "stackviz/pages/stacks/views.py" not in reached


def test_discovered_modules_are_followed():
    reached = {str(file.relative_to(ROOT)) for file in files_imported([ROOT / "stackviz/report/rules/registry.py"])}
    assert {
        "stackviz/base/discovery.py",
        "stackviz/report/rules/checks/cards.py",
        "stackviz/report/format/facts/cuda.py",
    } <= reached
