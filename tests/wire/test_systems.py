"""Which system it is: asked in many rooms, answered in one place."""

import pytest

from stackviz.wire.systems import driver_platform, family, wheel_platform


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


def test_inside_windows_programs_are_of_linux_and_the_driver_is_of_windows():
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
