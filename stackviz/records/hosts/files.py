"""The curated files of public hosts under `data/`: read, checked, and given a version. No query.

    hosts.csv        a machine; `seen_on`: a day, or a month (2025-05); `teaches`: a fault or setting to learn from;
                     `same_machine_as`: the host that is this machine on an earlier day
    cards.csv        a card; `accelerator`: a slug of the catalogue, empty where the source leaves variants open
    components.csv   a component or fact; `value` where it is installed, empty where it is absent or unknown

One of them a line. An empty cell means that the source does not say.
"""

import csv
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from pathlib import Path
from typing import TypeVar

from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.translation import gettext as _

from stackviz.records.catalog.files import DATA as CATALOGUE
from stackviz.records.catalog.files import digest_of_csv, numbered_rows
from stackviz.records.curated.rows import CuratedDataError, is_readable, is_slug
from stackviz.records.hosts.models import Host, HostCard, HostComponent, problem_of_same_machine
from stackviz.records.hosts.privacy import private_part_of, problem_of_address
from stackviz.records.hosts.software import is_software_name
from stackviz.report.format import FACTS, FactType

DATA = Path(__file__).resolve().parent / "data"
# Raise it when what the loader makes of a line changes, so that the same files are loaded anew.
LOADER_VERSION = 1
HOST_HEADER = [
    "host", "title", "vendor", "form", "system", "kernel", "cpu", "cpu_cores", "memory_bytes", "virtualisation",
    "seen_on", "source_url", "source_kind", "note", "teaches", "same_machine_as",
]  # fmt: skip
CARD_HEADER = [
    "host", "index", "reported_name", "accelerator", "memory_bytes", "driver_version", "power_limit_w",
    "pcie_generation", "pcie_lanes", "compute_capability", "gpu_cores",
]  # fmt: skip
COMPONENT_HEADER = ["host", "name", "value", "state"]
TIME_ZONES = timedelta(days=1)  # it is tomorrow already in Auckland
MOST_CARDS = 1_000
LARGEST = {
    "cpu_cores": 10_000, "memory_bytes": 2**60, "power_limit_w": 99_999, "pcie_generation": 20, "pcie_lanes": 64,
    "gpu_cores": 10_000,
}  # fmt: skip
_DAY = re.compile(r"\d{4}-\d\d(?:-\d\d)?", re.ASCII)
_VERSIONS = frozenset({"system", "kernel", "driver_version", "value"})  # 0.1.13.2 is no address there
Line = TypeVar("Line")
_CHOICES = {"form": Host.Form, "virtualisation": Host.Virtualisation, "source_kind": Host.SourceKind}


@dataclass(frozen=True, slots=True, kw_only=True)
class HostLine:
    """One machine as its line describes it."""

    slug: str
    title: str
    vendor: str
    form: str
    system: str
    kernel: str
    cpu: str
    cpu_cores: int | None
    memory_bytes: int | None
    virtualisation: str
    seen_on: date
    is_month_only: bool
    source_url: str
    source_kind: str
    note: str
    teaches: str
    same_machine_as: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CardLine:
    """One card of a machine; `accelerator` is a slug of the catalogue or ""."""

    host: str
    index: int
    reported_name: str
    accelerator: str
    memory_bytes: int | None
    driver_version: str
    power_limit_w: float | None
    pcie_generation: int | None
    pcie_lanes: int | None
    compute_capability: str
    gpu_cores: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentLine:
    """One component or fact of a machine."""

    host: str
    name: str
    value: str
    state: str


@dataclass(frozen=True, slots=True)
class HostFiles:
    """All lines, and the version of what they say."""

    version: str
    hosts: tuple[HostLine, ...]
    cards: tuple[CardLine, ...]
    components: tuple[ComponentLine, ...]


