"""Which hosts are most alike: by accelerator, then family and vendor, then what runs them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from django.db import models
from django.db.models import Case, Exists, OuterRef, Q, QuerySet, When
from django.utils.translation import gettext_lazy as _

from stackviz.records.catalog.models import Accelerator
from stackviz.records.hosts.models import Host, HostCard, HostComponent
from stackviz.records.hosts.queries import public_hosts
from stackviz.records.hosts.reported import system_facts
from stackviz.report.format.systems import family

__all__ = [
    "MOST_ALIKE",
    "HostTraits",
    "Likeness",
    "hosts_that_may_be_alike",
    "likeness",
    "most_alike",
    "traits_of",
]

MOST_ALIKE = 3
MOST_READ = 200  # hosts that may be alike
Key = TypeVar("Key")


class Likeness(models.IntegerChoices):
    """What two hosts share first of all; more is larger."""

    NOTHING = 0, _("nothing")
    VENDOR = 1, _("the same vendor")
    FAMILY = 2, _("the same family of chips")
    ACCELERATOR = 3, _("the same accelerator")


@dataclass(frozen=True, slots=True, kw_only=True)
class HostTraits:
    """What decides how alike two hosts are. `families`: those of its accelerators, or their slugs where they have none.

    `system`: linux, windows or macos, "" where it is not known; `software`: names of components that are there.
    """

    accelerators: frozenset[str]
    families: frozenset[str]
    vendors: frozenset[str]
    cards: int
    system: str = ""
    is_wsl: bool = False
    form: str = ""
    software: frozenset[str] = frozenset()


def traits_of(host: Host) -> HostTraits:
    """Return the traits of a host; no query where its vendor, cards with accelerators and components are loaded."""
    cards = list(host.cards.all())
    sheets = [card.accelerator for card in cards if card.accelerator]
    there = [row.name for row in host.components.all() if row.state != HostComponent.State.ABSENT]
    return HostTraits(
        accelerators=frozenset(sheet.slug for sheet in sheets),
        families=families_of(sheets),
        vendors=frozenset({host.vendor.slug, *(sheet.vendor.slug for sheet in sheets)}),
        cards=len(cards),
        system=family(system_facts(host.system)),
        is_wsl=host.virtualisation == Host.Virtualisation.WSL2,
        form=host.form,
        software=frozenset(there),
    )


def families_of(sheets: Iterable[Accelerator]) -> frozenset[str]:
    """Return the families of these sheets, the slug where one has none."""
    return frozenset(sheet.family or sheet.slug for sheet in sheets)


def likeness(traits: HostTraits, other: HostTraits) -> Likeness:
    """Return the closest that the two share."""
    if traits.accelerators & other.accelerators:
        return Likeness.ACCELERATOR
    if traits.families & other.families:
        return Likeness.FAMILY
    return Likeness.VENDOR if traits.vendors & other.vendors else Likeness.NOTHING


def most_alike(traits: HostTraits, others: Mapping[Key, HostTraits], most: int = MOST_ALIKE) -> list[Key]:
    """Return the keys of the hosts most alike, the first the closest; none that shares not even the vendor.

    Of equal ones the first in `others` comes first.
    """
    ranked = sorted(others, key=lambda key: _closeness(traits, others[key]), reverse=True)
    return [key for key in ranked if likeness(traits, others[key]) > Likeness.NOTHING][:most]


def hosts_that_may_be_alike(traits: HostTraits) -> QuerySet[Host]:
    """Return public hosts that share the vendor at least: MOST_READ, those that share most first, then the newest.

    With vendor, cards and components: three queries.
    """
    cards = HostCard.objects.filter(host=OuterRef("pk"))
    of_family = Q(accelerator__family__in=traits.families) | Q(accelerator__slug__in=traits.families)
    shared = Case(
        When(Exists(cards.filter(accelerator__slug__in=traits.accelerators)), then=Likeness.ACCELERATOR),
        When(Exists(cards.filter(of_family)), then=Likeness.FAMILY),
        When(vendor__slug__in=traits.vendors, then=Likeness.VENDOR),
        default=Likeness.NOTHING,
    )
    alike = public_hosts().alias(shared=shared).filter(shared__gt=Likeness.NOTHING)
    return alike.order_by("-shared", "-seen_on", "slug")[:MOST_READ]


def _closeness(traits: HostTraits, other: HostTraits) -> tuple[int, ...]:
    """Return what is larger for a closer host: hardware first, then the system, then how many components both have."""
    return (
        likeness(traits, other),
        traits.accelerators == other.accelerators,
        traits.cards == other.cards,
        bool(traits.system) and (traits.system, traits.is_wsl) == (other.system, other.is_wsl),
        len(traits.software & other.software),
        bool(traits.form) and traits.form == other.form,
    )
