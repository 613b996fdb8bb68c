"""The scatter: all public accelerators by two measures, a third as size; those without a value are counted."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from stackviz.base.units import format_number
from stackviz.draw.charts.labels import Label
from stackviz.draw.charts.scale import Mark, ScaleKind, spans_decades
from stackviz.draw.charts.scatter import (
    DISC,
    MIDDLE_SIZE,
    MOST_DRAWN,
    SIZES,
    SQUARE,
    Dot,
    Iso,
    IsoLine,
    Piece,
    Spot,
    Ways,
    front_of,
    place_scatter,
    size_steps,
)
from stackviz.draw.charts.scatter_plotly import AxisWords, scatter_figure
from stackviz.draw.colours import hue_of
from stackviz.pages.explore.axes import PlotData
from stackviz.pages.explore.composed import YEAR
from stackviz.pages.explore.ladder import (
    Unranked,
    filter_accelerators,
    instead_text,
    joined_text,
    undated_texts,
    without_text,
)
from stackviz.pages.explore.legend import legend, price_texts
from stackviz.pages.explore.lines import (
    PlotBound,
    bound_example,
    front_text,
    plot_bound,
    quotient_lines,
    ways_of,
)
from stackviz.pages.explore.measures import Axis, AxisFigure, PlottedAccelerator
from stackviz.pages.explore.selection import NO_SIZE, ScatterChoice
from stackviz.records.catalog.asked_for import request_places
from stackviz.records.cited.words import share_text

# Values with a larger ratio get a logarithmic axis; on a linear one most points would crowd in a corner.
LOG_RATIO = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ScatterPoint:
    """One accelerator in the plot and in the table below it. `mark`: id of its shape at its size.

    `pair`: both figures with their units; `share`: of the bound, where one is drawn.
    """

    subject: PlottedAccelerator
    x: AxisFigure
    y: AxisFigure
    size: AxisFigure | None
    left: float
    top: float
    mark: str
    css: str
    words: str
    pair: str
    share: str = ""
    is_on_front: bool = False

    @property
    def look(self) -> str:
        """A class for a point of which a figure stands in for another."""
        return " other" if self.x.instead or self.y.instead else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScatterPlot:
    """Everything the page shows. `size` None: all points have the same size. `points`: the highest first.

    `drawn`: those of them that the picture has room for; tables and files have all.

    `pieces`: of the line along the Pareto front; `front`: its points, by x.
    """

    x: Axis
    y: Axis
    size: Axis | None
    points: tuple[ScatterPoint, ...]
    drawn: tuple[ScatterPoint, ...]
    shapes: tuple[tuple[str, str, str], ...]
    labels: tuple[Label, ...]
    x_marks: tuple[Mark, ...]
    y_marks: tuple[Mark, ...]
    lines: tuple[IsoLine, ...]
    legend: list[tuple[str, str, str]]
    sizes: tuple[tuple[str, str, str], ...]
    unplaced: tuple[Unranked, ...]
    notes: tuple[str, ...]
    x_kind: ScaleKind
    y_kind: ScaleKind
    ratio: str
    pieces: tuple[Piece, ...]
    bound: PlotBound | None

    @property
    def axes(self) -> tuple[tuple[str, Axis], ...]:
        """The axes with their roles; the size is left out where all points have the same."""
        return (("x", self.x), ("y", self.y), *([("size", self.size)] if self.size else []))

    @property
    def is_hollow(self) -> bool:
        return self.x.measure.is_hollow or self.y.measure.is_hollow

    @property
    def has_others(self) -> bool:
        """Whether the legend must say what a dotted outline means."""
        return any(point.look for point in self.points)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of the figures that are not published."""
        kinds = {axis.measure.kind for _role, axis in self.axes} | ({"cited"} if self.is_hollow else set())
        return tuple(sorted(kinds - {"published"}))

    @property
    def front(self) -> tuple[ScatterPoint, ...]:
        return tuple(sorted((point for point in self.points if point.is_on_front), key=lambda point: point.x.amount))

    @property
    def front_text(self) -> str:
        return front_text(self.x.measure, self.y.measure, len(self.front), len(self.points))

    @property
    def bound_example(self) -> str:
        """The formula with the figures of the highest point; "" without a bound."""
        if self.bound is None or not self.points:
            return ""
        return bound_example(self.points[0].subject.name, self.points[0].subject.pk, self.bound)

    @property
    def title(self) -> str:
        return _("%(y)s against %(x)s") % {"y": self.y.title, "x": self.x.title}

    @property
    def count_text(self) -> str:
        count = len(self.points)
        return ngettext("%(n)d accelerator", "%(n)d accelerators", count) % {"n": count}

    @property
    def crowd_text(self) -> str:
        """How many points the picture has no room for; "" where all are drawn."""
        if len(self.drawn) == len(self.points):
            return ""
        words = _("The picture draws %(drawn)d of %(all)d points: the ones most asked for, the front, and some others.")
        return words % {"drawn": len(self.drawn), "all": len(self.points)}

    @property
    def unplaced_count(self) -> int:
        return sum(group.count for group in self.unplaced)

    @property
    def unplaced_text(self) -> str:
        return without_text(self.unplaced_count)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """What is drawn, before it has positions."""

    x: Axis
    y: Axis
    size: Axis | None
    subjects: Sequence[PlottedAccelerator]
    placed: Sequence[PlottedAccelerator]
    dots: Sequence[Dot]
    x_kind: ScaleKind
    y_kind: ScaleKind
    isos: Sequence[Iso]
    ratio: str
    bound: PlotBound | None
    ways: Ways | None
    most: int


