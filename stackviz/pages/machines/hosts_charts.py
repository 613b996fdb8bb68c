"""The two pictures of the public hosts: which stacks they run, and how near decoding comes to the memory."""

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.utils.translation import gettext as _

from stackviz.base.units import format_number
from stackviz.draw.charts.scatter import DISC, Dot, Iso, Scatter, Spot, place_scatter
from stackviz.draw.colours import hue_of
from stackviz.pages.machines.hosts_query import FACETS_BY_NAME, STACKED, facet_labels, ordered_values
from stackviz.pages.machines.hosts_rows import NOT_REPORTED, HostRow, KnownHosts, MemoryShare
from stackviz.records.cited.words import share_text

VENDORS_DRAWN = ("nvidia", "apple")
GENERATIONS = (
    "Kepler", "Maxwell", "Pascal", "Volta", "Turing", "Ampere", "Ada Lovelace", "Hopper", "Blackwell",
    "Blackwell Ultra", "Rubin",
)  # fmt: skip
MOST_COLUMNS = 9  # the last holds what is not reported
SHADES = (1, 2, 4, 8)  # hosts from which a cell is a shade darker
FEWEST_POINTS = 5
MOST_POINTS = 300  # of the hosts described last: more hide one another
FEWEST_FOR_MEDIAN = 3
GIGA = 1e9


@dataclass(frozen=True, slots=True)
class StackCell:
    """`shade`: from 1, of SHADES; an empty cell has no hosts and no address."""

    count: int
    url: str
    shade: int
    title: str


@dataclass(frozen=True, slots=True)
class StackTable:
    """Hosts of one vendor: a row for each generation of accelerators, a column for each release."""

    vendor: str
    css: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[StackCell, ...]], ...]
    total: int


def stack_tables(known: KnownHosts, by: str) -> list[StackTable]:
    """Return the tables of VENDORS_DRAWN, without those of no host. `by`: a key of STACKED."""
    _title, *facets = STACKED[by]
    tables = [_stack_table(known, vendor, facet) for vendor, facet in zip(VENDORS_DRAWN, facets, strict=True)]
    return [table for table in tables if table.total]


def _stack_table(known: KnownHosts, vendor: str, facet_name: str) -> StackTable:
    facet = FACETS_BY_NAME[facet_name]
    rows = [row for row in known.rows if row.vendor == vendor and row.generation]
    counts = Counter((row.generation, value) for row in rows for value in facet.values(row))
    by_value = Counter(value for row in rows for value in facet.values(row))
    in_order = ordered_values(facet, by_value)
    columns = _columns(in_order if facet.known else in_order[::-1], by_value)
    labels = facet_labels(facet, known)
    generations = sorted({row.generation for row in rows}, key=_age)

    def cell(generation: str, value: str) -> StackCell:
        count = counts[generation, value]
        if not count:
            return StackCell(0, "", 0, "")
        address = urlencode({"vendor": vendor, "generation": generation, facet_name: value})
        title = f"{generation}, {facet.title} {labels.get(value, value)}: {count}"
        return StackCell(count, f"?{address}#hosts", sum(count >= least for least in SHADES), title)

    return StackTable(
        vendor=rows[0].vendor_name if rows else vendor,
        css=hue_of(vendor).css,
        title=str(facet.title),
        columns=tuple(str(labels.get(value, value)) for value in columns),
        rows=tuple((name, tuple(cell(name, value) for value in columns)) for name in generations),
        total=len(rows),
    )


def _columns(ordered: Sequence[str], counts: Counter[str]) -> list[str]:
    """In this order, of too many the most frequent; what is not reported last."""
    stated = [value for value in ordered if value != NOT_REPORTED]
    frequent = set(sorted(stated, key=lambda value: -counts[value])[: MOST_COLUMNS - 1])
    shown = [value for value in stated if value in frequent]
    return [*shown, NOT_REPORTED] if counts[NOT_REPORTED] else shown


def _age(generation: str) -> tuple[int, str]:
    """Newest first."""
    if generation in GENERATIONS:
        return -GENERATIONS.index(generation), generation
    number = generation.removeprefix("M")
    return -int(number) if number.isdecimal() else 1, generation


@dataclass(frozen=True, slots=True)
class MemoryPoint:
    row: HostRow
    spot: Spot
    reads: str
    bandwidth: str
    share: str


@dataclass(frozen=True, slots=True)
class MemoryChart:
    """Each host at its published bandwidth and at what its best decode rate reads of it; MOST_POINTS at most."""

    scatter: Scatter
    points: tuple[MemoryPoint, ...]
    legend: tuple[tuple[str, str, str], ...]


def memory_chart(known: KnownHosts) -> MemoryChart | None:
    """Return the picture; None with fewer than FEWEST_POINTS hosts of which both figures are known."""
    drawn = [(row, row.memory) for row in known.rows if row.memory is not None][:MOST_POINTS]
    if len(drawn) < FEWEST_POINTS:
        return None
    dots = [
        Dot(
            key=row.pk,
            label=row.name,
            x=memory.bandwidth / GIGA,
            y=memory.reads / GIGA,
            hue=hue_of(row.vendor),
            is_hollow=True,
        )
        for row, memory in drawn
    ]
    scatter = place_scatter(dots, "log", "log", [Iso(1.0, _("what the bandwidth allows"), is_bound=True)])
    vendors = {row.css: row.vendor_name for row, _memory in drawn}
    points = [_memory_point(*of_host, spot) for of_host, spot in zip(drawn, scatter.spots, strict=True)]
    return MemoryChart(
        scatter=scatter,
        points=tuple(sorted(points, key=lambda point: -(point.row.memory.share if point.row.memory else 0))),
        legend=tuple((css, DISC, name) for css, name in vendors.items()),
    )


def _memory_point(row: HostRow, memory: MemoryShare, spot: Spot) -> MemoryPoint:
    reads, bandwidth = format_number(memory.reads / GIGA, 3), format_number(memory.bandwidth / GIGA)
    return MemoryPoint(row, spot, reads, bandwidth, share_text(memory.share))


# --- the finding above them ---


def hosts_headline(known: KnownHosts) -> tuple[str, str]:
    """Return what all hosts together show, in words, and what that rests on."""
    medians = {vendor: _shares_of_vendor(known, vendor) for vendor in VENDORS_DRAWN}
    about = _("Each with its stack, its cards and what its owner measured on it, with the link.")
    words = {"hosts": format_number(len(known.rows))}
    if any(len(shares) < FEWEST_FOR_MEDIAN for shares in medians.values()):
        return _("%(hosts)s real machines, as their owners describe them") % words, about
    nvidia, apple = (statistics.median(medians[vendor]) for vendor in VENDORS_DRAWN)
    words |= {"nvidia": f"{nvidia * 100:.0f} %", "apple": f"{apple * 100:.0f} %"}
    finding = _("%(hosts)s real machines: decoding uses %(nvidia)s of an NVIDIA card's bandwidth, %(apple)s of a Mac's")
    counted = _("Medians of %(nvidia)s hosts, each on one NVIDIA card, and of %(apple)s Macs.") % {
        "nvidia": len(medians["nvidia"]),
        "apple": len(medians["apple"]),
    }
    return finding % words, f"{counted} {about}"


def _shares_of_vendor(known: KnownHosts, vendor: str) -> list[float]:
    return [row.memory.share for row in known.rows if row.vendor == vendor and row.memory is not None]
