"""The scatter: all public accelerators by two measures, a third as size; those without a value are counted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from stackviz.charts.labels import Label
from stackviz.charts.scale import ScaleKind, spans_decades
from stackviz.charts.scatter import (
    MIDDLE_SIZE,
    SHAPES,
    SIZES,
    AxisWords,
    Dot,
    Iso,
    IsoLine,
    Mark,
    iso_ratios,
    place_scatter,
    scatter_figure,
    size_steps,
)
from stackviz.charts.vendors import css
from stackviz.explore.axes import Axis, AxisFigure, Measure, PlotData, PlottedAccelerator
from stackviz.explore.ladder import Unranked, filter_accelerators, joined_text, undated_texts, without_text
from stackviz.explore.legend import LegendEntry, legend, slot_of
from stackviz.explore.selection import NO_SIZE, ScatterChoice
from stackviz.units import format_number, format_quantity

# The unit of a quotient: (base unit above, base unit below) -> text after the number.
RATIOS: Mapping[tuple[str, str], str] = {
    ("FLOP/s", "B/s"): "FLOP/B",
    ("op/s", "B/s"): "op/B",
    ("FLOP/s", "W"): "/W",
    ("op/s", "W"): "/W",
    ("B/s", "W"): "/W",
    ("FLOP/s", "USD"): "/USD",
    ("op/s", "USD"): "/USD",
    ("B/s", "USD"): "/USD",
    ("B", "USD"): "/USD",
}

# Values with a larger ratio get a logarithmic axis; on a linear one most points would crowd in a corner.
LOG_RATIO = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ScatterPoint:
    """One accelerator in the plot and in the table below it. `mark`: id of its shape at its size."""

    subject: PlottedAccelerator
    x: AxisFigure
    y: AxisFigure
    size: AxisFigure | None
    left: str
    top: str
    mark: str
    css: str
    words: str


@dataclass(frozen=True, slots=True)
class MarkShape:
    """A shape at one size, defined once in the SVG."""

    id: str
    path: str
    scale: str


@dataclass(frozen=True, slots=True)
class SizeEntry:
    """An entry of the legend of sizes."""

    path: str
    scale: str
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScatterPlot:
    """Everything the page shows. `size` None: all points have the same size. `points`: the highest first."""

    x: Axis
    y: Axis
    size: Axis | None
    points: tuple[ScatterPoint, ...]
    shapes: tuple[MarkShape, ...]
    labels: tuple[Label, ...]
    x_marks: tuple[Mark, ...]
    y_marks: tuple[Mark, ...]
    lines: tuple[IsoLine, ...]
    legend: tuple[LegendEntry, ...]
    sizes: tuple[SizeEntry, ...]
    unplaced: tuple[Unranked, ...]
    notes: tuple[str, ...]
    x_kind: ScaleKind
    y_kind: ScaleKind
    ratio: str

    @property
    def title(self) -> str:
        return _("%(y)s against %(x)s") % {"y": self.y.title, "x": self.x.title}

    @property
    def count_text(self) -> str:
        count = len(self.points)
        return ngettext("%(n)d accelerator", "%(n)d accelerators", count) % {"n": count}

    @property
    def unplaced_count(self) -> int:
        return sum(group.count for group in self.unplaced)

    @property
    def unplaced_text(self) -> str:
        return without_text(self.unplaced_count)


def draw_scatter(catalogue: PlotData, choice: ScatterChoice) -> ScatterPlot:
    """The plot of all accelerators with both values; the others grouped by what they are missing."""
    x, y = catalogue.axis(choice.x), catalogue.axis(choice.y)
    size = None if choice.size == NO_SIZE else catalogue.axis(choice.size)
    subjects = filter_accelerators(catalogue.subjects, choice)
    placed = [subject for subject in subjects if subject.pk in x.figures and subject.pk in y.figures]
    placed.sort(key=lambda subject: (-y.figures[subject.pk].amount, subject.name))
    dots = [_dot(subject, x, y, size, choice.colour) for subject in placed]
    x_kind, y_kind = _kind(choice.xscale, [dot.x for dot in dots]), _kind(choice.yscale, [dot.y for dot in dots])
    isos, ratio = _isos(x.measure, y.measure, dots)
    drawn = place_scatter(dots, x_kind, y_kind, isos)
    points = tuple(
        _point(subject, (x, y, size), (spot.x, spot.y), f"m{spot.slot}{spot.step}", spot.slot)
        for subject, spot in zip(placed, drawn.spots, strict=True)
    )
    used = sorted({(spot.slot, spot.step) for spot in drawn.spots})
    return ScatterPlot(
        x=x,
        y=y,
        size=size,
        points=points,
        shapes=tuple(MarkShape(f"m{slot}{step}", SHAPES[slot], f"{SIZES[step]:g}") for slot, step in used),
        labels=drawn.labels,
        x_marks=drawn.x_marks,
        y_marks=drawn.y_marks,
        lines=drawn.lines,
        legend=legend(placed, choice.colour),
        sizes=_size_entries(size, dots),
        unplaced=tuple(_unplaced(x, y, subjects)),
        notes=tuple(_notes(catalogue, choice, (x, y, size), dots)),
        x_kind=x_kind,
        y_kind=y_kind,
        ratio=ratio,
    )


def plotly_scatter(catalogue: PlotData, choice: ScatterChoice) -> dict[str, Any]:
    """The plot as a Plotly figure."""
    x, y = catalogue.axis(choice.x), catalogue.axis(choice.y)
    size = None if choice.size == NO_SIZE else catalogue.axis(choice.size)
    placed = [
        item
        for item in filter_accelerators(catalogue.subjects, choice)
        if item.pk in x.figures and item.pk in y.figures
    ]
    dots = [_dot(subject, x, y, size, choice.colour) for subject in placed]
    return scatter_figure(
        "",
        AxisWords(x.label, _kind(choice.xscale, [dot.x for dot in dots])),
        AxisWords(y.label, _kind(choice.yscale, [dot.y for dot in dots])),
        dots,
        {subject.pk: subject.url for subject in placed},
        empty=_("No accelerator has both values."),
    )


def _kind(chosen: str, values: Sequence[float]) -> ScaleKind:
    is_log = chosen == "log" or (not chosen and spans_decades(values, LOG_RATIO))
    return "log" if is_log else "linear"


def _dot(subject: PlottedAccelerator, x: Axis, y: Axis, size: Axis | None, colour: str) -> Dot:
    third = size.figures.get(subject.pk) if size else None
    return Dot(
        key=subject.pk,
        label=subject.short_name,
        x=x.measure.scaled(x.figures[subject.pk].amount),
        y=y.measure.scaled(y.figures[subject.pk].amount),
        size=size.measure.scaled(third.amount) if size and third else None,
        slot=slot_of(subject, colour),
        note=_figures_text(subject, (x, y, size)),
    )


def _point(
    subject: PlottedAccelerator, axes: tuple[Axis, Axis, Axis | None], at: tuple[str, str], mark: str, slot: int
) -> ScatterPoint:
    x, y, size = axes
    return ScatterPoint(
        subject=subject,
        x=x.figures[subject.pk],
        y=y.figures[subject.pk],
        size=size.figures.get(subject.pk) if size else None,
        left=at[0],
        top=at[1],
        mark=mark,
        css=css(slot),
        words=f"{subject.name}: {_figures_text(subject, axes)}",
    )


def _figures_text(subject: PlottedAccelerator, axes: tuple[Axis, Axis, Axis | None]) -> str:
    """`3,350 GB/s, 989.4 TFLOPS, 700 W`"""
    texts = []
    for axis in axes:
        figure = axis.figures.get(subject.pk) if axis else None
        if axis and figure:
            texts.append(f"{figure.text} {axis.measure.unit}".rstrip())
    return ", ".join(texts)


def _isos(x: Measure, y: Measure, dots: Sequence[Dot]) -> tuple[list[Iso], str]:
    """Lines of equal quotient and a description of the quotient; ([], "") where the units make no useful one."""
    is_inverse = (y.si, x.si) not in RATIOS
    above, below = (x, y) if is_inverse else (y, x)
    if (above.si, below.si) not in RATIOS:
        return [], ""
    scale = above.factor / below.factor  # from the axes' units to SI
    pairs = [(dot.x, dot.y) if is_inverse else (dot.y, dot.x) for dot in dots]
    ratios = iso_ratios(over / under * scale for over, under in pairs if over > 0 and under > 0)
    words = _quotient_words(below.si) % {"above": above.title, "below": below.title}
    return [Iso(ratio / scale, _ratio_text(ratio, above.si, below.si), is_inverse) for ratio in ratios], words


def _quotient_words(below: str) -> str:
    if below == "B/s":
        return _("Dotted lines: equal ridge point, %(above)s ÷ %(below)s")
    if below == "USD":
        return _("Dotted lines: equal price-performance, %(above)s ÷ %(below)s")
    return _("Dotted lines: equal efficiency, %(above)s ÷ %(below)s")


def _ratio_text(ratio: float, above: str, below: str) -> str:
    """`100 FLOP/B`, `1 TFLOP/s/W`, `50 MB/USD`"""
    words = RATIOS[above, below]
    if not words.startswith("/"):
        return f"{ratio:g} {words}"
    return format_quantity(ratio, above).label + words


def _size_entries(size: Axis | None, dots: Sequence[Dot]) -> tuple[SizeEntry, ...]:
    """The smallest, the middle and the largest size, each with the range of values it stands for."""
    if size is None:
        return ()
    steps = size_steps([dot.size for dot in dots])
    entries = []
    for step in (0, MIDDLE_SIZE, len(SIZES) - 1):
        of_step = [dot.size for dot, dot_step in zip(dots, steps, strict=True) if dot_step == step and dot.size]
        if of_step:
            ends = dict.fromkeys(format_number(end) for end in (min(of_step), max(of_step)))
            words = f"{'–'.join(ends)} {size.measure.unit}".rstrip()
            entries.append(SizeEntry(SHAPES[0], f"{SIZES[step]:g}", words))
    return tuple(entries)


def _unplaced(x: Axis, y: Axis, subjects: Sequence[PlottedAccelerator]) -> list[Unranked]:
    """Accelerators without a value, grouped by the axis, with the conditions they are published under instead."""
    without_x = [item for item in subjects if item.pk not in x.figures]
    without_y = [item for item in subjects if item.pk not in y.figures]
    neither = {item.pk for item in without_x} & {item.pk for item in without_y}
    groups = (
        (x.title, [(item, x.elsewhere.get(item.pk, "")) for item in without_x if item.pk not in neither]),
        (y.title, [(item, y.elsewhere.get(item.pk, "")) for item in without_y if item.pk not in neither]),
        (_("%(x)s and %(y)s") % {"x": x.title, "y": y.title}, [(item, "") for item in subjects if item.pk in neither]),
    )
    return [Unranked(_("without %(figure)s") % {"figure": what}, tuple(group)) for what, group in groups if group]


def _notes(
    catalogue: PlotData, choice: ScatterChoice, axes: tuple[Axis, Axis, Axis | None], dots: Sequence[Dot]
) -> list[str]:
    notes = [joined_text()] if any(axis and axis.is_joined for axis in axes) else []
    unsized = sum(dot.size is None for dot in dots) if axes[2] else 0
    if axes[2] and unsized:
        words = ngettext(
            "%(n)d point is drawn in medium size: its %(size)s is unknown.",
            "%(n)d points are drawn in medium size: their %(size)s is unknown.",
            unsized,
        )
        notes.append(words % {"n": unsized, "size": axes[2].title})
    return [*notes, *undated_texts(catalogue, choice)]
