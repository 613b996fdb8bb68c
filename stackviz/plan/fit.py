"""What fits: a stack that nobody has reported, as the report its machine would send, put to the rules. No queries.

The rules that judge machines judge plans: which builds of torch run on the card, from which driver on, for which
Python; what would be broken. Nothing is said here that a table does not say.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from uuid import uuid4

from stackviz import wire
from stackviz.rules import Finding, Severity, Tables, judge
from stackviz.rules.card_names import normalized
from stackviz.rules.checks.builds import builds_for
from stackviz.rules.compatibility import Release, Requirement
from stackviz.rules.drivers import driver_branch, driver_floor, serves, shipped_drivers
from stackviz.rules.known_cards import KnownCard
from stackviz.rules.lifecycle import LifeState, standing
from stackviz.rules.look import Look
from stackviz.rules.upgrade import with_driver, with_torch
from stackviz.rules.versions import is_below, major_minor, numbers
from stackviz.wire import Scalar
from stackviz.wire.cuda_builds import variant_of

INDEX = "https://download.pytorch.org/whl/"
KERNELS = "kernels-missing"  # the rule that says whether a build carries code for the card
WHERE_THE_CARD_IS = frozenset({"cpu-only-torch"})  # asks for a card that a plan for the CPU alone leaves out
DEVELOPERS = "developer/evaluation"  # branches that were never meant to be lived with
MOST_TRIED = 10  # releases of torch that are put to the rules, the newest that driver, card and macOS allow first


@dataclass(frozen=True, slots=True)
class System:
    """A system one may plan for. `platform`: as drivers go; `wheel`: as wheels go; `facts`: what it would report."""

    key: str
    platform: str
    wheel: str
    facts: Mapping[str, Scalar]
    vendors: frozenset[str]


def _system(key: str, platform: str, wheel: str, vendors: str, **facts: Scalar) -> System:
    named = {name.replace("_", ".", 1): value for name, value in facts.items()}
    return System(key, platform, wheel, MappingProxyType(named), frozenset(vendors.split()))


SYSTEMS = {
    system.key: system
    for system in (
        _system("linux-x86_64", "linux", "linux-x86_64", "nvidia", os_name="Linux", python_arch="x86_64"),
        _system("linux-aarch64", "linux", "linux-aarch64", "nvidia", os_name="Linux", python_arch="aarch64"),
        _system("windows-x86_64", "windows", "windows-x86_64", "nvidia", os_name="Windows", python_arch="AMD64"),
        _system("wsl2", "windows", "linux-x86_64", "nvidia", os_name="Linux", os_wsl="2", python_arch="x86_64"),
        _system("macos-arm64", "macos", "macos-arm64", "apple", os_name="macOS", python_arch="arm64"),
    )
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is planned. `card` None: the CPU alone. `macos`, `driver`, `python`: "" for not decided."""

    system: System
    torch: str
    card: KnownCard | None
    macos: str = ""
    driver: str = ""
    python: str = ""


class Answer(StrEnum):
    """What can be said of a build or a plan: silence of the tables is no yes."""

    WORKS = "works"
    FAILS = "fails"
    UNKNOWN = "cannot-tell"


@dataclass(frozen=True, slots=True)
class Build:
    """One build of this torch for this machine. `breaks`: what would not work with it, whatever the driver.

    `carries_code`: the tables name code in it that runs on the card. `outside`: where they do not, the row by which
    its CUDA writes no code for such a card, not yet ("needs") or no longer ("ends-with").
    `driver_floor`: the oldest driver that starts it; `driver_full`: the one of its toolkit, with which nothing is
    missing; "" where the tables do not say. `is_default`: pip takes it without being told.
    """

    name: str
    cuda: str
    cudnn: str
    driver_floor: str
    driver_full: str
    is_default: bool
    breaks: tuple[Finding, ...]
    command: str
    carries_code: bool
    outside: Requirement | None

    @property
    def answer(self) -> Answer:
        if self.breaks or self.outside:
            return Answer.FAILS
        return Answer.WORKS if self.carries_code else Answer.UNKNOWN


@dataclass(frozen=True, slots=True)
class Branch:
    """One branch of the driver. `serves`: the card and the chosen build run with it, from `driver` on."""

    release: Release
    driver: str
    state: LifeState
    serves: bool


def torch_versions(tables: Tables, system: System) -> list[str]:
    """Releases of torch with a wheel for this system, newest first."""
    offered = {
        row.version: row.values for row in tables.rows("pytorch", "offers", "wheel") if row.platform == system.wheel
    }
    known = [row.version for row in tables.releases_of("pytorch")]
    return [version for version in reversed(known) if offered.get(version) != "no"]


