"""What an address plans: `?accelerator=nvidia-t4&system=linux-x86_64&torch=2.14.1&driver=580`. One query.

What is not given is chosen; what does not exist is left out and said.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _

from stackviz.catalog.queries import public_accelerators
from stackviz.plan.fit import pythons, torch_versions
from stackviz.plan.planned_machine import SYSTEMS, System, Wanted
from stackviz.rules import Tables
from stackviz.rules.known_cards import KnownCard
from stackviz.rules.lifecycle import newest_out
from stackviz.web.asked import clean_text

CPU_ONLY = "cpu"
VENDORS = ("nvidia", "apple")  # whose cards the tables of torch's builds speak of
JETSON = "nvidia-jetson-"  # boards whose driver, CUDA and torch come with their JetPack: no table here has those


@dataclass(frozen=True, slots=True)
class Option:
    """One choice of a list."""

    value: str
    title: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class Asked:
    """A plan with the lists it was chosen from. `accelerators`: by maker. `notes`: what was asked for and is not.

    `torch_is_open`, `python_is_open`: nobody chose one, so any that works will do; `wanted` has the newest.
    """

    wanted: Wanted
    accelerator: str
    title: str
    accelerators: tuple[tuple[str, tuple[Option, ...]], ...]
    systems: tuple[Option, ...]
    torches: tuple[Option, ...]
    macs: tuple[Option, ...]
    pythons: tuple[Option, ...]
    driver: str
    notes: tuple[str, ...]
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


def read_asked(query: Mapping[str, str], tables: Tables, day: datetime) -> Asked:
    """The plan an address asks for."""
    notes: list[str] = []
    names = _names(tables)
    slug = _accelerator(query, names, notes)
    card = _card(tables, slug)
    system = _system(query, card, notes)
    torches = torch_versions(tables, system)
    torch = _one_of(query, "torch", torches, _newest(tables, "pytorch", torches, day), notes)
    macos = _macos(query, system, tables, day, notes)
    wanted = Wanted(system, torch, card, macos, clean_text(query.get("driver", ""))[:20])
    wheels = pythons(wanted, tables)
    python = _one_of(query, "python", wheels, _newest(tables, "python", wheels, day), notes)
    driver = wanted.driver if _is_driver(wanted.driver) else ""
    if wanted.driver and not driver:
        notes.append(_("“%(text)s” is no driver version: write it as 580 or 580.95.05.") % {"text": wanted.driver})
    wanted = Wanted(system, torch, card, macos, driver, python)
    return Asked(
        wanted,
        slug,
        names.get(slug, (_("CPU only"), ""))[0],
        _by_vendor(names, slug),
        _options(((key, SYSTEM_TITLES[key]) for key in SYSTEMS), system.key),
        _options(((version, version) for version in torches), torch),
        _options(((row.version, row.version) for row in reversed(tables.releases_of("macos"))), macos)
        if system.platform == "macos"
        else (),
        _options(((version, version) for version in reversed(wheels)), python),
        driver,
        tuple(notes),
        clean_text(query.get("torch", "")) not in torches,
        clean_text(query.get("python", "")) not in wheels,
    )


def with_release(asked: Asked, torch: str, tables: Tables, day: datetime) -> Asked:
    """The same with this release of torch, and of Python the newest it has a wheel for, where nobody chose one."""
    wanted = replace(asked.wanted, torch=torch)
    wheels = pythons(wanted, tables)
    python = _newest(tables, "python", wheels, day) if asked.python_is_open else wanted.python
    options = _options(((version, version) for version in reversed(wheels)), python)
    return replace(asked, wanted=replace(wanted, python=python), pythons=options)


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


def _accelerator(query: Mapping[str, str], names: Mapping[str, tuple[str, str]], notes: list[str]) -> str:
    """The slug that was asked for; of one that has a sheet and no plan is said why. One query, where it has none."""
    asked = clean_text(query.get("accelerator", ""))
    if not asked or asked in names or asked == CPU_ONLY:
        return asked
    name = public_accelerators().filter(slug=asked).values_list("name", flat=True).first()
    if name and asked.startswith(JETSON):
        notes.append(
            _("%(name)s runs the driver, CUDA and torch of its JetPack, which no table here has: no plan can be made.")
            % {"name": name}
        )
    elif name:
        notes.append(
            _("%(name)s has a spec sheet here, but plans can be made for NVIDIA cards, Apple chips and the CPU only.")
            % {"name": name}
        )
    else:
        _one_of(query, "accelerator", [], "", notes)
    return ""


def _card(tables: Tables, slug: str) -> KnownCard | None:
    of_it = [card for card in tables.cards if card.accelerator == slug and _can_plan(card)]
    return min(of_it, key=lambda card: (len(card.reported_name), card.reported_name), default=None)


def _system(query: Mapping[str, str], card: KnownCard | None, notes: list[str]) -> System:
    fitting = [key for key, system in SYSTEMS.items() if card is None or card.vendor in system.vendors]
    asked = clean_text(query.get("system", ""))
    if asked in SYSTEMS and asked not in fitting:
        notes.append(
            _("%(system)s does not run this accelerator; %(other)s is planned instead.")
            % {"system": SYSTEM_TITLES[asked], "other": SYSTEM_TITLES[fitting[0]]}
        )
        return SYSTEMS[fitting[0]]
    return SYSTEMS[_one_of(query, "system", fitting, fitting[0], notes)]


def _macos(query: Mapping[str, str], system: System, tables: Tables, day: datetime, notes: list[str]) -> str:
    if system.platform != "macos":
        return ""
    known = [row.version for row in tables.releases_of("macos")]
    return _one_of(query, "macos", known, _newest(tables, "macos", known, day), notes)


def _newest(tables: Tables, component: str, among: Sequence[str], day: datetime) -> str:
    """The newest that is out, if it is among these, else the last or first of them; "" if there are none."""
    newest = newest_out(tables, component, "", day.date().isoformat())
    if newest is not None and newest.version in among:
        return newest.version
    return among[-1] if among else ""


def _one_of(query: Mapping[str, str], name: str, known: Sequence[str], usual: str, notes: list[str]) -> str:
    asked = clean_text(query.get(name, ""))
    if not asked or asked in known:
        return asked or usual
    notes.append(_("“%(text)s” is not known here as %(name)s; it was left out.") % {"text": asked, "name": name})
    return usual


def _is_driver(text: str) -> bool:
    parts = text.split(".")
    return 1 <= len(parts) <= 4 and all(part.isascii() and part.isdecimal() and len(part) <= 4 for part in parts)


def _options(pairs: Iterable[tuple[str, str]], chosen: str) -> tuple[Option, ...]:
    return tuple(Option(value, title, value == chosen) for value, title in pairs)


def _by_vendor(names: Mapping[str, tuple[str, str]], chosen: str) -> tuple[tuple[str, tuple[Option, ...]], ...]:
    vendors = dict.fromkeys(vendor for _name, vendor in names.values())
    return tuple(
        (vendor, _options(((slug, name) for slug, (name, of) in names.items() if of == vendor), chosen))
        for vendor in vendors
    )
