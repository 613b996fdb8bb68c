"""The ladder: all public accelerators ranked by one measure under one condition, published beside measured."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from stackviz.base.units import format_number
from stackviz.draw.charts.ladder import Rung, rank_rungs
from stackviz.draw.charts.scale import Mark, spans_decades
from stackviz.draw.colours import hue_of
from stackviz.pages.explore.axes import PlotData
from stackviz.pages.explore.composed import COMPOSED
from stackviz.pages.explore.legend import legend
from stackviz.pages.explore.measures import Axis, AxisFigure, PlottedAccelerator
from stackviz.pages.explore.selection import ExploreFilters, ExploreOptions, LadderChoice
from stackviz.records.catalog.fields import FIELDS
from stackviz.records.series.public_runs import MeasuredSummary, measures

FALLBACK_FIELDS = ("fp32_tflops", "int8_tensor_tops", "memory_bandwidth_gb_s", "memory_gb")
MOST_NAMED = 60  # of a vendor, among those without a value
MANY_PRODUCTS = 5  # of a vendor, before a sentence says that none of them is ranked


@dataclass(frozen=True, slots=True, kw_only=True)
class LadderRow:
    """One accelerator with a figure. `rank` None: it cannot be had, so it takes no place.

    `length`, `measured_length`: per cent of the width; None where nothing was measured.
    """

    rank: int | None
    subject: PlottedAccelerator
    css: str
    figure: AxisFigure
    length: float
    measured: MeasuredSummary | None
    measured_length: float | None
    measured_text: str


@dataclass(frozen=True, slots=True)
class Unranked:
    """Accelerators without a value, and why, in words."""

    why: str
    subjects: tuple[tuple[PlottedAccelerator, str], ...]  # with the conditions it is published under
    most_named: ClassVar[int] = MOST_NAMED

    @property
    def count(self) -> int:
        return len(self.subjects)

    @property
    def by_vendor(self) -> list[tuple[str, list[tuple[PlottedAccelerator, str]], str]]:
        """(vendor, its accelerators, `and 12 more` where a page does not list them all), by the vendor's name."""
        groups: dict[str, list[tuple[PlottedAccelerator, str]]] = {}
        for subject, instead in self.subjects:
            groups.setdefault(subject.vendor_name, []).append((subject, instead))
        by_name = sorted(groups.items(), key=lambda entry: entry[0].casefold())
        return [(name, subjects, _more_text(len(subjects) - MOST_NAMED)) for name, subjects in by_name]


def _more_text(more: int) -> str:
    return ngettext("and %(n)d more", "and %(n)d more", more) % {"n": more} if more > 0 else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """`rows`: all of them, best first."""

    axis: Axis
    rows: tuple[LadderRow, ...]
    ticks: Sequence[Mark]
    is_log: bool
    legend: list[tuple[str, str, str]]
    unranked: tuple[Unranked, ...]
    notes: tuple[str, ...]

    @property
    def unranked_count(self) -> int:
        return sum(group.count for group in self.unranked)

    @property
    def count_text(self) -> str:
        count = sum(row.rank is not None for row in self.rows)
        return ngettext("%(n)d ranked", "%(n)d ranked", count) % {"n": count}

    @property
    def unranked_text(self) -> str:
        """Summary of the unranked accelerators: `135 accelerators without a value`."""
        return without_text(self.unranked_count)


def without_text(count: int) -> str:
    words = ngettext("%(n)d accelerator without a value", "%(n)d accelerators without a value", count)
    return words % {"n": count}


def filter_accelerators(subjects: Sequence[PlottedAccelerator], filters: ExploreFilters) -> list[PlottedAccelerator]:
    """The accelerators that match the filters; with a year, those of unknown year do not."""
    return [
        subject
        for subject in subjects
        if filters.use in ("", subject.use)
        and filters.vendor in ("", subject.vendor)
        and filters.kind in ("", subject.kind)
        and filters.year in ("", str(subject.year))
    ]


def subjects_of_ladder(catalogue: PlotData, choice: LadderChoice) -> list[PlottedAccelerator]:
    """The accelerators that match the choice: what nobody can buy or rent is left out unless it is asked for."""
    return [
        subject for subject in filter_accelerators(catalogue.subjects, choice) if choice.announced or subject.can_be_had
    ]