def _plan(catalogue: PlotData, choice: ScatterChoice) -> _Plan:
    x, y = catalogue.axis(choice.x), catalogue.axis(choice.y)
    size = None if choice.size == NO_SIZE else catalogue.axis(choice.size)
    subjects = filter_accelerators(catalogue.subjects, choice)
    placed = [subject for subject in subjects if subject.pk in x.figures and subject.pk in y.figures]
    placed.sort(key=lambda subject: (-y.figures[subject.pk].amount, subject.name))
    dots = [_dot(subject, x, y, size) for subject in placed]
    places = request_places(catalogue.public)
    if x.measure.si == YEAR:
        leaders = _leaders(dots, x, y)
        places = {pk: len(leaders) + number for pk, number in places.items()} | leaders
    dots = [replace(dot, priority=places.get(dot.key)) for dot in dots]
    bound = plot_bound(x, y)
    isos, quotient = ([bound.iso], "") if bound else quotient_lines(x.measure, y.measure, dots)
    # Against cited rates it is factors that count; a bound is then a straight line as well.
    ratio = 1 if x.measure.is_hollow or y.measure.is_hollow else LOG_RATIO
    return _Plan(
        x=x,
        y=y,
        size=size,
        subjects=subjects,
        placed=placed,
        dots=dots,
        x_kind=_kind(x, choice.xscale, [dot.x for dot in dots], ratio),
        y_kind=_kind(y, choice.yscale, [dot.y for dot in dots], ratio),
        isos=isos,
        ratio=quotient,
        bound=bound,
        ways=None if bound else ways_of(x, y),
        most=len(dots) if choice.draw else MOST_DRAWN,
    )


def _leaders(dots: Sequence[Dot], x: Axis, y: Axis) -> dict[int, int]:
    """Over the years those that led when they came out are named first, the latest before the earlier ones."""
    return {dot.key: number for number, dot in enumerate(reversed(front_of(dots, ways_of(x, y))))}


def draw_scatter(catalogue: PlotData, choice: ScatterChoice) -> ScatterPlot:
    """The plot of all accelerators with both values; the others grouped by what they are missing."""
    plan = _plan(catalogue, choice)
    x, y, size = plan.x, plan.y, plan.size
    drawn = place_scatter(plan.dots, plan.x_kind, plan.y_kind, plan.isos, plan.ways, most=plan.most)
    on_front = frozenset(drawn.front)
    points = tuple(
        _point(subject, plan, spot, is_on_front=subject.pk in on_front)
        for subject, spot in zip(plan.placed, drawn.spots, strict=True)
    )
    shape = DISC if any(dot.is_hollow for dot in plan.dots) else SQUARE
    return ScatterPlot(
        x=x,
        y=y,
        size=size,
        points=points,
        drawn=tuple(point for point in points if point.subject.pk in drawn.drawn),
        shapes=tuple((f"m{step}", shape, f"{SIZES[step]:g}") for step in sorted({spot.step for spot in drawn.spots})),
        labels=drawn.labels,
        x_marks=drawn.x_marks,
        y_marks=drawn.y_marks,
        lines=drawn.lines,
        legend=legend(plan.placed, shape),
        sizes=_size_entries(size, plan.dots, shape),
        unplaced=tuple(_unplaced(x, y, plan.subjects)),
        notes=tuple(_notes(catalogue, choice, plan)),
        x_kind=plan.x_kind,
        y_kind=plan.y_kind,
        ratio=plan.ratio,
        pieces=drawn.pieces,
        bound=plan.bound,
    )


