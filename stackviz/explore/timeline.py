"""The time line: architectures by maker, what each brought, and the figures of its largest product from the catalogue.

`data/timeline.csv` has one statement a line, each with its source; `data/architectures.csv` says which sheets of the
catalogue belong to an architecture. Figures are never typed in here.
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

from stackviz.charts.timeline import Event, Lane, YearMark, timeline
from stackviz.explore.axes import Axis, Catalogue, Figure, Subject
from stackviz.explore.legend import css, vendor_place

DATA = Path(__file__).parent / "data"
# What is shown of a flagship: the first of each that is published.
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
    """One thing said of an architecture, with who says so. `title` is the document's."""

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
    """An architecture as the file names it. `names`: of the field "architecture"; `sheets`: how their slugs begin."""

    vendor: str
    name: str
    names: tuple[str, ...]
    sheets: tuple[str, ...]
    flagship: str

    def has(self, subject: Subject) -> bool:
        if subject.vendor != self.vendor:
            return False
        by_slug = any(subject.slug == start or subject.slug.startswith(f"{start}-") for start in self.sheets)
        return by_slug or subject.architecture in self.names


@dataclass(frozen=True, slots=True)
class FlagshipFigure:
    """A figure of the flagship. `figure` None: not published."""

    label: str
    unit: str
    figure: Figure | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Architecture:
    """One architecture with everything the page says of it.

    `arrived`, `process` None: no source of ours says so; `process_text` is then the flagship's, from the catalogue.
    """

    id: str
    name: str
    year: int
    arrived: Statement | None
    process: Statement | None
    process_text: str
    brought: tuple[Statement, ...]
    sheets: tuple[Subject, ...]
    flagship: Subject | None
    figures: tuple[FlagshipFigure, ...]

    @property
    def first_sheet(self) -> Subject | None:
        """The oldest sheet whose year a source gives."""
        return next((sheet for sheet in self.sheets if sheet.year), None)

    @property
    def sheets_text(self) -> str:
        count = len(self.sheets)
        return ngettext("%(n)d sheet", "%(n)d sheets", count) % {"n": count}


@dataclass(frozen=True, slots=True)
class VendorLane:
    """All architectures of a maker, oldest first, and where the drawing has them."""

    vendor: str
    name: str
    css: str
    architectures: tuple[Architecture, ...]
    lane: Lane


@dataclass(frozen=True, slots=True)
class Page:
    lanes: tuple[VendorLane, ...]
    years: tuple[YearMark, ...]


def assemble(catalogue: Catalogue, vendor: str = "") -> Page:
    """The time line of all makers, or of one; architectures of which nothing sourced is said are left out."""
    axes = [[catalogue.axis(name) for name in names] for names in FIGURES]
    nodes = catalogue.texts(PROCESS)
    names = {subject.vendor: subject.vendor_name for subject in catalogue.subjects}
    said = by_architecture(statements())
    found: dict[str, list[Architecture]] = defaultdict(list)
    for known in architectures():
        own = said.get((known.vendor, known.name), [])
        if own and vendor in ("", known.vendor):
            found[known.vendor].append(_architecture(known, own, catalogue.subjects, axes, nodes))
    for lane in found.values():
        lane.sort(key=lambda architecture: architecture.year)
    events = [[Event(one.id, one.name, one.year) for one in lane] for lane in found.values()]
    drawn = timeline(events)
    lanes = tuple(
        VendorLane(slug, names.get(slug, slug), css(vendor_place(slug)), tuple(own), lane)
        for (slug, own), lane in zip(found.items(), drawn.lanes, strict=True)
    )
    return Page(lanes, drawn.years)


def vendors() -> dict[str, None]:
    """The makers that have a lane, in order."""
    return dict.fromkeys(known.vendor for known in architectures())


def by_architecture(said: Iterable[Statement]) -> dict[tuple[str, str], list[Statement]]:
    """Statements by (vendor, architecture). One without a source is left out: it is not shown."""
    found: dict[tuple[str, str], list[Statement]] = defaultdict(list)
    for statement in said:
        if statement.is_sourced:
            found[statement.vendor, statement.architecture].append(statement)
    return found


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
    said: Sequence[Statement],
    subjects: Sequence[Subject],
    axes: Sequence[Sequence[Axis]],
    nodes: Mapping[int, str],
) -> Architecture:
    sheets = sorted((one for one in subjects if known.has(one)), key=lambda one: (one.year or 9999, one.name))
    flagship = next((one for one in sheets if one.slug == known.flagship), None)
    by_kind = {kind: [statement for statement in said if statement.says == kind] for kind in SAYS}
    return Architecture(
        id=slugify(f"{known.vendor} {known.name}"),
        name=known.name,
        year=min(statement.year for statement in said),
        arrived=next(iter(by_kind["arrived"]), None),
        process=next(iter(by_kind["process"]), None),
        process_text=nodes.get(flagship.pk, "") if flagship else "",
        brought=tuple(by_kind["brought"]),
        sheets=tuple(sheets),
        flagship=flagship,
        figures=_figures(flagship, axes) if flagship else (),
    )


def _figures(flagship: Subject, axes: Sequence[Sequence[Axis]]) -> tuple[FlagshipFigure, ...]:
    chosen = []
    for several in axes:
        possible = [axis for axis in several if axis.applies_to(flagship)]
        published = [axis for axis in possible if flagship.pk in axis.figures]
        chosen += (published or possible)[:1]
    return tuple(
        FlagshipFigure(axis.measure.title, axis.measure.unit, axis.figures.get(flagship.pk)) for axis in chosen
    )
