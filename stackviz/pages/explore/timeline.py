"""The timeline: architectures by vendor, what each introduced, and the figures of its largest product.

`data/timeline.csv` has one statement per line, each with its source; `data/architectures.csv` maps spec sheets to
architectures. All figures come from the catalogue.
"""

import csv
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from urllib.parse import urlsplit

from django.utils.text import slugify
from django.utils.translation import ngettext

from stackviz.draw.charts.timeline import Event, Lane, place_timeline
from stackviz.draw.colours import hue_of
from stackviz.pages.explore.axes import PlotData
from stackviz.pages.explore.measures import Axis, AxisFigure, PlottedAccelerator

DATA = Path(__file__).parent / "data"
# Figures of a flagship: of each group, the first that is published.
FIGURES = (
    ("memory_bandwidth_gb_s",),
    ("fp16_tensor_tflops", "bf16_tensor_tflops", "fp16_tflops", "int8_tensor_tops"),
    ("fp32_tflops",),
)
FIELDS = tuple(name for names in FIGURES for name in names)
PROCESS = "process_node"
SAYS = ("arrived", "process", "brought")


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One statement about an architecture with its source. `title`: of the document."""

    vendor: str
    architecture: str
    says: str
    year: int
    text: str
    title: str
    url: str

    @property
    def is_sourced(self) -> bool:
        return bool(self.title) and urlsplit(self.url).scheme in ("http", "https")


@dataclass(frozen=True, slots=True)
class NamedArchitecture:
    """A line of architectures.csv. `names`: values of the field "architecture"; `sheets`: prefixes of slugs."""

    vendor: str
    name: str
    names: tuple[str, ...]
    sheets: tuple[str, ...]
    flagship: str

    def has(self, subject: PlottedAccelerator) -> bool:
        if subject.vendor != self.vendor:
            return False
        by_slug = any(subject.slug == start or subject.slug.startswith(f"{start}-") for start in self.sheets)
        return by_slug or subject.architecture in self.names


@dataclass(frozen=True, slots=True, kw_only=True)
class Architecture:
    """One architecture as the page shows it.

    `arrived`, `process`: None where no source states it; `process_text` is then the flagship's, from the catalogue.
    """

    id: str
    name: str
    year: int
    arrived: Statement | None
    process: Statement | None
    process_text: str
    brought: tuple[Statement, ...]
    sheets: tuple[PlottedAccelerator, ...]
    flagship: PlottedAccelerator | None
    figures: tuple[tuple[Axis, AxisFigure | None], ...]

    @property
    def first_sheet(self) -> PlottedAccelerator | None:
        """The oldest accelerator whose year a source gives."""
        return next((sheet for sheet in self.sheets if sheet.year), None)

    @property
    def sheets_text(self) -> str:
        count = len(self.sheets)
        return ngettext("%(n)d spec sheet", "%(n)d spec sheets", count) % {"n": count}


@dataclass(frozen=True, slots=True)
class VendorLane:
    """All architectures of a vendor, oldest first, and their positions in the chart."""

    vendor: str
    name: str
    css: str
    architectures: tuple[Architecture, ...]
    lane: Lane


def assemble_timeline(
    catalogue: PlotData, vendor: str = ""
) -> tuple[tuple[VendorLane, ...], tuple[tuple[int, str], ...]]:
    """Return lanes and years, of all vendors or of one; architectures without a sourced statement are left out."""
    axes = [[catalogue.axis(name) for name in names] for names in FIGURES]
    nodes = catalogue.texts(PROCESS)
    names = {subject.vendor: subject.vendor_name for subject in catalogue.subjects}
    sourced = by_architecture(statements())
    by_vendor: dict[str, list[Architecture]] = defaultdict(list)
    for known in architectures():
        statements_of = sourced.get((known.vendor, known.name), [])
        if statements_of and vendor in ("", known.vendor):
            by_vendor[known.vendor].append(_architecture(known, statements_of, catalogue.subjects, axes, nodes))
    for lane in by_vendor.values():
        lane.sort(key=lambda architecture: architecture.year)
    events = [[Event(item.id, item.name, item.year) for item in lane] for lane in by_vendor.values()]
    drawn = place_timeline(events)
    lanes = tuple(
        VendorLane(slug, names.get(slug, slug), hue_of(slug).css, tuple(items), lane)
        for (slug, items), lane in zip(by_vendor.items(), drawn.lanes, strict=True)
    )
    return lanes, drawn.years


def timeline_vendors() -> dict[str, None]:
    """Slugs of the vendors that have a lane, in order."""
    return dict.fromkeys(known.vendor for known in architectures())


def by_architecture(lines: Iterable[Statement]) -> dict[tuple[str, str], list[Statement]]:
    """Statements by (vendor, architecture), without those that have no source."""
    grouped: dict[tuple[str, str], list[Statement]] = defaultdict(list)
    for statement in lines:
        if statement.is_sourced:
            grouped[statement.vendor, statement.architecture].append(statement)
    return grouped


@lru_cache(maxsize=1)
def statements() -> tuple[Statement, ...]:
    """All lines of the file. Raises ValueError, naming the line, for one that cannot be read."""
    rows = enumerate(_rows("timeline.csv"), 2)
    return tuple(_statement(number, row) for number, row in rows)


def _statement(number: int, row: Mapping[str, str]) -> Statement:
    if row["says"] not in SAYS or not row["year"].isdecimal() or not row["text"]:
        raise ValueError(f"timeline.csv, line {number}: says one of {', '.join(SAYS)} in a year, in words; got {row}")
    return Statement(
        vendor=row["vendor"],
        architecture=row["architecture"],
        says=row["says"],
        year=int(row["year"]),
        text=row["text"],
        title=row["source_title"],
        url=row["source_url"],
    )


@lru_cache(maxsize=1)
def architectures() -> tuple[NamedArchitecture, ...]:
    return tuple(
        NamedArchitecture(
            vendor=row["vendor"],
            name=row["architecture"],
            names=tuple(filter(None, row["catalogue_names"].split(";"))),
            sheets=tuple(filter(None, row["sheets"].split(";"))),
            flagship=row["flagship"],
        )
        for row in _rows("architectures.csv")
    )


def _rows(name: str) -> list[dict[str, str]]:
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _architecture(
    known: NamedArchitecture,
    sourced: Sequence[Statement],
    subjects: Sequence[PlottedAccelerator],
    axes: Sequence[Sequence[Axis]],
    nodes: Mapping[int, str],
) -> Architecture:
    sheets = sorted(filter(known.has, subjects), key=lambda sheet: (sheet.year or 9999, sheet.name))
    flagship = next((sheet for sheet in sheets if sheet.slug == known.flagship), None)
    by_kind = {kind: [statement for statement in sourced if statement.says == kind] for kind in SAYS}
    return Architecture(
        id=slugify(f"{known.vendor} {known.name}"),
        name=known.name,
        year=min(statement.year for statement in sourced),
        arrived=next(iter(by_kind["arrived"]), None),
        process=next(iter(by_kind["process"]), None),
        process_text=nodes.get(flagship.pk, "") if flagship else "",
        brought=tuple(by_kind["brought"]),
        sheets=tuple(sheets),
        flagship=flagship,
        figures=_figures(flagship, axes) if flagship else (),
    )


def _figures(
    flagship: PlottedAccelerator, axes: Sequence[Sequence[Axis]]
) -> tuple[tuple[Axis, AxisFigure | None], ...]:
    """Figures of the flagship with their axes; None for one that is not published."""
    chosen = []
    for several in axes:
        possible = [axis for axis in several if axis.applies_to(flagship)]
        published = [axis for axis in possible if flagship.pk in axis.figures]
        chosen += (published or possible)[:1]
    return tuple((axis, axis.figures.get(flagship.pk)) for axis in chosen)
