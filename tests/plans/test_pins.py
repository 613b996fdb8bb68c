"""Every release that a command pins has a wheel for every Python that the plan lists; pip's answers are read right."""

import pytest

from stackviz.report.rules.versions import is_below
from tests.plans.matrix import TABLES
from tests.plans.pins import Pin, missing_pins, package_pins, pins_of, print_missing, torch_pins, versions_in

BASE = "linux-x86_64"  # stands in where a table has no row for a platform
COMPONENTS = {"torch": "pytorch"}
ANSWER = """\
torchaudio (2.11.1)
Available versions: 2.11.1, 2.11.0+cu126, 2.10.0
"""


def has_wheel(pin: Pin) -> bool:
    component = COMPONENTS.get(pin.package, pin.package)
    released = [row for row in TABLES.rows(component, "needs", "python") if row.version == pin.version]
    own = ("", pin.wheel, pin.wheel.partition("-")[0])
    rows = [row for row in released if row.platform in own] or [row for row in released if row.platform == BASE]
    return any(pin.python in row.values.split() or (row.low and not is_below(pin.python, row.low)) for row in rows)


@pytest.mark.parametrize("pins_of_plans", [torch_pins, package_pins])
def test_each_pin_has_a_wheel_for_each_python(pins_of_plans):
    pins = set(pins_of_plans())
    assert len(pins) > 50
    assert sorted(pin for pin in pins if not has_wheel(pin)) == []


def test_a_command_is_read_with_its_index():
    text = 'pip install torch==2.14.1 "jax[cuda13]==0.12.0.1" torchvision --index-url https://example.org/whl/cu126'
    assert list(pins_of(text, "linux-x86_64", "3.12")) == [
        Pin("torch", "2.14.1", "linux-x86_64", "3.12", "https://example.org/whl/cu126"),
        Pin("jax", "0.12.0.1", "linux-x86_64", "3.12", "https://example.org/whl/cu126"),
    ]


def test_a_pin_that_pip_does_not_find_is_named_once():
    asked = []

    def run(arguments):
        asked.append(arguments)
        return ANSWER if "3.14.99" in arguments else ""

    pins = [
        Pin("torchaudio", "2.11.0", "macos-arm64", "3.14"),
        Pin("torchaudio", "2.11.*", "macos-arm64", "3.14"),
        Pin("torchaudio", "2.9.0", "macos-arm64", "3.14"),
        Pin("torchaudio", "2.11.0", "macos-arm64", "3.15"),
    ]
    assert missing_pins([*pins, *pins], run) == [pins[2], pins[3]]
    assert len(asked) == 2
    assert asked[0][:3] == ["index", "versions", "torchaudio"]
    assert "macosx_14_0_arm64" in asked[0]


def test_what_pip_prints_without_versions_is_none():
    assert versions_in("ERROR: No matching distribution found for sglang\n") == []


def test_the_command_ends_with_1_where_a_pin_is_not_found(monkeypatch, capsys):
    monkeypatch.setattr("tests.plans.pins.torch_pins", lambda: [Pin("torch", "9.9.9", "linux-x86_64", "3.12")])
    monkeypatch.setattr("tests.plans.pins.package_pins", list)
    assert print_missing(lambda _arguments: "Available versions: 2.15.0\n") == 1
    assert capsys.readouterr().out.splitlines() == [
        "not found: torch==9.9.9 for Python 3.12 on linux-x86_64",
        "1 pins, 1 not found",
    ]
