"""What an address plans: `?accelerator=nvidia-t4&system=linux-x86_64&torch=2.14.1&driver=580`. One query.

What is not given is chosen; what does not exist is ignored with a note.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _

from stackviz.catalog.queries import public_accelerators
from stackviz.plan.fit import pythons, torch_versions
from stackviz.plan.planned_machine import SYSTEMS, PlannedMachine, System
from stackviz.rules import Tables
from stackviz.rules.known_cards import KnownCard
from stackviz.rules.lifecycle import newest_out
from stackviz.web.address import AddressReader, Note, whole_number

CPU_ONLY = "cpu"
VENDORS = ("nvidia", "apple")  # whose cards the tables of torch's builds speak of
JETSON = "nvidia-jetson-"  # boards whose driver, CUDA and torch come with their JetPack: no table here has those


@dataclass(frozen=True, slots=True)
class Option:
    """One choice of a list."""

    value: str
    title: str
    is_chosen: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanQuery:
    """A plan with the lists it was chosen from. `accelerators`: by vendor.

    `torch_is_open`, `python_is_open`: nobody chose one, so any that works will do; `wanted` has the newest.
    """

    wanted: PlannedMachine
    accelerator: str
    title: str
    accelerators: tuple[tuple[str, tuple[Option, ...]], ...]
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
        card = self.wanted.card
        return self.accelerator != CPU_ONLY and self.wanted.system.platform != "macos" and _is_nvidia(card)

    @property
    def address(self) -> str:
        """The plan as it was understood, every choice named."""
        return self.with_torch(self.wanted.torch)

    def with_torch(self, torch: str) -> str:
        """The same plan with another release of torch."""
        wanted = self.wanted
        chosen = {
            "accelerator": self.accelerator,
            "system": wanted.system.key,
            "torch": torch,
            "macos": wanted.macos,
            "driver": self.driver,
            "python": wanted.python if torch == wanted.torch and not self.python_is_open else "",
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
    card = _card(tables, slug)
    system = _system(reader, card)
    torches = torch_versions(tables, system)
    torch = reader.choice("torch", torches, _("torch release"), _newest(tables, "pytorch", torches, day))
    macos = _macos(reader, system, tables, day)
    wanted = PlannedMachine(system=system, torch=torch, card=card, macos=macos, driver=reader.text("driver")[:20])
    wheels = pythons(wanted, tables)
    python = reader.choice("python", wheels, _("Python release"), _newest(tables, "python", wheels, day))
    driver = wanted.driver if _is_driver(wanted.driver) else ""
    if wanted.driver and not driver:
        problem = _("“%(value)s” is not a driver version such as 580 or 580.95.05")
        reader.note("driver", problem % {"value": wanted.driver})
    wanted = PlannedMachine(system=system, torch=torch, card=card, macos=macos, driver=driver, python=python)
    macs = [(row.version, row.version) for row in reversed(tables.releases_of("macos"))]
    return PlanQuery(
        wanted=wanted,
        accelerator=slug,
        title=names.get(slug, (_("CPU only"), ""))[0],
        accelerators=_by_vendor(names, slug),
        systems=_options(((key, SYSTEM_TITLES[key]) for key in SYSTEMS), system.key),
        torches=_options(((version, version) for version in torches), torch),
        macs=_options(macs, macos) if system.platform == "macos" else (),
        pythons=_options(((version, version) for version in reversed(wheels)), python),
        driver=driver,
        notes=reader.notes(query, most=None),
        torch_is_open=reader.text("torch") not in torches,
        python_is_open=reader.text("python") not in wheels,
    )


def with_release(query: PlanQuery, torch: str, tables: Tables, day: datetime) -> PlanQuery:
    """The same with this release of torch, and of Python the newest it has a wheel for, where nobody chose one."""
    wanted = replace(query.wanted, torch=torch)
    wheels = pythons(wanted, tables)
    python = _newest(tables, "python", wheels, day) if query.python_is_open else wanted.python
    options = _options(((version, version) for version in reversed(wheels)), python)
    return replace(query, wanted=replace(wanted, python=python), pythons=options)


def _names(tables: Tables) -> dict[str, tuple[str, str]]:
    """Slug -> (name, maker) of the public accelerators a plan can be made for."""
    planned = {card.accelerator for card in tables.cards if _can_plan(card)}
    rows = public_accelerators().filter(vendor__slug__in=VENDORS).order_by("vendor__name", "name")
    return {
        slug: (name, vendor)
        for slug, name, vendor in rows.values_list("slug", "name", "vendor__name")
        if slug in planned
    }


def _can_plan(card: KnownCard) -> bool:
    if card.vendor == "nvidia":
        return bool(card.compute_capability) and not card.accelerator.startswith(JETSON)
    return card.vendor == "apple"


def _is_nvidia(card: KnownCard | None) -> bool:
    return card is None or card.vendor == "nvidia"


def _accelerator(reader: AddressReader, names: Mapping[str, tuple[str, str]]) -> str:
    """The slug that is asked for; one with a sheet but no plan gets a note that says why. One query, where so."""
    slug = reader.text("accelerator")
    if not slug or slug in names or slug == CPU_ONLY:
        return slug
    name = public_accelerators().filter(slug=slug).values_list("name", flat=True).first()
    if name and slug.startswith(JETSON):
        problem = _("%(name)s runs the driver, CUDA and torch of its JetPack, which these tables do not cover")
        reader.note("accelerator", problem % {"name": name}, _("it cannot be planned"))
    elif name:
        problem = _("%(name)s is neither an NVIDIA card nor an Apple chip")
        reader.note("accelerator", problem % {"name": name}, _("only these and the CPU can be planned"))
    else:
        reader.unknown_value("accelerator", _("accelerator"), slug)
    return ""


def _card(tables: Tables, slug: str) -> KnownCard | None:
    of_it = [card for card in tables.cards if card.accelerator == slug and _can_plan(card)]
    return min(of_it, key=lambda card: (len(card.reported_name), card.reported_name), default=None)


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


def _newest(tables: Tables, component: str, among: Sequence[str], day: datetime) -> str:
    """The newest that is out, if it is among these, else the last or first of them; "" if there are none."""
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
    vendors = dict.fromkeys(vendor for _name, vendor in names.values())
    return tuple(
        (vendor, _options(((slug, name) for slug, (name, of) in names.items() if of == vendor), chosen))
        for vendor in vendors
    )
