"""Which system it is: asked in many rooms, answered in one place."""

import pytest

from stackviz.report.format.systems import cuda_of, driver_platform, family, wheel_platform, wheel_variant


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Ubuntu", "linux"),
        ("Arch Linux", "linux"),
        ("Windows", "windows"),
        ("Microsoft Windows 11 Pro", "windows"),
        ("macOS", "macos"),
        ("Mac OS X", "macos"),
        ("Darwin", "macos"),
        (" windows 10 ", "windows"),
        ("", ""),
        (None, ""),
    ],
)
def test_a_name_tells_the_family(name, expected):
    assert family({"os.name": name}) == expected


def test_wsl_programs_are_linux_driver_is_windows():
    facts = {"os.name": "Ubuntu", "os.wsl": "2", "python.arch": "x86_64"}
    assert (family(facts), driver_platform(facts), wheel_platform(facts)) == ("linux", "windows", "linux-x86_64")
    assert driver_platform({"os.wsl": "2"}) == "windows"


@pytest.mark.parametrize(
    ("name", "arch", "expected"),
    [
        ("Ubuntu", "x86_64", "linux-x86_64"),
        ("Ubuntu", "arm64", "linux-aarch64"),
        ("Windows", "AMD64", "windows-x86_64"),
        ("Windows", "ARM64", "windows-arm64"),
        ("macOS", "aarch64", "macos-arm64"),
        ("macOS", "arm64", "macos-arm64"),
        ("macOS", "x86_64", "macos-x86_64"),
        ("Ubuntu", "", ""),
        ("", "x86_64", ""),
    ],
)
def test_a_wheel_is_named_as_its_system_names_the_processor(name, arch, expected):
    assert wheel_platform({"os.name": name, "os.arch": arch}) == expected
    assert wheel_platform({"os.name": name, "os.arch": "riscv64", "python.arch": arch or None}) == (
        expected or (f"{family({'os.name': name})}-riscv64" if name else "")
    )


@pytest.mark.parametrize(("variant", "cuda"), [("cu128", "12.8"), ("cu92", "9.2"), ("cu130", "13.0")])
def test_a_build_names_its_cuda(variant, cuda):
    assert cuda_of(variant) == cuda
    assert wheel_variant(cuda) == variant


@pytest.mark.parametrize("text", ["", "cpu", "cu", "cu1", "custom", "cu128 ", "cu128x", "rocm6.4"])
def test_what_is_no_build_with_cuda_has_none(text):
    assert cuda_of(text) == ""


@pytest.mark.parametrize(("cuda", "variant"), [("12.8.1", "cu128"), ("13", ""), ("", ""), ("none", ""), ("x.y", "")])
def test_the_build_of_a_cuda_version_needs_both_numbers(cuda, variant):
    assert wheel_variant(cuda) == variant
