"""Public hosts like the reader's machine: a small form, ranked by `records.hosts.alike`."""

from dataclasses import dataclass

from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from stackviz.pages.machines.hosts_rows import HostRow, KnownHosts
from stackviz.records.catalog.models import Accelerator
from stackviz.records.catalog.queries import public_catalogue
from stackviz.records.hosts.alike import (
    HostTraits,
    families_of,
    hosts_that_may_be_alike,
    likeness,
    most_alike,
    traits_of,
)
from stackviz.records.stacks.rule_tables import rule_tables
from stackviz.report.rules.drivers import driver_branch
from stackviz.report.rules.versions import major_minor, numbers
from stackviz.web.http.address import AddressReader, Note

ACCELERATOR, SYSTEM, DRIVER, TORCH = "like", "like_system", "like_driver", "like_torch"
LIKE_PARAMETERS = frozenset({ACCELERATOR, SYSTEM, DRIVER, TORCH})
LIKE_SYSTEMS = {"linux": "Linux", "wsl2": "WSL2", "windows": "Windows", "macos": "macOS"}
MOST_LIKE = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class MyMachine:
    """What the reader says of a machine. `driver`: a branch of NVIDIA's driver; `torch`: `2.8`; "" where not given."""

    accelerator: Accelerator
    system: str = ""
    driver: str = ""
    torch: str = ""

    @property
    def traits(self) -> HostTraits:
        return HostTraits(
            accelerators=frozenset({self.accelerator.slug}),
            families=families_of([self.accelerator]),
            vendors=frozenset({self.accelerator.vendor.slug}),
            cards=1,
            system="linux" if self.system == "wsl2" else self.system,
            is_wsl=self.system == "wsl2",
            software=frozenset({"pytorch"} if self.torch else ()),
        )


def read_my_machine(parameters: QueryDict) -> tuple[MyMachine | None, tuple[Note, ...]]:
    """Return the machine of the form; None where no accelerator is given, or an unknown one, which the notes say."""
    reader, sheets = AddressReader(parameters), public_catalogue().by_slug
    slug = reader.choice(ACCELERATOR, sheets, _("accelerator"))
    system = reader.choice(SYSTEM, LIKE_SYSTEMS, _("system"))
    driver = reader.parsed(DRIVER, _version_or_none, gettext_lazy("“%(value)s” is not a version"))
    torch = reader.parsed(TORCH, _version_or_none, gettext_lazy("“%(value)s” is not a version"))
    mine = None
    if slug:
        mine = MyMachine(
            accelerator=sheets[slug],
            system=system,
            driver=_branch(driver or "", system),
            torch=major_minor(torch or ""),
        )
    return mine, reader.notes(frozenset(parameters))


def _version_or_none(text: str) -> str | None:
    return text if numbers(text) else None


def _branch(driver: str, system: str) -> str:
    platform = "windows" if system in ("windows", "wsl2") else "linux"
    return driver and (driver_branch(rule_tables(), driver, platform) or str(numbers(driver)[0]))


def hosts_like(known: KnownHosts, mine: MyMachine, most: int = MOST_LIKE) -> list[tuple[HostRow, str]]:
    """Return the hosts most alike, each with what is the same; of equal ones those with the same driver and PyTorch.

    Three queries.
    """
    hosts = {host.slug: traits_of(host) for host in hosts_that_may_be_alike(mine.traits)}
    rows = [known.by_slug[slug] for slug in hosts if slug in known.by_slug]
    rows.sort(key=lambda row: -len(_same_software(row, mine)))
    closest = most_alike(mine.traits, {row.slug: hosts[row.slug] for row in rows}, most)
    return [(known.by_slug[slug], _what_is_the_same(known.by_slug[slug], hosts[slug], mine)) for slug in closest]


def _what_is_the_same(row: HostRow, traits: HostTraits, mine: MyMachine) -> str:
    ours = mine.traits
    words = [str(likeness(ours, traits).label)]
    if ours.system and (ours.system, ours.is_wsl) == (traits.system, traits.is_wsl):
        words.append(LIKE_SYSTEMS[mine.system])
    return " · ".join([*words, *_same_software(row, mine)])


def _same_software(row: HostRow, mine: MyMachine) -> list[str]:
    same = [_("driver %(branch)s") % {"branch": mine.driver}] if mine.driver and mine.driver == row.driver else []
    return [*same, f"PyTorch {mine.torch}"] if mine.torch and mine.torch == row.torch else same


def accelerators_of_hosts(known: KnownHosts, mine: MyMachine | None) -> list[tuple[str, str]]:
    """(slug, name) of the accelerators that hosts have, and of the reader's, by name."""
    slugs = {slug for row in known.rows for slug in row.accelerators}
    if mine is not None:
        slugs.add(mine.accelerator.slug)
    sheets = public_catalogue().by_slug
    return sorted(((slug, sheets[slug].name) for slug in slugs if slug in sheets), key=lambda pair: pair[1].casefold())