def builds(wanted: Wanted, tables: Tables, day: datetime) -> list[Build]:
    """The CUDA builds of this torch, the newest CUDA first; none on a Mac or without an NVIDIA card."""
    if wanted.card is None or wanted.card.vendor != "nvidia" or wanted.system.platform == "macos":
        return []
    default = next(iter(_of_torch(tables, wanted, "ships", "cuda-runtime")), "")
    offered = _offered(wanted.torch, tables)
    return [_build(wanted, tables, day, cuda, default) for cuda in sorted(offered, key=numbers, reverse=True)]


def _build(wanted: Wanted, tables: Tables, day: datetime, cuda: str, default: str) -> Build:
    name = variant_of(cuda)
    report = with_torch(bare_report(wanted, day), tables, wanted.torch, name)
    floor = driver_floor(tables, cuda, wanted.system.platform)
    shipped = shipped_drivers(tables, cuda, wanted.system.platform)
    is_default = bool(default) and numbers(default)[:2] == numbers(cuda)[:2]
    answers = judge(report, tables)
    carries_code = any(found.rule == KERNELS and found.severity == Severity.FITS for found in answers)
    capability = wanted.card.compute_capability if wanted.card else ""
    return Build(
        name,
        cuda,
        str(report.facts.get("cudnn.version", "")),
        floor.low if floor else "",
        shipped[0].values if shipped else "",
        is_default,
        tuple(found for found in answers if found.severity == Severity.BROKEN),
        _command(wanted.torch, "" if is_default else name),
        carries_code,
        None if carries_code else _outside(tables, capability, cuda),
    )


def _outside(tables: Tables, capability: str, cuda: str) -> Requirement | None:
    """The row by which this CUDA writes no code for such a card. Code for an older card of the same major runs too."""
    own = numbers(capability)
    family = [
        row
        for row in tables.rows("compute-capability", "needs", "cuda-toolkit")
        if row.low and numbers(row.version)[:1] == own[:1] and numbers(row.version) <= own
    ]
    first = min(family, key=lambda row: numbers(row.low), default=None)
    if first is not None and is_below(cuda, first.low):
        return first
    for row in tables.rows("compute-capability", "ends-with", "cuda-toolkit"):
        last = numbers(row.values)
        if row.version == capability and last and numbers(cuda)[: len(last)] > last:
            return row
    return None


def _of_torch(tables: Tables, wanted: Wanted, relation: str, subject: str) -> Iterator[str]:
    """What the wheel pip takes by itself says of a subject, on this system."""
    for row in tables.rows("pytorch", relation, subject, platform=wanted.system.wheel):
        if numbers(row.version) == numbers(wanted.torch) and row.platform and not row.variant and row.values != "none":
            yield row.values


def _command(torch: str, build: str) -> str:
    return f"pip install torch=={torch}" + (f" --index-url {INDEX}{build}" if build else "")


def chosen_build(offered: Sequence[Build], wanted: Wanted, tables: Tables, day: datetime) -> Build | None:
    """What pip takes by itself, else the newest that runs, with the driver if one is named; None if none does.

    One of which the tables do not say what it carries comes after all of which they do.
    """
    may_run = [build for build in offered if build.answer is not Answer.FAILS]
    for build in sorted(may_run, key=lambda build: (not build.carries_code, not build.is_default)):
        if not _may_start(wanted, build.cuda, tables):
            continue
        if not wanted.driver or not _broken(planned_report(wanted, build, tables, day), tables):
            return build
    return None


def _may_start(wanted: Wanted, cuda: str, tables: Tables) -> bool:
    """Whether the driver that is named may serve this CUDA: one look into the tables, where rules take many."""
    return not wanted.driver or serves(tables, wanted.driver, cuda, wanted.system.platform) is not False


def command(wanted: Wanted, build: Build | None) -> str:
    """What to type: the build's own, else the plain one; without a card on Linux and Windows the CPU's."""
    if build is not None:
        return build.command
    is_plain = wanted.system.platform == "macos" or wanted.card is not None
    return _command(wanted.torch, "" if is_plain else "cpu")


def branches(wanted: Wanted, build: Build | None, tables: Tables, day: datetime) -> list[Branch]:
    """The driver's branches for this system, newest first; of those whose support has ended only what still serves.

    Without a build: which serve the card, whatever may run on it.
    """
    if wanted.card is None or wanted.card.vendor != "nvidia":
        return []
    platform = "windows" if wanted.system.platform == "windows" else "linux"
    today = day.date().isoformat()
    found = []
    for release in reversed(tables.releases_of("nvidia-driver", platform)):
        if release.line == DEVELOPERS:
            continue
        driver = _first_driver(tables, release, build, platform) if build else release.version
        serving = _knows(wanted.card, release.version, tables, platform)
        serving = serving and _serves(replace(wanted, driver=driver), build, tables, day)
        found.append(Branch(release, driver, standing(release, today), serving))
    return [branch for branch in found if branch.serves or branch.state in (LifeState.SUPPORTED, LifeState.ENDING)]


