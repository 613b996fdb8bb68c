"""Related products: same chip, variants of one design, previous and next generation.

The chip and the family are published; generations follow from product names, read by the patterns of LINES.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from stackviz.base.units import unit_label
from stackviz.records.catalog.fields import FIELDS
from stackviz.records.catalog.figures import for_people, in_unit_of, join_variants, usual_values
from stackviz.records.catalog.models import Accelerator
from stackviz.records.catalog.queries import PublicCatalogue

UNITS = ("sm_count", "gpu_cores")  # the first that both publish tells which has parts switched off
MOST = 24  # rows; the chip of the RTX 3090 stands in nine products

# A product line: what is the same in all its names, and `gen`, what tells generations apart: a number, or one of the
# names that follow in order. Groups but `gen` name the place in the line: 90, 80 Ti.
_LINES: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        (
            r"NVIDIA GeForce [GR]TX (?P<gen>\d{1,2})(?P<tier>\d0)(?P<more> Ti SUPER| Ti| SUPER|)(?! Ti| SUPER)\b"
            r"(?:.*(?P<build>Laptop|Max-Q))?"
        ),
        (),
    ),
    (r"NVIDIA (?:Tesla )?(?P<gen>[PVAHB])100 (?P<form>SXM|PCIe)", ("P", "V", "A", "H", "B")),
    (r"NVIDIA (?P<grace>G?)(?P<gen>H200|B200|B300)(?: SXM| \()", ("H200", "B200", "B300")),
    (r"NVIDIA (?:Tesla )?(?P<gen>[PTL])4$", ("P", "T", "L")),
    (r"NVIDIA (?:Tesla )?(?P<gen>[MPAL])40\b", ("M", "P", "A", "L")),
    (
        r"NVIDIA (?P<gen>Quadro RTX|RTX A|RTX(?= \d+ Ada)|RTX PRO) ?(?P<tier>[2-8][05]00)\b",
        ("Quadro RTX", "RTX A", "RTX", "RTX PRO"),
    ),
    (r"NVIDIA Jetson AGX (?P<gen>Xavier|Orin|Thor)", ("Xavier", "Orin", "Thor")),
    (r"NVIDIA Jetson (?P<gen>Xavier|Orin) NX", ("Xavier", "Orin")),
    (r"NVIDIA Jetson (?P<gen>Nano|Orin Nano)\b", ("Nano", "Orin Nano")),
    (r"Apple (?P<letter>[MA])(?P<gen>\d+)(?P<tier> Pro| Max| Ultra|)(?: Bionic)?(?: \(|$)", ()),
    (r"AMD Instinct MI(?P<gen>\d+)X\b", ()),
    (r"Google TPU(?: v)?(?P<gen>[2-57])[px]?\b", ()),
    (r"Google TPU v(?P<gen>\d)e\b", ()),
    (r"Intel Gaudi (?P<gen>\d)$", ()),
    (r"Cerebras WSE-(?P<gen>\d)\b", ()),
    (r"AWS Trainium(?P<gen>\d*)$", ()),
)
LINES = tuple((re.compile(pattern), generations) for pattern, generations in _LINES)


@dataclass(frozen=True, slots=True)
class _LinePosition:
    """A product's place in its line: products that differ only in `generation` follow each other."""

    line: int
    tier: tuple[str, ...]
    generation: int


@lru_cache(maxsize=1024)
def line_position(name: str) -> _LinePosition | None:
    """The position of a product in its vendor's line; None if the name matches no known line."""
    for number, (pattern, generations) in enumerate(LINES):
        match = pattern.match(name)
        if match is None:
            continue
        parts = match.groupdict()
        generation_name = parts.pop("gen")
        if generations and generation_name not in generations:
            continue
        generation = (
            generations.index(generation_name) if generations else int(generation_name or 1)
        )  # the first often has no number
        return _LinePosition(number, tuple(parts.values()), generation)
    return None


def relatives(accelerator: Accelerator, catalogue: PublicCatalogue) -> list[tuple[Accelerator, str, list[str]]]:
    """Return the related public products: same chip first, then variants, then previous and next generation."""
    others = [
        other
        for other in catalogue.accelerators
        if other.vendor_id == accelerator.vendor_id and other.pk != accelerator.pk
    ]
    related = [
        *_of_laptops(accelerator, others),
        *_of_chip(accelerator, others, catalogue),
        *_of_family(accelerator, others),
        *_of_line(accelerator, others),
    ]
    first: dict[int, tuple[Accelerator, str]] = {}
    for other, relation in related:
        first.setdefault(other.pk, (other, relation))
    return [(other, relation, _main_figures(other, catalogue)) for other, relation in list(first.values())[:MOST]]


def _main_figures(item: Accelerator, catalogue: PublicCatalogue) -> list[str]:
    """Return units, memory and bandwidth; "" for what is not published."""
    units = _text(item, "sm_count", catalogue) or _text(item, "gpu_cores", catalogue)
    return [units, _text(item, "memory_gb", catalogue), _text(item, "memory_bandwidth_gb_s", catalogue)]


def _of_chip(
    accelerator: Accelerator, others: Iterable[Accelerator], catalogue: PublicCatalogue
) -> list[tuple[Accelerator, str]]:
    """Products with the same die, the most complete first; cut-down ones are marked as such."""
    chips = _chips(accelerator, catalogue)
    units = {other.pk: _units(other, catalogue) for other in others if chips & _chips(other, catalogue)}
    mine = _units(accelerator, catalogue)

    def order(other: Accelerator) -> tuple[float, str]:
        return -max(units[other.pk].values(), default=0.0), other.name

    same = sorted((other for other in others if other.pk in units), key=order)
    return [(other, _chip_relation(mine, units[other.pk])) for other in same]


