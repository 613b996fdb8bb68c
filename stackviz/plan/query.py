"""What an address plans: `?accelerator=nvidia-t4&system=linux-x86_64&torch=2.14.1&driver=580`.

What is not given is chosen; what does not exist is ignored with a note. No query but that for the catalogue's edition.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _

from stackviz.catalog.asked_for import most_requested
from stackviz.catalog.queries import public_catalogue
from stackviz.plan.planned_machine import SYSTEMS, PlannedMachine, System
from stackviz.plan.releases import pythons, torch_releases
from stackviz.rules import Tables
from stackviz.rules.compatibility import computed_once
from stackviz.rules.known_cards import KnownCard
from stackviz.rules.lifecycle import newest_out
from stackviz.web.address import AddressReader, Note, whole_number

CPU_ONLY = "cpu"
VENDORS = ("nvidia", "apple")  # whose cards the tables of torch's builds speak of
EXAMPLES = (  # an old card, a new one on Windows, a Mac
    ("nvidia-geforce-gtx-1080-ti", "linux-x86_64"),
    ("nvidia-geforce-rtx-5090", "windows-x86_64"),
    ("apple-m4-max-40", "macos-arm64"),
)
JETSON = "nvidia-jetson-"  # boards whose driver, CUDA and torch come with their JetPack: no table here has those


@dataclass(frozen=True, slots=True)
class Option:
    """One choice of a list."""

    value: str
    title: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class PlanExample:
    title: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanQuery:
    """A plan with the lists it was chosen from. `accelerators`: by vendor, those most asked for first.

    `torch_is_open`, `python_is_open`: none was chosen, so any that works is fine; `machine` has the newest.
    """

    machine: PlannedMachine
    accelerator: str
    title: str
    accelerators: tuple[tuple[str, tuple[Option, ...]], ...]
    examples: tuple[PlanExample, ...]
    systems: tuple[Option, ...]
    torches: tuple[Option, ...]
    macs: tuple[Option, ...]
    pythons: tuple[Option, ...]
    driver: str
    notes: tuple[Note, ...]
    torch_is_open: bool
    python_is_open: bool

    @property
    def takes_driver(self) -> bool:
        """Whether an NVIDIA driver has a place in this plan, as far as it is decided."""
        card = self.machine.card
        return self.accelerator != CPU_ONLY and self.machine.system.platform != "macos" and _is_nvidia(card)

    @property
    def address(self) -> str:
        """The plan as it was understood, every choice named."""
        return self.with_torch(self.machine.torch)

    def with_torch(self, torch: str) -> str:
        """The same plan with another release of torch."""
        machine = self.machine
        chosen = {
            "accelerator": self.accelerator,
            "system": machine.system.key,
            "torch": torch,
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
}


def read_plan_query(query: Mapping[str, str], tables: Tables, day: datetime) -> PlanQuery:
    """The plan an address asks for."""
    reader = AddressReader(query)
    names = _names(tables)
    slug = _accelerator(reader, names)
    card = _cards(tables).get(slug)
    system = _system(reader, card)
    torches = torch_releases(tables, system.wheel)
    torch = reader.choice("torch", torches, _("torch release"), _newest(tables, "pytorch", torches, day))
    macos = _macos(reader, system, tables, day)
    machine = PlannedMachine(system=system, torch=torch, card=card, macos=macos, driver=reader.text("driver")[:20])
    wheels = pythons(machine, tables)
    python = reader.choice("python", wheels, _("Python release"), _newest(tables, "python", wheels, day))
    machine = replace(machine, driver=_driver(reader, machine.driver), python=python)
    macs = [(row.version, row.version) for row in reversed(tables.releases_of("macos"))]
    return PlanQuery(
        machine=machine,
        accelerator=slug,
        title=names.get(slug, (_("CPU only"), ""))[0],
        accelerators=_by_vendor(names, slug),
        examples=() if slug else _examples(names),
        systems=_options(((key, SYSTEM_TITLES[key]) for key in SYSTEMS), system.key),
        torches=_options(((version, version) for version in torches), torch),
        macs=_options(macs, macos) if system.platform == "macos" else (),
        pythons=_options(((version, version) for version in reversed(wheels)), python),
        driver=machine.driver,
        notes=reader.notes(query, most=None),
        torch_is_open=reader.text("torch") not in torches,
        python_is_open=reader.text("python") not in wheels,
    )


def with_release(query: PlanQuery, torch: str, tables: Tables, day: datetime) -> PlanQuery:
    """The same with this release of torch, and, if none was chosen, the newest Python it has a wheel for."""
    machine = replace(query.machine, torch=torch)
    wheels = pythons(machine, tables)
    python = _newest(tables, "python", wheels, day) if query.python_is_open else machine.python
    options = _options(((version, version) for version in reversed(wheels)), python)
    return replace(query, machine=replace(machine, python=python), pythons=options)


def _names(tables: Tables) -> dict[str, tuple[str, str]]:
    """Slug -> (name, vendor) of the public accelerators a plan can be made for."""
    cards = _cards(tables)
    return {slug: named for slug, named in _public_names().items() if slug in cards}


def plannable_card(tables: Tables, slug: str) -> KnownCard | None:
    """The card a plan for this public accelerator is made with; None where none can be made."""
    return _cards(tables).get(slug) if slug in _public_names() else None


def _public_names() -> dict[str, tuple[str, str]]:
    """Slug -> (name, vendor) of the public accelerators of VENDORS, by vendor and name."""
    catalogue = public_catalogue()

    def read() -> dict[str, tuple[str, str]]:
        rows = [row for row in catalogue.accelerators if row.vendor.slug in VENDORS]
        rows.sort(key=lambda row: (row.vendor.name, row.name))
        return {row.slug: (row.name, row.vendor.name) for row in rows}

    return catalogue.once("plan: names", read)


@computed_once
def _cards(tables: Tables) -> Mapping[str, KnownCard]:
    """Slug -> the card of the shortest name, of the accelerators whose builds the tables know."""
    cards = sorted(filter(_can_plan, tables.cards), key=lambda card: (len(card.reported_name), card.reported_name))
    return {card.accelerator: card for card in reversed(cards)}


def _can_plan(card: KnownCard) -> bool:
    if card.vendor == "nvidia":
        return bool(card.compute_capability) and not card.accelerator.startswith(JETSON)
    return card.vendor == "apple"


def _is_nvidia(card: KnownCard | None) -> bool:
    return card is None or card.vendor == "nvidia"


def _accelerator(reader: AddressReader, names: Mapping[str, tuple[str, str]]) -> str:
    """The slug that is asked for; one with a sheet but no plan gets a note that says why."""
    slug = reader.text("accelerator")
    if not slug or slug in names or slug == CPU_ONLY:
        return slug
    accelerator = public_catalogue().by_slug.get(slug)
    name = accelerator.name if accelerator else ""
    if name and slug.startswith(JETSON):
        problem = _("%(name)s runs the driver, CUDA and torch of its JetPack, which these tables do not cover")
        reader.note("accelerator", problem % {"name": name}, _("cannot be used in a plan"))
    elif name:
        problem = _("%(name)s is neither an NVIDIA card nor an Apple chip")
        reader.note("accelerator", problem % {"name": name}, _("only these and the CPU can be used in a plan"))
    else:
        reader.unknown_value("accelerator", _("accelerator"), slug)
    return ""


def _system(reader: AddressReader, card: KnownCard | None) -> System:
    fitting = [key for key, system in SYSTEMS.items() if card is None or card.vendor in system.vendors]
    key = reader.text("system")
    if key in SYSTEMS and key not in fitting:
        problem = _("%(system)s does not run this accelerator") % {"system": SYSTEM_TITLES[key]}
        reader.note("system", problem, _("the plan is for %(other)s") % {"other": SYSTEM_TITLES[fitting[0]]})
        return SYSTEMS[fitting[0]]
    return SYSTEMS[reader.choice("system", fitting, _("system"), fitting[0])]


def _macos(reader: AddressReader, system: System, tables: Tables, day: datetime) -> str:
    if system.platform != "macos":
        return ""
    known = [row.version for row in tables.releases_of("macos")]
    return reader.choice("macos", known, _("macOS release"), _newest(tables, "macos", known, day))


def _driver(reader: AddressReader, text: str) -> str:
    """The driver that is named; "" for none, or with a note for what is no version."""
    if not text or _is_driver(text):
        return text
    problem = _("“%(value)s” is not a driver version such as 580 or 580.95.05")
    reader.note("driver", problem % {"value": text})
    return ""


def _newest(tables: Tables, component: str, among: Sequence[str], day: datetime) -> str:
    """The newest that is out, if it is among these, else the last of them; "" if there are none."""
    newest = newest_out(tables, component, "", day.date().isoformat())
    if newest is not None and newest.version in among:
        return newest.version
    return among[-1] if among else ""


def _is_driver(text: str) -> bool:
    parts = text.split(".")
    return 1 <= len(parts) <= 4 and all(whole_number(part, max_digits=4) is not None for part in parts)


def _options(pairs: Iterable[tuple[str, str]], chosen: str) -> tuple[Option, ...]:
    return tuple(Option(value, title, value == chosen) for value, title in pairs)


def _by_vendor(names: Mapping[str, tuple[str, str]], chosen: str) -> tuple[tuple[str, tuple[Option, ...]], ...]:
    """Groups of options, by vendor: those most asked for, then all others. None stands twice."""
    first = [slug for slug in _requested() if slug in names]
    vendors = list(dict.fromkeys(names[slug][1] for slug in [*first, *names]))
    others = [slug for slug in names if slug not in first]
    groups = [(_("%(vendor)s, most asked for") % {"vendor": vendor}, vendor, first) for vendor in vendors]
    groups += [(_("%(vendor)s, all others") % {"vendor": vendor}, vendor, others) for vendor in vendors]
    options = (
        (title, _options(((slug, names[slug][0]) for slug in slugs if names[slug][1] == vendor), chosen))
        for title, vendor, slugs in groups
    )
    return tuple((title, offered) for title, offered in options if offered)


@cache
def _requested() -> tuple[str, ...]:
    return most_requested()


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
