"""What an address plans: `?accelerator=nvidia-t4&framework=pytorch&system=linux-x86_64&torch=2.14.1&driver=580`.

What is not given is chosen; what does not exist is ignored with a note. No query but that for the catalogue's edition.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _

from stackviz.pages.plan.chosen_way import Option, WayChoice, choose_way, options_of
from stackviz.pages.plan.planned_machine import INTEL_MAC, JETPACK, SYSTEMS, PlannedMachine, System
from stackviz.pages.plan.releases import macos_lines, pythons
from stackviz.pages.plan.solved import settled_way
from stackviz.pages.plan.targets import find_target, target_card
from stackviz.pages.plan.ways import PYTORCH, ways
from stackviz.records.catalog.asked_for import requested_by_vendor
from stackviz.records.catalog.queries import public_catalogue
from stackviz.records.stacks.torch_releases import torch_releases
from stackviz.report.rules import Tables
from stackviz.report.rules.known_cards import KnownCard
from stackviz.report.rules.lifecycle import newest_out
from stackviz.report.rules.package_releases import package_pythons
from stackviz.report.rules.versions import numbers, same_line
from stackviz.web.http.address import AddressReader, Note, whole_number

CPU_ONLY = "cpu"
CHOICES = ("accelerator", "framework", "installer", "system", "torch", "macos", "driver", "python")
CHOOSABLE = frozenset({"torch", "driver", "macos", "python"})
CPU_SYSTEMS = tuple(key for key in SYSTEMS if key != JETPACK)
EXAMPLES = (  # an old card, a new one on Windows, a Mac
    ("nvidia-geforce-gtx-1080-ti", "linux-x86_64"),
    ("nvidia-geforce-rtx-5090", "windows-x86_64"),
    ("apple-m4-max-40", "macos-arm64"),
)


@dataclass(frozen=True, slots=True)
class PlanExample:
    title: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanQuery:
    """A plan with the lists it was chosen from. `accelerators`: by vendor, those most asked for, and the chosen one.

    `choice`: the framework and how it is installed; None without an accelerator, or for the CPU.
    `used`: those of CHOOSABLE that this plan depends on.
    `torch_is_open`, `python_is_open`: none was chosen, so any that works is fine; `machine` has the newest.
    """

    machine: PlannedMachine
    choice: WayChoice | None
    accelerator: str
    title: str
    accelerators: tuple[tuple[str, tuple[Option, ...]], ...]
    examples: tuple[PlanExample, ...]
    systems: tuple[Option, ...]
    torches: tuple[Option, ...]
    macs: tuple[Option, ...]
    pythons: tuple[Option, ...]
    driver: str
    used: frozenset[str]
    format: str
    notes: tuple[Note, ...]
    torch_is_open: bool

    @property
    def python_is_open(self) -> bool:
        return self.machine.python_is_open

    @property
    def system_title(self) -> str:
        return SYSTEM_TITLES[self.machine.system.key]

    @property
    def macos_is_old(self) -> bool:
        """Whether another macOS is planned than the newest on record."""
        return bool(self.macs) and self.machine.macos != self.macs[0].value

    @property
    def has_plan(self) -> bool:
        """Whether the tables of torch's builds decide: for the CPU, and for PyTorch on CUDA cards and Macs."""
        return self.accelerator == CPU_ONLY or (self.choice is not None and self.choice.is_planned)

    @property
    def takes_driver(self) -> bool:
        """Whether an NVIDIA driver has a place in this plan, as far as it is decided."""
        return "driver" in self.used

    @property
    def address(self) -> str:
        """The plan as it was understood, every choice named."""
        return self.with_torch(self.machine.torch)

    def with_framework(self, framework: str) -> str:
        """The plan of the same accelerator for another framework, all else open."""
        return f"{reverse('plan:page')}?{urlencode({'accelerator': self.accelerator, 'framework': framework})}"

    def with_torch(self, torch: str) -> str:
        """The same plan with another release of torch."""
        machine = self.machine
        choice = self.choice
        chosen = {
            "accelerator": self.accelerator,
            "framework": choice.framework if choice and choice.framework != PYTORCH else "",
            "installer": choice.installer if choice and choice.installer != "pip" else "",
            "system": machine.system.key,
            "torch": torch if self.has_plan else "",
            "macos": machine.macos,
            "driver": self.driver,
            "python": machine.python if torch == machine.torch and not self.python_is_open else "",
        }
        return f"{reverse('plan:page')}?{urlencode({name: value for name, value in chosen.items() if value})}"