class HostLineError(ValueError):
    """What is wrong with one field of a line, and what would be right."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(problem)
        self.field = field


def hosts_data_version(folder: Path = DATA) -> str:
    """Return the digest of the files; the same text gives the same on every machine."""
    return digest_of_csv(folder, LOADER_VERSION)


def read_hosts(folder: Path = DATA) -> HostFiles:
    """Read and check all files. Raises CuratedDataError naming every file, line and field that is wrong."""
    problems: list[str] = []
    reader = HostLineReader(slugs_of("vendors.csv"), slugs_of("accelerators.csv"))
    hosts = tuple(_lines(folder / "hosts.csv", HOST_HEADER, reader.host, problems))
    cards = tuple(_lines(folder / "cards.csv", CARD_HEADER, reader.card, problems))
    components = tuple(_lines(folder / "components.csv", COMPONENT_HEADER, reader.component, problems))
    problems += _problems_of_same_machines(folder / "hosts.csv", reader.hosts)
    without_cards = {line.slug for line in hosts} - {line.host for line in cards}
    problems += [f"cards.csv:1: host: {slug} has no card: add a line for it" for slug in sorted(without_cards)]
    if problems:
        raise CuratedDataError(problems)
    return HostFiles(hosts_data_version(folder), hosts, cards, components)


def _problems_of_same_machines(path: Path, slugs: Collection[str]) -> Iterator[str]:
    rows = [(number, row[0], row[-1]) for number, row in numbered_rows(path, path.name, HOST_HEADER, [])]
    same = {slug: named for _number, slug, named in rows}
    for number, slug, _named in rows:
        if problem := problem_of_same_machine(slug, same, slugs):
            yield f"{path.name}:{number}: same_machine_as: {problem}"


def _lines(
    path: Path, header: list[str], read: Callable[[dict[str, str]], Line], problems: list[str]
) -> Iterator[Line]:
    for number, row in numbered_rows(path, path.name, header, problems):
        try:
            yield read(dict(zip(header, row, strict=True)))
        except HostLineError as error:
            problems.append(f"{path.name}:{number}: {error.field}: {error}")


@cache
def slugs_of(name: str) -> frozenset[str]:
    """Return the slugs of one of the catalogue's own files."""
    with (CATALOGUE / name).open(encoding="utf-8", newline="") as file:
        return frozenset(line["slug"] for line in csv.DictReader(file))


class HostLineReader:
    """Reads lines of the three tables, of files or of an uploaded table; remembers the hosts it has read.

    `vendors` and `accelerators`: the slugs that lines may name; `hosts`: hosts that are described elsewhere.
    """

    def __init__(self, vendors: Collection[str], accelerators: Collection[str], hosts: Collection[str] = ()) -> None:
        self.vendors, self.accelerators = vendors, accelerators
        self.hosts = set(hosts)
        self.keys: set[tuple[str, ...]] = set()

    def host(self, cells: dict[str, str]) -> HostLine:
        """Return the host with these cells. Raises HostLineError."""
        self.hosts.add(cells["host"])  # even if its line is wrong: one problem, not one for each card
        _check_texts(cells, Host, cells["source_url"])
        _check_slug(cells["host"])
        self._check_once("host", cells["host"])
        _check_given(cells, "title", "vendor", "source_kind")
        _check_slug_is_known("vendor", cells["vendor"], self.vendors)
        for field, choices in _CHOICES.items():
            _check_choice(field, cells[field], choices.values)
        if problem := problem_of_address(cells["source_url"]):
            raise HostLineError("source_url", problem)
        return HostLine(
            slug=cells["host"],
            title=cells["title"],
            vendor=cells["vendor"],
            form=cells["form"],
            system=cells["system"],
            kernel=cells["kernel"],
            cpu=cells["cpu"],
            cpu_cores=_whole(cells, "cpu_cores"),
            memory_bytes=_whole(cells, "memory_bytes"),
            virtualisation=cells["virtualisation"],
            seen_on=_day(cells["seen_on"]),
            is_month_only=len(cells["seen_on"]) == len("2026-07"),
            source_url=cells["source_url"],
            source_kind=cells["source_kind"],
            note=cells["note"],
            teaches=cells["teaches"],
            same_machine_as=cells["same_machine_as"],
        )

    def card(self, cells: dict[str, str]) -> CardLine:
        """Return the card with these cells. Raises HostLineError."""
        _check_texts(cells, HostCard)
        self._check_host(cells["host"])
        _check_given(cells, "reported_name")
        if cells["accelerator"]:
            _check_slug_is_known("accelerator", cells["accelerator"], self.accelerators)
        index = _number("index", cells["index"], 0, MOST_CARDS)
        self._check_once("index", cells["host"], str(index))
        return CardLine(
            host=cells["host"],
            index=index,
            reported_name=cells["reported_name"],
            accelerator=cells["accelerator"],
            memory_bytes=_whole(cells, "memory_bytes"),
            driver_version=cells["driver_version"],
            power_limit_w=_watts(cells["power_limit_w"]),
            pcie_generation=_whole(cells, "pcie_generation"),
            pcie_lanes=_whole(cells, "pcie_lanes"),
            compute_capability=cells["compute_capability"],
            gpu_cores=_whole(cells, "gpu_cores"),
        )

    def component(self, cells: dict[str, str]) -> ComponentLine:
        """Return the component or fact with these cells. Raises HostLineError."""
        _check_texts(cells, HostComponent)
        self._check_host(cells["host"])
        if not is_software_name(cells["name"]):
            problem = _("unknown %(name)r: give a component or fact of a report, or add it to hosts/software.py")
            raise HostLineError("name", problem % {"name": cells["name"][:60]})
        _check_truth(cells)
        _check_given(cells, "state")
        _check_choice("state", cells["state"], HostComponent.State.values)
        if (cells["state"] == "installed") != bool(cells["value"]):
            raise HostLineError(
                "value", _("give one where the state is installed, and none where it is absent or unknown")
            )
        self._check_once("name", cells["host"], cells["name"])
        return ComponentLine(**cells)

    def _check_host(self, slug: str) -> None:
        if slug not in self.hosts:
            raise HostLineError("host", _("unknown %(name)r: add it to hosts.csv") % {"name": slug[:80]})

    def _check_once(self, field: str, *key: str) -> None:
        if (field, *key) in self.keys:
            raise HostLineError(field, _("duplicate %(key)s: keep one of the lines") % {"key": "/".join(key)})
        self.keys.add((field, *key))


