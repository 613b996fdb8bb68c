"""A Mac: native Python, a macOS new enough, an mps device that is there and runs everything."""

import pytest

from stackviz.wire import Absent
from tests.rules.build import UNSET, answer, answers, linux, mac

# --- rosetta ---


@pytest.mark.parametrize(
    "changes",
    [
        {"python__rosetta": True, "python__arch": "x86_64"},
        {"python__rosetta": None, "python__arch": "x86_64"},
        {"python__rosetta": None, "python__arch": "x86_64", "apple__chip": None, "os__arch": "x86_64"},
    ],
)
def test_an_intel_python_on_an_apple_chip_is_broken(changes):
    found = answer("rosetta", mac(**changes))
    assert found.severity == "broken"
    assert "no Intel wheels for macOS after 2.2.2" in found.explanation


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"python__rosetta": None},
        {
            "python__rosetta": None, "python__arch": "x86_64", "apple__chip": None, "os__arch": "x86_64",
            "cpu__model": "Intel(R) Core(TM) i9-9880H",
        },
    ],
)  # fmt: skip
def test_a_native_python_is_no_finding(changes):
    assert answers("rosetta", mac(**changes)) == []


def test_a_python_of_unknown_kind_cannot_be_told():
    found = answer("rosetta", mac(python__rosetta=None, python__arch=None))
    assert found.title == "Cannot tell whether Python is native to this Mac: python.arch not reported"


def test_an_intel_python_on_an_unknown_chip_cannot_be_told():
    unknown = {"apple__chip": None, "os__arch": "x86_64", "cpu__model": None}
    found = answer("rosetta", mac(python__rosetta=None, python__arch="x86_64", **unknown))
    assert found.title.endswith("apple.chip not reported")


def test_linux_has_no_rosetta_question():
    assert answers("rosetta", linux()) == []


# --- mps-old-macos ---


@pytest.mark.parametrize(
    ("torch", "macos", "severity"),
    [
        ("2.8.0", "13.0", "fits"),
        ("2.9.0", "13.6", "broken"),
        ("2.9.0", "14.0", "fits"),
        ("2.13.0", "26.1", "fits"),
        ("2.15.0", "14.7", "broken"),
        ("2.15.0", "15.0", "fits"),
        ("2.5.1", "12.7", "broken"),
        ("1.12.0", "12.3", "fits"),
        ("1.13.1", "12.2", "broken"),
    ],
)
def test_each_torch_asks_for_its_macos(torch, macos, severity):
    assert answer("mps-old-macos", mac(torch__version=torch, os__version=macos)).severity == severity


def test_the_way_out_names_the_newest_torch_for_this_macos():
    found = answer("mps-old-macos", mac(torch__version="2.15.0", os__version="14.7"))
    assert found.advice == "Update macOS, or install torch 2.14.1, the newest for macOS 14."


def test_a_torch_newer_than_the_tables_cannot_be_told_unless_mps_works():
    assert answer("mps-old-macos", mac(torch__version="9.0.0", mps__available=False)).severity == "cannot-tell"
    assert answer("mps-old-macos", mac(torch__version="9.0.0")).severity == "fits"


@pytest.mark.parametrize("missing", ["torch.version", "os.version"])
def test_without_one_of_the_versions_nobody_can_tell_about_macos(missing):
    found = answer("mps-old-macos", mac(**{missing.replace(".", "__"): None}))
    assert found.title.endswith(f"{missing} not reported")


@pytest.mark.parametrize(
    "seen",
    [
        linux(),
        mac(torch__version="1.11.0"),
        mac(torch__version=None, absent={"torch.version": Absent("not_installed")}),
        mac(python__rosetta=True, os__version="10.16"),
    ],
)
def test_where_there_is_no_mps_macos_is_not_judged(seen):
    assert answers("mps-old-macos", seen) == []


# --- mps-unavailable ---


def test_mps_built_but_not_available_is_a_warning():
    found = answer("mps-unavailable", mac(mps__available=False))
    assert (found.severity, found.evidence["mps.available"]) == ("warning", "false")


def test_an_old_macos_is_named_once_not_twice():
    assert answers("mps-unavailable", mac(mps__available=False, os__version="13.6")) == []


def test_a_usable_mps_fits():
    assert answer("mps-unavailable", mac()).severity == "fits"


@pytest.mark.parametrize("missing", ["mps.built", "mps.available"])
def test_without_what_torch_says_about_mps_nobody_can_tell(missing):
    found = answer("mps-unavailable", mac(**{missing.replace(".", "__"): None}))
    assert found.title.endswith(f"{missing} not reported")


def test_a_torch_built_without_mps_has_no_such_question():
    assert answers("mps-unavailable", mac(mps__built=False, mps__available=False)) == []


# --- mps-fallback ---


@pytest.mark.parametrize("value", ["1", "true", "2"])
def test_the_fallback_variable_is_a_warning_when_it_is_set(value):
    assert answer("mps-fallback", mac({}, mps__fallback=value)).severity == "warning"


@pytest.mark.parametrize("seen", [mac(), mac({}, mps__fallback="0"), mac({}, mps__available=False), linux()])
def test_a_fallback_that_is_unset_off_or_without_mps_is_no_finding(seen):
    assert answers("mps-fallback", seen) == []


def test_a_report_that_does_not_mention_the_variable_cannot_be_told():
    assert answer("mps-fallback", mac({"torch.cuda_version": UNSET})).title.endswith("mps.fallback not reported")