SYSTEM_TITLES = {
    "linux-x86_64": "Linux, x86-64",
    "linux-aarch64": "Linux, aarch64",
    "windows-x86_64": "Windows, x86-64",
    "wsl2": "Linux in WSL2, x86-64",
    "macos-arm64": "macOS, Apple silicon",
    INTEL_MAC: "macOS, Intel processor",
    JETPACK: "JetPack (Jetson)",
}


def read_plan_query(query: Mapping[str, str], tables: Tables, day: datetime) -> PlanQuery:
    """The plan an address asks for."""
    reader = AddressReader(query)
    names = _public_names()
    slug = _accelerator(reader, names)
    target = find_target(tables, slug)
    card = target_card(tables, target) if target else None
    choice = choose_way(reader, ways(tables, target), SYSTEM_TITLES) if target else None
    system = SYSTEMS[choice.system] if choice else _system(reader)
    used = _used(slug, choice, system, card)
    _refuse_unused(reader, used, choice)
    torches = torch_releases(tables, system.wheel)
    newest = _newest(tables, "pytorch", torches, day)
    torch = _torch(reader, system, torches, newest, tables) if "torch" in used else newest
    macos = _macos(reader, system, tables, day) if "macos" in used else ""
    driver = _driver(reader, reader.text("driver")[:20]) if "driver" in used else ""
    machine = PlannedMachine(system=system, torch=torch, card=card, macos=macos, driver=driver)
    is_solved = choice is not None and choice.way.package_plan is not None
    wheels = (
        package_pythons(tables, choice.framework, system.wheel) if choice and is_solved else pythons(machine, tables)
    )
    newest = _newest(tables, "python", wheels, day)
    python = reader.choice("python", wheels, _("Python release"), newest) if "python" in used else newest
    machine = replace(machine, python=python, python_is_open=reader.text("python") not in wheels)
    if choice and target and is_solved:
        chosen = {"python": "" if machine.python_is_open else python, "macos": macos, "driver": driver}
        choice = replace(choice, way=settled_way(tables, target, choice.way, **chosen))
    macs = sorted({macos, *macos_lines(tables, system.wheel)}, key=numbers, reverse=True) if "macos" in used else []
    return PlanQuery(
        machine=machine,
        choice=choice,
        accelerator=slug,
        title=names.get(slug, (_("CPU only"), ""))[0],
        accelerators=_offered(names, slug),
        examples=() if slug else _examples(names),
        systems=options_of(
            ((key, SYSTEM_TITLES[key]) for key in (choice.systems if choice else CPU_SYSTEMS)), system.key
        ),
        torches=options_of(((version, version) for version in torches), torch),
        macs=options_of(((version, version) for version in macs), macos),
        pythons=options_of(((version, version) for version in reversed(wheels)), python),
        driver=machine.driver,
        used=used,
        format=reader.text("format"),
        notes=reader.notes({*CHOICES, "format"}, most=None),
        torch_is_open=reader.text("torch") not in torches,
    )


def with_release(query: PlanQuery, torch: str, tables: Tables, day: datetime) -> PlanQuery:
    """The same with this release of torch, and, if none was chosen, the newest Python it has a wheel for."""
    machine = replace(query.machine, torch=torch)
    wheels = pythons(machine, tables)
    python = _newest(tables, "python", wheels, day) if query.python_is_open else machine.python
    listed = options_of(((version, version) for version in reversed(wheels)), python)
    return replace(query, machine=replace(machine, python=python), pythons=listed)


def _public_names() -> dict[str, tuple[str, str]]:
    """Slug -> (name, vendor) of the public accelerators, by vendor and name."""
    catalogue = public_catalogue()

    def read() -> dict[str, tuple[str, str]]:
        rows = sorted(catalogue.accelerators, key=lambda row: (row.vendor.name, row.name))
        return {row.slug: (row.name, row.vendor.name) for row in rows}

    return catalogue.once("plan: names", read)


def _used(slug: str, choice: WayChoice | None, system: System, card: KnownCard | None) -> frozenset[str]:
    """Those of CHOOSABLE that the plan depends on; while no accelerator is chosen, all that its form offers."""
    if not slug:
        return CHOOSABLE - ({"driver"} if system.platform == "macos" else {"macos"})
    names = {"python"}
    if slug == CPU_ONLY or (choice and choice.is_planned):
        names.add("torch")
    elif choice is None or choice.way.package_plan is None:
        return frozenset()
    if system.platform == "macos":
        names.add("macos")
    elif slug != CPU_ONLY and (card is None or card.vendor == "nvidia"):
        names.add("driver")
    return frozenset(names)