def rank(catalogue: PlotData, choice: LadderChoice, measured: Mapping[int, MeasuredSummary]) -> Ranking:
    """The ranking for an address. `measured`: accelerator pk -> results of public machines for the field."""
    axis = catalogue.axis(choice.field, choice.condition)
    subjects = subjects_of_ladder(catalogue, choice)
    by_pk = {subject.pk: subject for subject in subjects}
    beside = {pk: best for pk, best in measured.items() if _is_beside(axis, pk)} if is_comparable(axis) else {}
    rungs = [_rung(axis, subject, beside) for subject in subjects if subject.pk in axis.figures]
    is_log = choice.scale == "log" or (not choice.scale and spans_decades(rung.value for rung in rungs))
    steps, ticks = rank_rungs(rungs, "log" if is_log else "linear", lower_is_better=axis.measure.better is False)
    rows = tuple(
        LadderRow(
            rank=step.rank,
            subject=by_pk[step.key],
            css=hue_of(by_pk[step.key].vendor).css,
            figure=axis.figures[step.key],
            length=step.length,
            measured=beside.get(step.key),
            measured_length=step.measured_length,
            measured_text=_measured_text(axis, beside.get(step.key)),
        )
        for step in steps
    )
    return Ranking(
        axis=axis,
        rows=rows,
        ticks=ticks,
        is_log=is_log,
        legend=legend((row.subject for row in rows), "vendor"),
        unranked=tuple(unranked(axis, subjects)),
        notes=tuple(_notes(axis, catalogue, choice, rows)),
    )


def is_comparable(axis: Axis) -> bool:
    """Whether measured rates may be shown beside the axis: benchmarks run under the usual conditions only."""
    if axis.measure.name in COMPOSED:
        return True
    field = FIELDS.get(axis.measure.name)
    return field is not None and axis.condition in field.usual


def measured_field(name: str) -> str:
    """The field that results measured here stand beside: of a measure of several fields the first."""
    return COMPOSED[name].field if name in COMPOSED else name


def _is_beside(axis: Axis, pk: int) -> bool:
    """Whether a measured rate may stand beside this figure: not where the figure is of another field."""
    figure = axis.figures.get(pk)
    return figure is not None and not figure.instead


def _rung(axis: Axis, subject: PlottedAccelerator, measured: Mapping[int, MeasuredSummary]) -> Rung:
    beside = measured.get(subject.pk)
    return Rung(
        subject.pk,
        axis.measure.scaled(axis.figures[subject.pk].amount),
        axis.measure.scaled(beside.best) if beside else None,
        takes_place=subject.can_be_had,
    )


def _measured_text(axis: Axis, measured: MeasuredSummary | None) -> str:
    return format_number(axis.measure.scaled(measured.best), 3) if measured else ""


def unranked(axis: Axis, subjects: Sequence[PlottedAccelerator]) -> list[Unranked]:
    """All accelerators without a value, grouped by reason."""
    without = [subject for subject in subjects if subject.pk not in axis.figures]
    elsewhere = [(subject, axis.elsewhere[subject.pk]) for subject in without if subject.pk in axis.elsewhere]
    rest = [subject for subject in without if subject.pk not in axis.elsewhere]
    inapplicable = [(subject, "") for subject in rest if not axis.applies_to(subject)]
    unable = [(subject, "") for subject in rest if axis.applies_to(subject) and axis.is_lacked_by(subject)]
    missing = [(subject, "") for subject in rest if axis.applies_to(subject) and not axis.is_lacked_by(subject)]
    if axis.is_cited:
        return [Unranked(_("no cited result in this setting"), tuple((subject, "") for subject in without))]
    groups = (
        (_("cannot be derived") if axis.is_derived else _("published only under another condition"), elsewhere),
        (_("not published by any source listed here"), missing),
        (_("not supported: compute capability below %(least)s") % {"least": axis.least_capability}, unable),
        (_("not applicable"), inapplicable),
    )
    return [Unranked(why, tuple(group)) for why, group in groups if group]