def _check_texts(cells: dict[str, str], model: type[Host | HostCard | HostComponent], source_url: str = "") -> None:
    """Refuse texts that are too long, have control characters, or say whose machine it is."""
    for name, cell in cells.items():
        try:
            is_readable(cell)
        except ValidationError as error:
            raise HostLineError(name, " ".join(error.messages)) from error
        longest = _longest(model, name)
        if longest and len(cell) > longest:
            raise HostLineError(name, _("longer than %(n)d characters") % {"n": longest})
        if name in ("host", "source_url"):
            continue
        if private := private_part_of(cell, source_url, is_version=name in _VERSIONS):
            raise HostLineError(name, _("holds %(what)s: remove it, nothing may say whose it is") % {"what": private})


def _longest(model: type[Host | HostCard | HostComponent], name: str) -> int | None:
    """Return how long a text of this column may be; None for numbers and links to other rows."""
    if name == "host":
        model, name = Host, "slug"
    return getattr(model._meta.get_field(name), "max_length", None)  # noqa: SLF001 - Django's documented API


def _check_given(cells: dict[str, str], *names: str) -> None:
    for name in names:
        if not cells[name]:
            raise HostLineError(name, _("missing"))


def _check_truth(cells: dict[str, str]) -> None:
    """A fact that is true or false is written yes or no; other facts are texts."""
    fact = FACTS.get(cells["name"])
    if fact is None or not cells["value"] or fact.kind == FactType.TEXT:
        return
    if fact.kind != FactType.TRUTH:
        problem = _("%(name)r is a number, which belongs to the host or its card")
        raise HostLineError("name", problem % {"name": cells["name"]})
    _check_choice("value", cells["value"], ("yes", "no"))


def _check_slug(slug: str) -> None:
    try:
        is_slug(slug)
    except ValidationError as error:
        raise HostLineError("host", " ".join(error.messages)) from error


def _check_slug_is_known(field: str, slug: str, known: Collection[str]) -> None:
    if slug not in known:
        raise HostLineError(field, _("%(slug)r is not in the catalogue: give a slug it has") % {"slug": slug[:80]})


def _check_choice(field: str, text: str, choices: Collection[str]) -> None:
    if text and text not in choices:
        named = {"choices": ", ".join(choices), "text": text[:40]}
        raise HostLineError(field, _("must be one of %(choices)s, not %(text)r") % named)


def _number(field: str, text: str, least: int, most: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 20 and least <= int(text) <= most):
        named = {"least": least, "most": f"{most:,}", "text": text[:40]}
        raise HostLineError(field, _("must be a whole number from %(least)d to %(most)s, not %(text)r") % named)
    return int(text)


def _whole(cells: dict[str, str], field: str) -> int | None:
    return _number(field, cells[field], 1, LARGEST[field]) if cells[field] else None


_WATTS = re.compile(r"\d{1,6}(?:\.\d{1,6})?", re.ASCII)


def _watts(text: str) -> float | None:
    if not text:
        return None
    if _WATTS.fullmatch(text) and 1 <= (watts := float(text)) <= LARGEST["power_limit_w"]:  # float reads 1_000 too
        return watts
    raise HostLineError("power_limit_w", _("must be watts from 1 to 99,999, not %(text)r") % {"text": text[:40]})


def _day(text: str) -> date:
    """Return the day, or the first one of a month."""
    if not text:
        raise HostLineError("seen_on", _("missing: give the day (2026-07-25) or the month (2026-07) of the source"))
    if not _DAY.fullmatch(text):  # Python reads 20261120 and 2026-W47 too
        raise HostLineError("seen_on", _("must be like 2026-07-25 or 2026-07, not %(text)r") % {"text": text[:40]})
    try:
        day = date.fromisoformat(text if len(text) > len("2026-07") else f"{text}-01")
    except ValueError as error:
        raise HostLineError("seen_on", _("there is no day %(text)s: year, month, day") % {"text": text}) from error
    if day > timezone.now().date() + TIME_ZONES:
        raise HostLineError("seen_on", _("%(text)r is yet to come: give the day of the source") % {"text": text})
    return day