def _chips(accelerator: Accelerator, catalogue: PublicCatalogue) -> set[str]:
    return {value.value for value in catalogue.preferred(accelerator.pk, "chip")}


def _units(accelerator: Accelerator, catalogue: PublicCatalogue) -> dict[str, float]:
    return {
        name: value.amount
        for name in UNITS
        for value in catalogue.preferred(accelerator.pk, name)
        if value.amount is not None and not value.condition
    }


def _chip_relation(mine: Mapping[str, float], theirs: Mapping[str, float]) -> str:
    name = next((name for name in UNITS if name in mine and name in theirs), None)
    if name is None:
        return _("same chip")
    if theirs[name] == mine[name]:
        return _("same chip, same number of units")
    return _("same chip, fewer units") if theirs[name] < mine[name] else _("same chip, more units")


# What the name of a variant says of where it is built into, the more precise first.
_BUILDS = ((" Max-Q", gettext_lazy("Max-Q version")), (" Laptop", gettext_lazy("laptop version")))


def _build(accelerator: Accelerator) -> str:
    """`laptop version`; "" for a card that is not for laptops alone."""
    return next((str(words) for sign, words in _BUILDS if sign in accelerator.name), "")


def desktop_version(accelerator: Accelerator, catalogue: PublicCatalogue) -> tuple[Accelerator, str, str] | None:
    """(the desktop card that a laptop card is named after, its power, own power); "" is not published.

    Its namesake, or else the one with the most memory; None for what is no version for laptops.
    """
    if not _build(accelerator):
        return None
    same_vendor = (other for other in catalogue.accelerators if other.vendor_id == accelerator.vendor_id)
    desktops = [other for other in _family(accelerator, same_vendor) if not _build(other)]
    if not desktops:
        return None
    namesake = max(
        desktops,
        key=lambda other: (accelerator.name.startswith(f"{other.name} "), _memory(other, catalogue), other.slug),
    )
    return namesake, _text(namesake, "tdp_w", catalogue), _text(accelerator, "tdp_w", catalogue)


def _of_laptops(accelerator: Accelerator, others: Iterable[Accelerator]) -> list[tuple[Accelerator, str]]:
    """Variants for laptops of a desktop card, and the other way round: the same name stands for another product."""
    mine = _build(accelerator)
    return [
        (other, _build(other) or _("desktop version"))
        for other in sorted(_family(accelerator, others), key=lambda other: (bool(_build(other)), other.name))
        if _build(other) != mine
    ]


def _of_family(accelerator: Accelerator, others: Iterable[Accelerator]) -> list[tuple[Accelerator, str]]:
    """Other variants of one design, as the catalogue's files name the family."""
    return [(other, _("other variant")) for other in _family(accelerator, others)]


def _family(accelerator: Accelerator, others: Iterable[Accelerator]) -> list[Accelerator]:
    """Those of `others` that share its family; none where it has none."""
    return [other for other in others if accelerator.family and other.family == accelerator.family]


def _of_line(accelerator: Accelerator, others: Sequence[Accelerator]) -> list[tuple[Accelerator, str]]:
    """Previous and next generation in the vendor's line; each may be several products."""
    before, after = _generations(accelerator, others)
    return [
        *((other, _("previous generation")) for other in before),
        *((other, _("next generation")) for other in after),
    ]


def _generations(
    accelerator: Accelerator, others: Iterable[Accelerator]
) -> tuple[list[Accelerator], list[Accelerator]]:
    """The products of the generation before it in its vendor's line, and of the one after it."""
    position = line_position(accelerator.name)
    by_generation: dict[int, list[Accelerator]] = {}
    for other in others:
        sibling = line_position(other.name)
        if position and sibling and (sibling.line, sibling.tier) == (position.line, position.tier):
            by_generation.setdefault(sibling.generation, []).append(other)
    mine = position.generation if position else 0
    before = max((generation for generation in by_generation if generation < mine), default=None)
    after = min((generation for generation in by_generation if generation > mine), default=None)
    return (
        by_generation[before] if before is not None else [],
        by_generation[after] if after is not None else [],
    )


def predecessor(accelerator: Accelerator, catalogue: PublicCatalogue) -> Accelerator | None:
    """The product before it in its vendor's line; of several the one with its share of units, then of memory."""
    others = [other for other in catalogue.accelerators if other.vendor_id == accelerator.vendor_id]
    position = line_position(accelerator.name)
    before, _after = _generations(accelerator, others)
    if not before:
        return None

    def units(item: Accelerator) -> float:
        return max(_units(item, catalogue).values(), default=0.0)

    level = [other for other in others if line_position(other.name) == position]
    wanted = (max if units(accelerator) >= max(map(units, level)) else min)(map(units, before))
    return min(
        before,
        key=lambda item: (
            units(item) != wanted,
            abs(_memory(item, catalogue) - _memory(accelerator, catalogue)),
            item.name,
        ),
    )


def _memory(item: Accelerator, catalogue: PublicCatalogue) -> float:
    """Bytes, of the largest size; 0 where none is published."""
    return max((value.amount or 0.0 for value in catalogue.preferred(item.pk, "memory_gb")), default=0.0)


def _text(item: Accelerator, name: str, catalogue: PublicCatalogue) -> str:
    """`450 W`, of several sizes `6 / 12 GB`; "" where none is published."""
    usual = usual_values(FIELDS[name], catalogue.preferred(item.pk, name))
    if len(usual) == 1:
        return for_people(usual[0]).label
    number = join_variants([in_unit_of(FIELDS[name], value).text for value in usual])
    return f"{number} {unit_label(FIELDS[name].unit)}".rstrip() if number else ""