def absent_vendors(
    catalogue: PlotData, ranking: Ranking, choice: LadderChoice, known: ExploreOptions
) -> list[tuple[str, int, str, str]]:
    """Vendors with several listed products, none of which has a value for this field though it applies to them.

    (vendor, its products, query that ranks them by another field, label of that)
    """
    axis = ranking.axis
    if axis.measure.name not in FIELDS:
        return []
    subjects = subjects_of_ladder(catalogue, choice)
    having = {subject.vendor for subject in subjects if subject.pk in axis.figures or subject.pk in axis.elsewhere}
    counts = Counter(
        subject.vendor for subject in subjects if subject.vendor not in having and axis.applies_to(subject)
    )
    absent = []
    for vendor, count in counts.items():
        available = frozenset(known.of_vendors.get(vendor, ())) - {axis.measure.name}
        instead = next((name for name in FALLBACK_FIELDS if name in available), "")
        if count >= MANY_PRODUCTS and instead:
            words = {"vendor": known.vendors[vendor], "measure": FIELDS[instead].words[0]}
            query = replace(choice, field=instead, condition="", scale="", vendor=vendor).query_string
            absent.append((known.vendors[vendor], count, query, _("Rank %(vendor)s by %(measure)s") % words))
    return absent


def _timed_text(timed: int) -> str:
    words = ngettext(
        "%(n)d was measured on public machines; its best result is drawn below the published value, hatched or small.",
        "%(n)d were measured on public machines; their best results are drawn below the published values, hatched "
        "or small.",
        timed,
    )
    return words % {"n": timed}


def _announced_text(count: int) -> str:
    words = ngettext(
        "%(n)d cannot be bought or rented; it is listed where its figure puts it, without a place.",
        "%(n)d cannot be bought or rented; they are listed where their figures put them, without a place.",
        count,
    )
    return words % {"n": count}


def _notes(axis: Axis, catalogue: PlotData, choice: LadderChoice, rows: Sequence[LadderRow]) -> list[str]:
    """Notes shown above the table."""
    timed = sum(row.measured is not None for row in rows)
    announced = sum(not row.subject.can_be_had for row in rows)
    is_timed = bool(measures(measured_field(axis.measure.name)))
    notes = [joined_text()] if axis.is_joined else []
    notes += filter(None, [instead_text(axis, subjects_of_ladder(catalogue, choice))])
    if is_timed and not is_comparable(axis):
        notes.append(_("Benchmarks measure the usual condition, not this one, so no measured values are shown."))
    elif is_timed and not timed:
        notes.append(_("No public machine has measured this yet."))
    elif timed:
        notes.append(_timed_text(timed))
    notes += [_announced_text(announced)] if announced else []
    return [*notes, *undated_texts(catalogue, choice)]


def joined_text() -> str:
    return _(
        "Values marked *: the source says only “dense”. Sources name the accumulate type only for cards on which it "
        "makes a difference."
    )


def instead_text(axis: Axis, subjects: Iterable[PlottedAccelerator]) -> str:
    """How many of these figures stand in for the first of a measure of several fields, and which; "" for none."""
    which = Counter(figure.instead for item in subjects if (figure := axis.figures.get(item.pk)) and figure.instead)
    if not which:
        return ""
    words = ngettext(
        "%(measure)s: of %(n)d accelerator the first is not published. Marked †, it stands by another: %(which)s.",
        "%(measure)s: of %(n)d accelerators the first is not published. Marked †, they stand by another: %(which)s.",
        which.total(),
    )
    listed = "; ".join(f"{name} ({count})" for name, count in which.most_common())
    return words % {"measure": axis.measure.title, "n": which.total(), "which": listed}


def undated_texts(catalogue: PlotData, filters: ExploreFilters) -> list[str]:
    """A note on accelerators that the filter by year hides because no source gives their year."""
    count = sum(subject.year is None for subject in catalogue.subjects)
    if not filters.year or not count:
        return []
    words = ngettext(
        "%(n)d accelerator is not shown: no source gives its year.",
        "%(n)d accelerators are not shown: no source gives their year.",
        count,
    )
    return [words % {"n": count}]