def _knows(card: KnownCard, branch: str, tables: Tables, platform: str) -> bool:
    """Whether a branch is neither older than the first CUDA for such a card nor newer than the last that takes it."""
    for row in tables.rows("compute-capability", "needs", "cuda-toolkit"):
        shipped = shipped_drivers(tables, row.low, platform) if row.version == card.compute_capability else []
        first = driver_branch(tables, shipped[0].values, platform) if shipped else None
        if first and is_below(branch, first):
            return False
    ends = tables.rows("compute-capability", "ends-with", "nvidia-driver")
    return not any(row.version == card.compute_capability and is_below(row.values, branch) for row in ends)


def _serves(wanted: Wanted, build: Build | None, tables: Tables, day: datetime) -> bool:
    if build is None:
        return not _broken(with_driver(bare_report(wanted, day), wanted.driver), tables)
    return _may_start(wanted, build.cuda, tables) and not _broken(planned_report(wanted, build, tables, day), tables)


def _first_driver(tables: Tables, release: Release, build: Build, platform: str) -> str:
    """The driver of a branch from which on the build has what it asks for; the branch itself where it asks for less."""
    asked = [driver for driver in (build.driver_full, build.driver_floor) if driver and "." in driver]
    own = (driver for driver in asked if driver_branch(tables, driver, platform) == release.version)
    return next(own, release.version)


def chosen_branch(found: Sequence[Branch]) -> Branch | None:
    """The newest that serves and is supported; else the newest that serves."""
    serving = [branch for branch in found if branch.serves]
    supported = [branch for branch in serving if branch.state in (LifeState.SUPPORTED, LifeState.ENDING)]
    return next(iter(supported or serving), None)


def decided(wanted: Wanted, branch: Branch | None) -> Wanted:
    """The plan with a driver: the one that was named, else this branch."""
    return replace(wanted, driver=branch.driver) if branch and not wanted.driver else wanted


def pythons(wanted: Wanted, tables: Tables) -> list[str]:
    """Versions of Python with a wheel of this torch; where this system's are not on record, those of Linux."""
    for platform in (wanted.system.wheel, "linux-x86_64"):
        for row in tables.rows("pytorch", "needs", "python", platform=platform):
            if numbers(row.version) == numbers(wanted.torch) and row.values:
                return [version for version in row.values.split() if not version.endswith("t")]
    return []


def needed_macos(wanted: Wanted, tables: Tables) -> list[Requirement]:
    """What the wheel and its mps device ask of macOS; empty elsewhere."""
    if wanted.system.platform != "macos":
        return []
    rows = tables.rows("pytorch", "needs", "macos", platform=wanted.system.wheel)
    return [row for row in rows if numbers(row.version) == numbers(wanted.torch) and row.low]


def features(wanted: Wanted, tables: Tables) -> list[Requirement]:
    """What the card's generation has and lacks (`values` "yes", "no"), as its maker's tables say."""
    if wanted.card is None or not wanted.card.compute_capability:
        return []
    rows = (row for row in tables.requirements if row.component == "compute-capability" and row.relation == "offers")
    own = [row for row in rows if row.version == wanted.card.compute_capability and row.values in ("yes", "no")]
    partitioned = any(_is_named(row.version, wanted.card) for row in tables.rows("mig", "needs", "nvidia-driver"))
    return sorted(
        (row for row in own if row.subject != "mig" or row.values == "no" or partitioned), key=lambda row: row.subject
    )


def _is_named(listed: str, card: KnownCard) -> bool:
    """Whether a maker's list of products names this one: `B200/GB200`, `GB300 (DGX Station)`."""
    words = set(normalized(card.reported_name).split()) | set(card.accelerator.split("-"))
    return any(set(normalized(name).split()) <= words for name in listed.partition("(")[0].split("/"))


def bare_report(wanted: Wanted, day: datetime) -> wire.Report:
    """The machine without torch and driver."""
    facts: dict[str, Scalar] = dict(wanted.system.facts)
    if wanted.python:
        facts["python.version"] = wanted.python
    if wanted.system.platform == "macos":
        facts["os.version"] = wanted.macos
        facts["os.arch"] = "arm64"
        facts["python.rosetta"] = False
        facts["mps.built"] = True
        if wanted.card is not None:
            facts["apple.chip"] = wanted.card.reported_name
    return wire.Report(
        id=uuid4(),
        created_at=day,
        agent=wire.Agent("plan", "0"),
        machine=wire.Machine(wire.NOBODY),
        facts={name: value for name, value in facts.items() if value != ""},
        cards=tuple(_cards(wanted)),
    )


