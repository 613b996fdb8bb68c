"""Every release that a plan pins, for every Python it lists: by the tables, and by asking pip before a release."""

import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from stackviz.pages.plan.builds import builds, command, pythons_beside
from stackviz.pages.plan.planned_machine import SYSTEMS, PlannedMachine
from stackviz.pages.plan.query import CPU_SYSTEMS
from stackviz.pages.plan.releases import pythons
from stackviz.records.stacks.torch_releases import torch_releases
from stackviz.report.rules.known_cards import KnownCard
from stackviz.report.rules.package_releases import PACKAGES, PackageTarget, package_pythons
from stackviz.report.rules.packages import plan_package
from tests.plans.matrix import CARDS, DAY, TABLES

TAGS = {
    "linux-x86_64": [
        *(f"manylinux_2_{minor}_x86_64" for minor in (39, 35, 34, 31, 28, 27, 24, 17, 12, 5)),
        *("manylinux2014_x86_64", "manylinux2010_x86_64", "manylinux1_x86_64", "linux_x86_64"),
    ],
    "linux-aarch64": [
        *(f"manylinux_2_{minor}_aarch64" for minor in (39, 35, 34, 31, 28, 27, 24, 17)),
        *("manylinux2014_aarch64", "linux_aarch64"),
    ],
    "windows-x86_64": ["win_amd64"],
    "macos-arm64": [*(f"macosx_{major}_0_arm64" for major in (26, 15, 14, 13, 12, 11)), "macosx_11_1_arm64"],
    "macos-x86_64": [f"macosx_{version}_x86_64" for version in ("11_0", "10_15", "10_13", "10_9")],
}
"The platforms that pip is asked for: it takes wheels of exactly these."
WHOLE_SYSTEMS = [key for key in CPU_SYSTEMS if key != "wsl2"]  # WSL has the wheels of Linux
PIN = re.compile(r"""["']?([a-z0-9_.-]+)(?:\[[\w-]+\])?==([\w.+*]+)["']?$""")
INDEX = re.compile(r"--index-url (\S+)")


@dataclass(frozen=True, slots=True, order=True)
class Pin:
    """A release that a command names. `index`: where pip looks; "" for its own."""

    package: str
    version: str
    wheel: str
    python: str
    index: str = ""


def pins_of(text: str, wheel: str, python: str) -> Iterator[Pin]:
    """Those of a command: `pip install torch==2.14.1 --index-url https://...`."""
    index = next(iter(INDEX.findall(text)), "")
    for word in text.split():
        if match := PIN.match(word):
            yield Pin(match[1], match[2], wheel, python, index)


def torch_pins() -> Iterator[Pin]:
    """Of plans of PyTorch: each release and build on each system, with each Python that the plan lists."""
    card = KnownCard(
        reported_name="a card", vendor="nvidia", accelerator="a", memory_bytes=None, compute_capability="8.6"
    )
    for key in WHOLE_SYSTEMS:
        system = SYSTEMS[key]
        for torch in torch_releases(TABLES, system.wheel):
            cards = (card, None) if "nvidia" in system.vendors else (None,)
            for machine in (PlannedMachine(system=system, torch=torch, card=each) for each in cards):
                for python in pythons(machine, TABLES):
                    exact = replace(machine, python=python)  # the newest one is planned where none is chosen
                    for build in builds(exact, TABLES, DAY) or (None,):
                        line = command(exact, build, TABLES)
                        for each in {python, *pythons_beside(exact, build, TABLES)}:
                            yield from pins_of(line, system.wheel, each)


def package_pins() -> Iterator[Pin]:
    """Of the frameworks that the tables decide: for each card and Python the release, and what it brings."""
    for component in PACKAGES:
        for python in package_pythons(TABLES, component, "linux-x86_64"):
            for capability in CARDS:
                plan = plan_package(
                    TABLES, component, PackageTarget("linux-x86_64", "linux", capability=capability, python=python)
                )
                if plan.release:
                    yield Pin(component, plan.release.version, "linux-x86_64", python)
                    yield from (Pin(*pin, "linux-x86_64", python) for pin in plan.release.pins)


# --- asking pip ---

Runner = Callable[[list[str]], str]


def missing_pins(pins: Iterable[Pin], run: Runner) -> list[Pin]:
    """Those that pip does not find for their Python, platform and index; each list of versions is asked for once."""
    groups: dict[tuple[str, str, str, str], list[Pin]] = defaultdict(list)
    for pin in sorted(set(pins)):
        groups[pin.package, pin.wheel, pin.python, pin.index].append(pin)
    lacking = []
    for (package, wheel, python, index), group in groups.items():
        offered = versions_in(run(question(package, wheel, python, index)))
        lacking += [pin for pin in group if not is_among(pin.version, offered)]
    return lacking


def question(package: str, wheel: str, python: str, index: str) -> list[str]:
    """What to ask pip: the versions of a package that it would install there."""
    platforms = [part for tag in TAGS[wheel] for part in ("--platform", tag)]
    at_index = ["--index-url", index] if index else []
    # A release may need 3.6.2: what runs is the newest of its line.
    return [
        "index",
        "versions",
        package,
        "--python-version",
        f"{python}.99",
        "--only-binary=:all:",
        *platforms,
        *at_index,
    ]


def versions_in(output: str) -> list[str]:
    """`Available versions: 2.15.0, 2.14.1` -> those, without the local part of a build; none where pip found none."""
    listed = re.search(r"^Available versions: (.+)$", output, re.MULTILINE)
    return [version.partition("+")[0] for version in listed[1].split(", ")] if listed else []


def is_among(version: str, offered: Iterable[str]) -> bool:
    """Whether a pin takes one of these: `2.14.*` takes 2.14.1."""
    if version.endswith(".*"):
        return any(each.startswith(version[:-1]) for each in offered)
    return version.partition("+")[0] in offered


def ask_pip(arguments: list[str]) -> str:
    """What pip prints; nothing where it ends with an error, as for a package that has no wheel there."""
    run = subprocess.run(
        [sys.executable, "-m", "pip", *arguments], capture_output=True, text=True, timeout=120, check=False
    )
    return run.stdout


def print_missing(run: Runner = ask_pip) -> int:
    """Ask pip for every pin; 1 if it does not find one."""
    pins = {*torch_pins(), *package_pins()}
    lacking = missing_pins(pins, run)
    for pin in lacking:
        print(f"not found: {pin.package}=={pin.version} for Python {pin.python} on {pin.wheel} {pin.index}".rstrip())
    print(f"{len(pins)} pins, {len(lacking)} not found")
    return bool(lacking)
