"""Capability x driver branch x torch release: what the planner answers, and what the diagnosis finds in a dump of it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache

from stackviz.desk.contradictions.dumps import DumpedStack, broken_findings
from stackviz.pages.plan.builds import Build, builds, choose_build
from stackviz.pages.plan.planned_machine import SYSTEMS, PlannedMachine
from stackviz.records.stacks.torch_releases import torch_releases
from stackviz.report.rules import packaged_tables
from stackviz.report.rules.drivers import WINDOWS_BRANCH_SPAN
from stackviz.report.rules.known_cards import KnownCard
from stackviz.report.rules.versions import major_minor

DAY = datetime(2026, 11, 20, tzinfo=UTC)
TABLES = packaged_tables()
CARDS = {  # by compute capability, as nvidia-smi names them; the Jetson's have the driver of their JetPack
    "5.0": "NVIDIA GeForce GTX 750 Ti",
    "5.2": "NVIDIA GeForce GTX 980 Ti",
    "6.0": "Tesla P100-PCIE-16GB",
    "6.1": "NVIDIA GeForce GTX 1080 Ti",
    "7.0": "Tesla V100-SXM2-16GB",
    "7.5": "Tesla T4",
    "8.0": "NVIDIA A100-SXM4-80GB",
    "8.6": "NVIDIA GeForce RTX 3090",
    "8.9": "NVIDIA GeForce RTX 4090",
    "9.0": "NVIDIA H100 80GB HBM3",
    "10.0": "NVIDIA B200",
    "10.3": "NVIDIA B300 SXM6 AC",
    "12.0": "NVIDIA GeForce RTX 5090",
    "12.1": "NVIDIA GB10",
}
SYSTEMS_WALKED = ("linux-x86_64", "windows-x86_64")


@dataclass(frozen=True, slots=True)
class Cell:
    """`plan`: the build the planner installs under this driver, "" for none; `diagnosed`: builds that are not broken."""

    system: str
    capability: str
    torch: str
    branch: str
    plan: str
    diagnosed: tuple[str, ...]

    @property
    def agrees(self) -> bool:
        """Whether both say the same: the build of the plan is not broken, or all are and there is none."""
        return self.plan in self.diagnosed if self.plan else not self.diagnosed


def releases(system: str) -> list[str]:
    """The newest torch of each line from 2.0 on."""
    newest: dict[str, str] = {}
    for version in torch_releases(TABLES, SYSTEMS[system].wheel):
        newest.setdefault(major_minor(version), version)
    return [version for version in newest.values() if version.startswith("2.")]


@cache
def drivers(system: str) -> dict[str, str]:
    """Branch -> a driver that is newer than every published one of it; on Windows R525 reaches 529."""
    platform = SYSTEMS[system].platform
    listed = [int(row.version) for row in TABLES.releases_of("nvidia-driver", platform)]
    span = WINDOWS_BRANCH_SPAN if platform == "windows" else 1
    last = {branch: min([branch + span, *(other for other in listed if other > branch)]) - 1 for branch in listed}
    return {str(branch): f"{number}.99" for branch, number in last.items()}


def cells(system: str, capability: str) -> Iterator[Cell]:
    """Every release and branch for one capability. A build of unknown contents is in none of the answers."""
    card = KnownCard(
        reported_name=CARDS[capability],
        vendor="nvidia",
        accelerator="a",
        memory_bytes=None,
        compute_capability=capability,
    )
    for torch in releases(system):
        machine = PlannedMachine(system=SYSTEMS[system], torch=torch, card=card)
        offered = [build for build in builds(machine, TABLES, DAY) if build.carries_code or build.faults]
        for branch, driver in drivers(system).items():
            chosen = choose_build(offered, replace(machine, driver=driver), TABLES, DAY)
            card_name = CARDS[capability]
            runs = (build.name for build in offered if not is_refused(system, torch, build, card_name, driver))
            yield Cell(system, capability, torch, branch, chosen.name if chosen else "", tuple(runs))


def is_refused(system: str, torch: str, build: Build, card: str, driver: str) -> bool:
    """Whether the diagnosis finds anything broken in collect_env's output on such a machine."""
    dump = DumpedStack(
        system=system, torch=f"{torch}+{build.name}", cuda=build.cuda, cudnn=build.cudnn, card=card, driver=driver
    )
    return bool(broken_findings(dump, TABLES, DAY))


def print_all() -> int:
    """Print for each system the branches from the first to the last that run each release; 1 if any cell disagrees."""
    count, disagreeing = 0, []
    for system in SYSTEMS_WALKED:
        columns = releases(system)
        print(f"\n{system}\n{'':6}" + "".join(f"{major_minor(torch):>9}" for torch in columns))
        for capability in CARDS:
            row = list(cells(system, capability))
            count += len(row)
            disagreeing += [cell for cell in row if not cell.agrees]
            runs = {torch: [cell.branch for cell in row if cell.torch == torch and cell.plan] for torch in columns}
            print(f"{capability:6}" + "".join(f"{span(runs[torch]):>9}" for torch in columns))
    for cell in disagreeing:
        print(f"disagree: {cell}")
    print(f"\n{count} cells, {len(disagreeing)} disagree")
    return bool(disagreeing)


def span(branches: list[str]) -> str:
    """`525-580`; `-` for none."""
    return f"{branches[0]}-{branches[-1]}" if branches else "-"