def _refuse_unused(reader: AddressReader, used: frozenset[str], choice: WayChoice | None) -> None:
    """A note for each choice that changes nothing here: an answer that ignored it would mislead."""
    for name in sorted(CHOOSABLE - used):
        if reader.text(name):
            reader.note(name, _("“%(name)s” changes nothing in this plan") % {"name": name})
    for name, only in (("framework", PYTORCH), ("installer", "pip")):
        if choice is None and reader.text("accelerator") == CPU_ONLY and reader.text(name) not in ("", only):
            reader.note(name, _("A plan for the CPU is for %(only)s") % {"only": only})


def _accelerator(reader: AddressReader, names: Mapping[str, tuple[str, str]]) -> str:
    """The slug that is asked for; "" with a note for one that no public sheet has."""
    slug = reader.text("accelerator")
    if not slug or slug in names or slug == CPU_ONLY:
        return slug
    reader.unknown_value("accelerator", _("accelerator"), slug)
    return ""


def _system(reader: AddressReader) -> System:
    """Of a plan for the CPU alone."""
    return SYSTEMS[reader.choice("system", CPU_SYSTEMS, _("system"), CPU_SYSTEMS[0])]


def _torch(reader: AddressReader, system: System, torches: Sequence[str], newest: str, tables: Tables) -> str:
    """The release that is named; a note for one that has no wheel for the system."""
    given = reader.text("torch")
    if given in torches or all(row.version != given for row in tables.releases_of("pytorch")):
        return reader.choice("torch", torches, _("torch release"), newest)
    words = {"torch": given, "system": SYSTEM_TITLES[system.key], "newest": newest}
    problem = _("torch %(torch)s has no wheel for %(system)s") % words
    reader.note("torch", problem, _("the plan is for torch %(newest)s") % words)
    return newest


def _macos(reader: AddressReader, system: System, tables: Tables, day: datetime) -> str:
    """A release, or an update of one (13.5); a note for one that does not run on the processor."""
    lines = macos_lines(tables, system.wheel)
    given, newest = reader.text("macos"), _newest(tables, "macos", lines, day)
    is_known = _is_version(given) and any(same_line(given, row.version) for row in tables.releases_of("macos"))
    if not is_known:
        return reader.choice("macos", lines, _("macOS release"), newest)
    if any(same_line(given, line) for line in lines):
        return given
    problem = _("macOS %(macos)s does not run on a Mac with an Intel processor") % {"macos": given}
    reader.note("macos", problem, _("the plan is for macOS %(newest)s") % {"newest": newest})
    return newest


def _driver(reader: AddressReader, text: str) -> str:
    """The driver that is named; "" for none, or with a note for what is no version."""
    if not text or _is_version(text):
        return text
    problem = _("“%(value)s” is not a driver version such as 580 or 580.95.05")
    reader.note("driver", problem % {"value": text})
    return ""


def _newest(tables: Tables, component: str, among: Sequence[str], day: datetime) -> str:
    """The newest that is out, if it is among these, else the newest of them; "" if there are none."""
    newest = newest_out(tables, component, "", day.date().isoformat())
    if newest is not None and newest.version in among:
        return newest.version
    return max(among, key=numbers, default="")


def _is_version(text: str) -> bool:
    parts = text.split(".")
    return 1 <= len(parts) <= 4 and all(whole_number(part, max_digits=4) is not None for part in parts)


def _offered(names: Mapping[str, tuple[str, str]], chosen: str) -> tuple[tuple[str, tuple[Option, ...]], ...]:
    """By vendor those most asked for, with the chosen one first if it is another; the rest is searched."""
    groups = [
        (vendor, [(item.slug, item.name) for item in items])
        for vendor, items in requested_by_vendor(public_catalogue())
    ]
    is_listed = any(slug == chosen for _vendor, items in groups for slug, _name in items)
    if chosen in names and not is_listed:
        name, vendor = names[chosen]
        others = next((items for listed, items in groups if listed == vendor), [])
        groups = [(vendor, [(chosen, name), *others]), *(group for group in groups if group[0] != vendor)]
    return tuple((vendor, options_of(items, chosen)) for vendor, items in groups)


def _examples(names: Mapping[str, tuple[str, str]]) -> tuple[PlanExample, ...]:
    """Plans to start from, of accelerators that are public."""
    return tuple(
        PlanExample(
            _("%(name)s on %(system)s") % {"name": names[slug][0], "system": SYSTEM_TITLES[system]},
            f"{reverse('plan:page')}?{urlencode({'accelerator': slug, 'system': system})}",
        )
        for slug, system in EXAMPLES
        if slug in names
    )
