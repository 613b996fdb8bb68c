"""A Mac: native Python, a macOS new enough, an mps device that is there and runs everything."""

import pytest

from stackviz.report.format import Absent, Software
from tests.report.rules.build import UNSET, answer, answers, lacking, linux, mac, report, stated

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
    assert "2.2.2" in stated(found.explanation)


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
    assert lacking(found) == "python.arch"


def test_an_intel_python_on_an_unknown_chip_cannot_be_told():
    unknown = {"apple__chip": None, "os__arch": "x86_64", "cpu__model": None}
    found = answer("rosetta", mac(python__rosetta=None, python__arch="x86_64", **unknown))
    assert lacking(found) == "apple.chip"


@pytest.mark.parametrize("fact", [{"python.version": "3.12.4"}, {"torch.version": "2.13.0"}])
def test_whatever_speaks_of_python_leaves_its_kind_open(fact):
    found = answer("rosetta", report({"os.name": "macOS", "os.version": "15.3", "apple.chip": "Apple M1"} | fact))
    assert lacking(found) == "python.arch"


@pytest.mark.parametrize("fact", [{"python.arch": "x86_64"}, {"python.rosetta": True}])
def test_the_architecture_or_rosetta_alone_answers(fact):
    seen = report({"os.name": "macOS", "os.version": "15.3", "apple.chip": "Apple M1"} | fact)
    assert answer("rosetta", seen).severity == "broken"


@pytest.mark.parametrize(
    "seen",
    [
        linux(),
        report({"os.name": "macOS", "os.version": "15.3", "apple.chip": "Apple M1"}),
        mac(python__rosetta=None, python__arch=None, apple__chip=None, cpu__model=None, os__version="10.15.7"),
    ],
)
def test_rosetta_question_needs_an_apple_mac(seen):
    assert answers("rosetta", seen) == []


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
    seen = mac(torch__version=torch, os__version=macos, mps__available=False)
    assert answer("mps-old-macos", seen).severity == severity


@pytest.mark.parametrize(("macos", "severity"), [("14.7", "note"), ("10.16", "fits")])
def test_an_mps_device_that_works_is_not_called_out_of_reach(macos, severity):
    found = answer("mps-old-macos", mac(torch__version="2.15.0", os__version=macos))
    assert (found.severity, found.evidence["mps.available"]) == (severity, "true")


def test_10_16_is_no_version_that_could_be_too_old():
    seen = mac(torch__version="2.15.0", os__version="10.16", mps__available=False)
    assert lacking(answer("mps-old-macos", seen)) == "os.version"


def test_the_way_out_names_the_newest_torch_for_this_macos():
    found = answer("mps-old-macos", mac(torch__version="2.15.0", os__version="14.7", mps__available=False))
    assert stated(found.advice) == ("2.14.1", "14")


def test_unknown_torch_is_open_unless_mps_works():
    assert answer("mps-old-macos", mac(torch__version="9.0.0", mps__available=False)).severity == "cannot-tell"
    assert answer("mps-old-macos", mac(torch__version="9.0.0")).severity == "fits"


@pytest.mark.parametrize("missing", ["torch.version", "os.version"])
def test_macos_rule_needs_both_versions(missing):
    found = answer("mps-old-macos", mac(**{missing.replace(".", "__"): None}))
    assert lacking(found) == missing


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
    assert lacking(found) == missing


@pytest.mark.parametrize(
    "told", [{"mps__built": False, "mps__available": False}, {"mps__built": None, "mps__available": None}]
)
def test_mps_question_needs_a_build_with_mps(told):
    assert answers("mps-unavailable", mac(**told)) == []


# --- mps-fallback ---


@pytest.mark.parametrize("value", ["1", "true", "2"])
def test_the_fallback_variable_is_a_warning_when_it_is_set(value):
    assert answer("mps-fallback", mac({}, mps__fallback=value)).severity == "warning"


@pytest.mark.parametrize("seen", [mac(), mac({}, mps__fallback="0"), mac({}, mps__available=False), linux()])
def test_inactive_mps_fallback_is_no_finding(seen):
    assert answers("mps-fallback", seen) == []


def test_unset_variable_is_open_unread_is_quiet():
    failed = {"torch.cuda_version": UNSET, "mps.fallback": Absent("failed")}
    assert lacking(answer("mps-fallback", mac(failed))) == "mps.fallback"
    assert answers("mps-fallback", mac({"torch.cuda_version": UNSET})) == []


