"""The scatter: all public accelerators by two measures, a third as size; what lacks one of them is counted."""

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
    Line,
    Mark,
    iso_ratios,
    scatter,
    scatter_figure,
    size_steps,
)
from stackviz.explore.axes import Axis, Catalogue, Figure, Measure, Subject
from stackviz.explore.ladder import Unranked, joined_text, shown, undated_texts, without_text
from stackviz.explore.legend import LegendEntry, css, legend, place_of
from stackviz.explore.selection import NO_SIZE, ScatterChoice
from stackviz.units import format_number, format_quantity

# What a quotient of two units is read as: base units above and below -> words after the figure.
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

# Figures that spread over more than this ratio are drawn on logarithmic axes: most points would huddle in a corner.
LOG_RATIO = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One accelerator in the drawing and in the table below it. `mark`: id of its shape in its size."""

    subject: Subject
    x: Figure
    y: Figure
    size: Figure | None
    left: str
    top: str
    mark: str
    css: str
    words: str


@dataclass(frozen=True, slots=True)
class MarkShape:
    """A shape in one size, defined once in the drawing."""

    id: str
    path: str
    scale: str


@dataclass(frozen=True, slots=True)
class SizeEntry:
    """A line of the legend of sizes."""

    path: str
    scale: str
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """Everything the page shows. `size` None: all points are equally large. `points`: the highest first."""

    x: Axis
    y: Axis
    size: Axis | None
    points: tuple[Point, ...]
    shapes: tuple[MarkShape, ...]
    labels: tuple[Label, ...]
    x_marks: tuple[Mark, ...]
    y_marks: tuple[Mark, ...]
    lines: tuple[Line, ...]
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


def draw(catalogue: Catalogue, choice: ScatterChoice) -> Drawing:
    """Everything that has both figures, drawn; everything else by what it lacks."""
    x, y = catalogue.axis(choice.x), catalogue.axis(choice.y)
    size = None if choice.size == NO_SIZE else catalogue.axis(choice.size)
    subjects = shown(catalogue.subjects, choice)
    placed = [subject for subject in subjects if subject.pk in x.figures and subject.pk in y.figures]
    placed.sort(key=lambda subject: (-y.figures[subject.pk].amount, subject.name))
    dots = [_dot(subject, x, y, size, choice.colour) for subject in placed]
    x_kind, y_kind = _kind(choice.xscale, [dot.x for dot in dots]), _kind(choice.yscale, [dot.y for dot in dots])
    isos, ratio = _isos(x.measure, y.measure, dots)
    drawn = scatter(dots, x_kind, y_kind, isos)
    points = tuple(
        _point(subject, (x, y, size), (spot.x, spot.y), f"m{spot.place}{spot.step}", spot.place)
        for subject, spot in zip(placed, drawn.spots, strict=True)
    )
    used = sorted({(spot.place, spot.step) for spot in drawn.spots})
    return Drawing(
        x=x,
        y=y,
        size=size,
        points=points,
        shapes=tuple(MarkShape(f"m{place}{step}", SHAPES[place], f"{SIZES[step]:g}") for place, step in used),
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


def figure(catalogue: Catalogue, choice: ScatterChoice) -> dict[str, Any]:
    """The drawing as a Plotly figure."""
    x, y = catalogue.axis(choice.x), catalogue.axis(choice.y)
    size = None if choice.size == NO_SIZE else catalogue.axis(choice.size)
    placed = [item for item in shown(catalogue.subjects, choice) if item.pk in x.figures and item.pk in y.figures]
    dots = [_dot(subject, x, y, size, choice.colour) for subject in placed]
    return scatter_figure(
        "",
        AxisWords(x.label, _kind(choice.xscale, [dot.x for dot in dots])),
        AxisWords(y.label, _kind(choice.yscale, [dot.y for dot in dots])),
        dots,
        {subject.pk: subject.url for subject in placed},
        empty=_("Nothing has both figures."),
    )


def _kind(asked: str, values: Sequence[float]) -> ScaleKind:
    is_log = asked == "log" or (not asked and spans_decades(values, LOG_RATIO))
    return "log" if is_log else "linear"


def _dot(subject: Subject, x: Axis, y: Axis, size: Axis | None, colour: str) -> Dot:
    third = size.figures.get(subject.pk) if size else None
    return Dot(
        key=subject.pk,
        label=subject.short_name,
        x=x.measure.scaled(x.figures[subject.pk].amount),
        y=y.measure.scaled(y.figures[subject.pk].amount),
        size=size.measure.scaled(third.amount) if size and third else None,
        place=place_of(subject, colour),
        note=_figures_text(subject, (x, y, size)),
    )


def _point(subject: Subject, axes: tuple[Axis, Axis, Axis | None], at: tuple[str, str], mark: str, place: int) -> Point:
    x, y, size = axes
    return Point(
        subject=subject,
        x=x.figures[subject.pk],
        y=y.figures[subject.pk],
        size=size.figures.get(subject.pk) if size else None,
        left=at[0],
        top=at[1],
        mark=mark,
        css=css(place),
        words=f"{subject.name}: {_figures_text(subject, axes)}",
    )


def _figures_text(subject: Subject, axes: tuple[Axis, Axis, Axis | None]) -> str:
    """`3,350 GB/s, 989.4 TFLOPS, 700 W`"""
    texts = []
    for axis in axes:
        found = axis.figures.get(subject.pk) if axis else None
        if axis and found:
            texts.append(f"{found.text} {axis.measure.unit}".rstrip())
    return ", ".join(texts)


def _isos(x: Measure, y: Measure, dots: Sequence[Dot]) -> tuple[list[Iso], str]:
    """Lines of equal quotient where the two units make one, and what the quotient is, in words."""
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
    """The smallest, a middle and the largest size, each with the figures it stands for."""
    if size is None:
        return ()
    steps = size_steps([dot.size for dot in dots])
    found = []
    for step in (0, MIDDLE_SIZE, len(SIZES) - 1):
        of_step = [dot.size for dot, own in zip(dots, steps, strict=True) if own == step and dot.size]
        if of_step:
            ends = dict.fromkeys(format_number(end) for end in (min(of_step), max(of_step)))
            words = f"{'–'.join(ends)} {size.measure.unit}".rstrip()
            found.append(SizeEntry(SHAPES[0], f"{SIZES[step]:g}", words))
    return tuple(found)


def _unplaced(x: Axis, y: Axis, subjects: Sequence[Subject]) -> list[Unranked]:
    """Those that lack a figure, by which, with what is known instead."""
    without_x = [item for item in subjects if item.pk not in x.figures]
    without_y = [item for item in subjects if item.pk not in y.figures]
    neither = {item.pk for item in without_x} & {item.pk for item in without_y}
    groups = (
        (x.title, [(item, x.elsewhere.get(item.pk, "")) for item in without_x if item.pk not in neither]),
        (y.title, [(item, y.elsewhere.get(item.pk, "")) for item in without_y if item.pk not in neither]),
        (_("%(x)s and %(y)s") % {"x": x.title, "y": y.title}, [(item, "") for item in subjects if item.pk in neither]),
    )
    return [Unranked(_("without %(figure)s") % {"figure": what}, tuple(found)) for what, found in groups if found]


def _notes(
    catalogue: Catalogue, choice: ScatterChoice, axes: tuple[Axis, Axis, Axis | None], dots: Sequence[Dot]
) -> list[str]:
    notes = [joined_text()] if any(axis and axis.is_joined for axis in axes) else []
    unsized = sum(dot.size is None for dot in dots) if axes[2] else 0
    if axes[2] and unsized:
        words = ngettext(
            "%(n)d point is drawn in middle size: %(size)s is not known of it.",
            "%(n)d points are drawn in middle size: %(size)s is not known of them.",
            unsized,
        )
        notes.append(words % {"n": unsized, "size": axes[2].title})
    return [*notes, *undated_texts(catalogue, choice)]
