"""`python -m tools.house`: the figures of docs/house.md, measured."""

import subprocess
import sys

import pytest

from tests.live import ROOT

pytestmark = pytest.mark.slow  # reads all code; starts a site


def printed(*arguments: str) -> list[list[str]]:
    """Run the command and return what it prints, a list of cells for each line."""
    command = [sys.executable, "-m", "tools.house", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [line.strip("| ").split(" | ") for line in done.stdout.splitlines()]


def test_floors_add_up():
    _head, _line, *floors, together = printed()
    folders = {path.parent.name for path in (ROOT / "stackviz").glob("*/__init__.py")}
    assert {name for name, *_figures in floors} == folders
    for column in (1, 2, 6):
        assert sum(int(floor[column]) for floor in floors) == int(together[column]) > 0


def test_a_way_names_its_files_in_order():
    way = "fit question to answer"
    _head, _line, row, *files = printed("--ways", way, "--files")
    names = [name for (name,) in files if name]
    assert row[:2] == [way, str(len(names))]
    assert names.index("pages/fit/views.py") < names.index("pages/fit/calibration.py")
    assert "web/i18n/languages.py" not in names  # any page enters it