def test_torch_needing_macos_15_is_broken_on_14():
    found = answer("mps-old-macos", mac(torch__version="2.15.0", os__version="14.7.1", mps__available=False))
    assert (found.severity, "macOS 15.0" in found.title) == ("broken", True)


def test_a_macos_26_without_a_metal_device_is_a_warning():
    assert answer("mps-unavailable", mac(os__version="26.1", mps__available=False)).severity == "warning"


# --- mac-cu-index ---


@pytest.mark.parametrize(
    "index",
    ["https://download.pytorch.org/whl/cu128", "(another index)/cu118", "https://download.pytorch.org/whl/rocm6.4"],
)
def test_an_index_of_builds_for_other_cards_is_broken_on_a_mac(index):
    found = answer("mac-cu-index", mac(pip__index_url=index))
    assert (found.severity, found.evidence["pip.index_url"]) == ("broken", index)


@pytest.mark.parametrize(
    "seen",
    [
        mac(),  # a dump never tells it
        mac({"pip.index_url": UNSET}),
        mac(pip__index_url="https://download.pytorch.org/whl/cpu"),
        linux(pip__index_url="https://download.pytorch.org/whl/cu128"),
    ],
)
def test_another_index_or_another_system_is_no_finding(seen):
    assert answers("mac-cu-index", seen) == []


# --- packages and macOS ---


def found(component, version):
    return (Software(component, version, "pip"),)


@pytest.mark.parametrize(
    ("component", "version", "macos", "severity"),
    [
        ("mlx", "0.29.3", "13.5", "fits"),
        ("mlx", "0.30.0", "13.5", "broken"),
        ("mlx", "0.31.0", "14.0", "fits"),
        ("tensorflow-metal", "1.2.0", "12.0", "fits"),
        ("tensorflow-metal", "1.2.0", "11.7", "broken"),
        ("jax-metal", "0.1.1", "12.6", "broken"),
        ("jax-metal", "0.1.1", "13.0", "fits"),
        ("coremltools", "9.0", "26.1", "fits"),
        ("coremltools", "9.0", "10.15", "broken"),
    ],
)
def test_each_package_asks_for_its_macos(component, version, macos, severity):
    seen = mac(software=found(component, version), os__version=macos)
    assert answer(f"{component}-old-macos", seen).severity == severity


@pytest.mark.parametrize(
    ("changes", "missing"), [({"os__version": None}, "os.version"), ({"software": found("mlx", None)}, "mlx")]
)
def test_package_rule_needs_both_versions(changes, missing):
    seen = mac(**({"software": found("mlx", "0.30.0")} | changes))
    assert (
        answer("mlx-old-macos", seen).title
        == f"Cannot tell whether macOS is new enough for MLX: {missing} not reported"
    )


@pytest.mark.parametrize(
    "seen",
    [
        mac(),
        linux(software=found("mlx", "0.30.0")),
        mac(software=found("mlx", "0.30.0"), python__rosetta=True, os__version="10.16"),
        mac(software=found("mlx", "0.30.0"), python__arch="x86_64", os__arch="x86_64", os__version="13.0"),
    ],
)
def test_macos_is_judged_with_native_python_only(seen):
    assert answers("mlx-old-macos", seen) == []


# --- coremltools-torch ---


@pytest.mark.parametrize(
    ("version", "torch", "severity"), [("9.0", "2.7.1", "fits"), ("9.0", "2.13.0", "note"), ("8.3", "2.6.0", "note")]
)
def test_coremltools_names_the_newest_torch_it_was_tested_with(version, torch, severity):
    seen = mac(software=found("coremltools", version), torch__version=torch)
    assert answer("coremltools-torch", seen).severity == severity


def test_coremltools_needs_torch_version():
    seen = mac(software=found("coremltools", "9.0"), torch__version=None)
    assert lacking(answer("coremltools-torch", seen)) == "torch.version"


@pytest.mark.parametrize(
    "seen",
    [
        mac(),
        mac(software=found("coremltools", "6.0")),
        mac({"torch.version": Absent("not_installed")}, software=found("coremltools", "9.0"), torch__version=None),
    ],
)
def test_coremltools_rule_needs_both_packages(seen):
    assert answers("coremltools-torch", seen) == []