def plotly_scatter(catalogue: PlotData, choice: ScatterChoice) -> dict[str, Any]:
    """The plot as a Plotly figure."""
    plan = _plan(catalogue, choice)
    return scatter_figure(
        AxisWords(plan.x.label, plan.x_kind),
        AxisWords(plan.y.label, plan.y_kind),
        plan.dots,
        {subject.pk: subject.url for subject in plan.placed},
        empty=_("No accelerator has both values."),
        isos=plan.isos,
        ways=plan.ways,
        most=plan.most,
    )


def _kind(axis: Axis, chosen: str, values: Sequence[float], ratio: float) -> ScaleKind:
    if axis.measure.si == YEAR:
        return "year"
    is_log = chosen == "log" or (not chosen and spans_decades(values, ratio))
    return "log" if is_log else "linear"


def _dot(subject: PlottedAccelerator, x: Axis, y: Axis, size: Axis | None) -> Dot:
    third = size.figures.get(subject.pk) if size else None
    return Dot(
        key=subject.pk,
        label=subject.drawn_name,
        x=x.measure.scaled(x.figures[subject.pk].amount),
        y=y.measure.scaled(y.figures[subject.pk].amount),
        size=size.measure.scaled(third.amount) if size and third else None,
        hue=hue_of(subject.vendor),
        note=_figures_text(subject, (x, y, size)),
        is_hollow=x.measure.is_hollow or y.measure.is_hollow,
        can_lead=subject.can_be_had,
    )


def _point(subject: PlottedAccelerator, plan: _Plan, spot: Spot, *, is_on_front: bool) -> ScatterPoint:
    x, y, size = plan.x, plan.y, plan.size
    share = share_text(plan.bound.share(subject.pk)) if plan.bound else ""
    of_bound = _("%(share)s of its bound") % {"share": share} if share else ""
    words = f"{subject.name}: {_figures_text(subject, (x, y, size))}"
    return ScatterPoint(
        subject=subject,
        x=x.figures[subject.pk],
        y=y.figures[subject.pk],
        size=size.figures.get(subject.pk) if size else None,
        left=spot.x,
        top=spot.y,
        mark=f"m{spot.step}",
        css=spot.hue.css,
        words=", ".join(filter(None, (words, of_bound, *_standing_words(subject, is_on_front=is_on_front)))),
        pair=", ".join(_with_unit(axis, axis.figures[subject.pk]) for axis in (x, y)),
        share=share,
        is_on_front=is_on_front,
    )


def _standing_words(subject: PlottedAccelerator, *, is_on_front: bool) -> tuple[str, str]:
    return _("on the front") if is_on_front else "", _("announced") if subject.is_announced else ""


def _with_unit(axis: Axis, figure: AxisFigure) -> str:
    return f"{figure.text} {axis.measure.unit}".rstrip()


def _figures_text(subject: PlottedAccelerator, axes: tuple[Axis, Axis, Axis | None]) -> str:
    """`3,350 GB/s, 989.4 TFLOPS, 700 W`"""
    texts = []
    for axis in axes:
        figure = axis.figures.get(subject.pk) if axis else None
        if axis and figure:
            text = _with_unit(axis, figure)
            beside = figure.remark if figure.run else figure.instead
            texts.append(f"{text} ({beside})" if beside else text)
    return ", ".join(texts)


def _size_entries(size: Axis | None, dots: Sequence[Dot], shape: str) -> tuple[tuple[str, str, str], ...]:
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
            entries.append((shape, f"{SIZES[step]:g}", words))
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


def _notes(catalogue: PlotData, choice: ScatterChoice, plan: _Plan) -> list[str]:
    axes = (plan.x, plan.y, plan.size)
    notes = [joined_text()] if any(axis and axis.is_joined for axis in axes) else []
    notes += [f"{axis.measure.title} = {axis.measure.formula}." for axis in axes if axis and axis.measure.formula]
    notes += dict.fromkeys(instead_text(axis, plan.placed) for axis in axes if axis)
    unsized = sum(dot.size is None for dot in plan.dots) if plan.size else 0
    if plan.size and unsized:
        words = ngettext(
            "%(n)d point is drawn in medium size: its %(size)s is unknown.",
            "%(n)d points are drawn in medium size: their %(size)s is unknown.",
            unsized,
        )
        notes.append(words % {"n": unsized, "size": plan.size.title})
    return [*filter(None, notes), *price_texts(axes), *undated_texts(catalogue, choice)]