def _cards(wanted: Wanted) -> Iterator[wire.Card]:
    card = wanted.card
    if card is not None:
        facts = {"compute_capability": card.compute_capability} if card.compute_capability else {}
        memory = card.memory_bytes if card.vendor != "apple" else None
        kind = "soc" if card.vendor == "apple" else "gpu"
        yield wire.Card(0, kind, card.vendor, card.reported_name, memory, facts=facts)


def planned_report(wanted: Wanted, build: Build | None, tables: Tables, day: datetime) -> wire.Report:
    """The machine with the build and, where one is named, the driver."""
    name = build.name if build else ("cpu" if wanted.card is None and wanted.system.platform != "macos" else "")
    report = with_torch(bare_report(wanted, day), tables, wanted.torch, name)
    return with_driver(report, wanted.driver) if wanted.driver else report


def judged(wanted: Wanted, build: Build | None, tables: Tables, day: datetime) -> tuple[wire.Report, list[Finding]]:
    """The planned report and what the rules say of it. What cannot be told of a plan is left out: nothing ran yet.

    Except where the plan itself says too little: of a driver its branch alone.
    """
    report = planned_report(wanted, build, tables, day)
    answers = [
        found
        for found in judge(report, tables)
        if (found.severity != Severity.CANNOT_TELL or (wanted.driver and found.rule == "driver-too-old"))
        and found.rule not in WHERE_THE_CARD_IS
    ]
    software = [wire.Software(component, version, "planned") for component, version in _software(report, tables)]
    return replace(report, software=tuple(software)), answers


def _software(report: wire.Report, tables: Tables) -> Iterator[tuple[str, str]]:
    named = {
        "python": "python.version",
        "pytorch": "torch.version",
        "cuda-runtime": "torch.cuda_version",
        "cudnn": "cudnn.version",
        "nvidia-driver": "nvidia.driver_version",
    }
    for component, fact in named.items():
        if fact in report.facts:
            yield component, str(report.facts[fact])
    if (version := report.facts.get("os.version")) and Look(report, tables).platform == "macos":
        yield "macos", str(version)


def answer(wanted: Wanted, build: Build | None, tables: Tables, day: datetime) -> Answer:
    """Whether a build runs where one is needed, and no rule objects."""
    needs_build = wanted.card is not None and wanted.card.vendor == "nvidia"
    if (build is None and needs_build) or _broken(planned_report(wanted, build, tables, day), tables):
        return Answer.FAILS
    return build.answer if build else Answer.WORKS


def works(wanted: Wanted, build: Build | None, tables: Tables, day: datetime) -> bool:
    """Whether it is known that the plan works."""
    return answer(wanted, build, tables, day) is Answer.WORKS


def newest_that_works(wanted: Wanted, tables: Tables, day: datetime) -> str:
    """The newest release of torch that works with the rest of the plan; "" if none of those tried does."""
    for torch in _may_work(wanted, tables, day)[:MOST_TRIED]:
        other = replace(wanted, torch=torch)
        if works(other, chosen_build(builds(other, tables, day), other, tables, day), tables, day):
            return torch
    return ""


def _may_work(wanted: Wanted, tables: Tables, day: datetime) -> list[str]:
    """Releases, newest first, whose rows allow driver and macOS, and of which it is known that they carry the card."""
    versions = torch_versions(tables, wanted.system)
    if wanted.system.platform == "macos":
        floors = {torch: needed_macos(replace(wanted, torch=torch), tables) for torch in versions}
        return [torch for torch in versions if not any(is_below(wanted.macos, row.low) for row in floors[torch])]
    if wanted.card is None or wanted.card.vendor != "nvidia":
        return versions
    look = Look(bare_report(wanted, day), tables)
    fitting = builds_for(look, tables, filter(None, [wanted.card.compute_capability]))
    carrying = {(build.torch, build.variant) for build in fitting}
    return [
        torch
        for torch in versions
        if any(
            (major_minor(torch), variant_of(cuda)) in carrying and _may_start(wanted, cuda, tables)
            for cuda in _offered(torch, tables)
        )
    ]


def _offered(torch: str, tables: Tables) -> list[str]:
    """The CUDA versions this release of torch was published for."""
    rows = tables.rows("pytorch", "offers", "cuda-runtime")
    return [cuda for row in rows if numbers(row.version) == numbers(torch) for cuda in row.values.split()]


def _broken(report: wire.Report, tables: Tables) -> bool:
    return any(found.severity == Severity.BROKEN for found in judge(report, tables))
