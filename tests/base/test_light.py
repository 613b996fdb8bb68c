"""Light dataclasses are equal, hashed and copied as frozen ones, and the type checker holds them to be frozen."""

import subprocess
import sys
from dataclasses import fields, replace

import pytest

from stackviz.base.light import light_dataclass


@light_dataclass(slots=True, kw_only=True)
class Point:
    x: int
    y: int = 0


def test_they_are_values():
    assert Point(x=1) == Point(x=1, y=0)
    assert len({Point(x=1), Point(x=1), Point(x=2)}) == 2
    assert replace(Point(x=1), y=3) == Point(x=1, y=3)
    assert [field.name for field in fields(Point)] == ["x", "y"]
    assert not hasattr(Point(x=1), "__dict__")
    with pytest.raises(TypeError):
        Point(1)


@pytest.mark.slow
def test_the_type_checker_refuses_to_change_one(tmp_path):
    file = tmp_path / "changed.py"
    file.write_text(
        "from stackviz.base.light import light_dataclass\n\n\n@light_dataclass()\nclass Point:\n    x: int\n\n\n"
        "point = Point(1)\npoint.x = 2\n"
    )
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file=", "--follow-imports=silent", str(file)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert 'Property "x" defined in "Point" is read-only' in checked.stdout, checked.stdout + checked.stderr
