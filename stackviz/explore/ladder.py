"""The ladder: all public accelerators ranked by one measure under one condition, published beside measured."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from stackviz.catalog.fields import FIELDS
from stackviz.charts.ladder import Rung, Tick, ladder
from stackviz.charts.scale import spans_decades
from stackviz.explore.axes import Axis, Catalogue, Figure, Subject
from stackviz.explore.legend import LegendEntry, css, legend, vendor_place
from stackviz.explore.measured import Measured, measures
from stackviz.explore.selection import Filters, Known, LadderChoice
from stackviz.units import format_number

ASKED_INSTEAD = ("fp32_tflops", "int8_tensor_tops", "memory_bandwidth_gb_s", "memory_gb")
MANY_PRODUCTS = 5  # of a maker, before a sentence says that none of them is ranked


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One ranked accelerator. `length`, `measured_length`: per cent of the drawing; "" where nothing was measured."""

    place: int
    subject: Subject
    css: str
    figure: Figure
    length: str
    measured: Measured | None
    measured_length: str
    measured_text: str


@dataclass(frozen=True, slots=True)
class Unranked:
    """Accelerators that have no place, and why, in words."""

    why: str
    subjects: tuple[tuple[Subject, str], ...]  # with what is known of each instead

    @property
    def count(self) -> int:
        return len(self.subjects)

    @property
    def by_vendor(self) -> list[tuple[str, list[tuple[Subject, str]]]]:
        """[(vendor's name, its own of `subjects`)] by name."""
        found: dict[str, list[tuple[Subject, str]]] = {}
        for subject, instead in self.subjects:
            found.setdefault(subject.vendor_name, []).append((subject, instead))
        return sorted(found.items(), key=lambda entry: entry[0].casefold())


@dataclass(frozen=True, slots=True)
class Absent:
    """A maker none of whose `count` products has the figure; `query` ranks them by what they have `instead`."""

    vendor: str
    count: int
    instead: str
    query: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """`rows`: all of them, best first."""

    axis: Axis
    rows: tuple[Row, ...]
    ticks: tuple[Tick, ...]
    is_log: bool
    legend: tuple[LegendEntry, ...]
    unranked: tuple[Unranked, ...]
    notes: tuple[str, ...]

    @property
    def unranked_count(self) -> int:
        return sum(group.count for group in self.unranked)

    @property
    def count_text(self) -> str:
        return ngettext("%(n)d ranked", "%(n)d ranked", len(self.rows)) % {"n": len(self.rows)}

    @property
    def unranked_text(self) -> str:
        """`135 without a place`: the line that unfolds to them."""
        return without_text(self.unranked_count)


def without_text(count: int) -> str:
    words = ngettext("%(n)d accelerator has no such figure", "%(n)d accelerators have no such figure", count)
    return words % {"n": count}


def shown(subjects: Sequence[Subject], filters: Filters) -> list[Subject]:
    """The accelerators these filters leave; a year leaves out those whose year no source gives."""
    return [
        subject
        for subject in subjects
        if filters.vendor in ("", subject.vendor)
        and filters.kind in ("", subject.kind)
        and filters.year in ("", str(subject.year))
    ]


def rank(catalogue: Catalogue, choice: LadderChoice, measured: Mapping[int, Measured]) -> Ranking:
    """Rank what was asked for. `measured`: accelerator pk -> what public machines measured of the field."""
    axis = catalogue.axis(choice.field, choice.condition)
    subjects = shown(catalogue.subjects, choice)
    by_pk = {subject.pk: subject for subject in subjects}
    beside = measured if is_comparable(axis) else {}
    rungs = [_rung(axis, subject.pk, beside) for subject in subjects if subject.pk in axis.figures]
    is_log = choice.scale == "log" or (not choice.scale and spans_decades(rung.value for rung in rungs))
    drawn = ladder(rungs, "log" if is_log else "linear", lower_is_better=axis.measure.better is False)
    rows = tuple(
        Row(
            place=step.place,
            subject=by_pk[step.key],
            css=css(vendor_place(by_pk[step.key].vendor)),
            figure=axis.figures[step.key],
            length=step.length,
            measured=beside.get(step.key),
            measured_length=step.measured_length,
            measured_text=_measured_text(axis, beside.get(step.key)),
        )
        for step in drawn.steps
    )
    return Ranking(
        axis=axis,
        rows=rows,
        ticks=drawn.ticks,
        is_log=is_log,
        legend=legend((row.subject for row in rows), "vendor"),
        unranked=tuple(unranked(axis, subjects)),
        notes=tuple(_notes(axis, catalogue, choice, sum(row.measured is not None for row in rows))),
    )


def is_comparable(axis: Axis) -> bool:
    """Whether a measured rate may stand beside this figure: benchmarks run under the usual conditions, dense ones."""
    field = FIELDS.get(axis.measure.name)
    return field is not None and axis.condition in field.usual


def _rung(axis: Axis, pk: int, measured: Mapping[int, Measured]) -> Rung:
    beside = measured.get(pk)
    return Rung(
        pk,
        axis.measure.scaled(axis.figures[pk].amount),
        axis.measure.scaled(beside.best) if beside else None,
    )


def _measured_text(axis: Axis, one: Measured | None) -> str:
    return format_number(axis.measure.scaled(one.best), 3) if one else ""


def unranked(axis: Axis, subjects: Sequence[Subject]) -> list[Unranked]:
    """Those without a figure, by reason; nothing is dropped without a word."""
    without = [subject for subject in subjects if subject.pk not in axis.figures]
    elsewhere = [(subject, axis.elsewhere[subject.pk]) for subject in without if subject.pk in axis.elsewhere]
    rest = [subject for subject in without if subject.pk not in axis.elsewhere]
    beside_the_point = [(subject, "") for subject in rest if not axis.applies_to(subject)]
    unable = [(subject, "") for subject in rest if axis.applies_to(subject) and axis.is_lacked_by(subject)]
    missing = [(subject, "") for subject in rest if axis.applies_to(subject) and not axis.is_lacked_by(subject)]
    groups = (
        (_("does not follow") if axis.is_derived else _("published under another condition only"), elsewhere),
        (_("not published: no source here prints it"), missing),
        (_("not supported: compute capability below %(least)s") % {"least": axis.least_capability}, unable),
        (_("does not apply"), beside_the_point),
    )
    return [Unranked(why, tuple(found)) for why, found in groups if found]


def absent_vendors(catalogue: Catalogue, ranking: Ranking, choice: LadderChoice, known: Known) -> list[Absent]:
    """Makers of several products shown here none of which has the figure, though they could have one."""
    axis = ranking.axis
    if axis.is_derived:
        return []
    subjects = shown(catalogue.subjects, choice)
    having = {subject.vendor for subject in subjects if subject.pk in axis.figures or subject.pk in axis.elsewhere}
    counts = Counter(
        subject.vendor for subject in subjects if subject.vendor not in having and axis.applies_to(subject)
    )
    found = []
    for vendor, count in counts.items():
        own = frozenset(known.of_vendors.get(vendor, ())) - {axis.measure.name}
        instead = next((name for name in ASKED_INSTEAD if name in own), "")
        if count >= MANY_PRODUCTS and instead:
            words = {"vendor": known.vendors[vendor], "measure": FIELDS[instead].words[0]}
            query = replace(choice, field=instead, condition="", scale="", vendor=vendor).query_string
            found.append(Absent(words["vendor"], count, _("Rank %(vendor)s by %(measure)s") % words, query))
    return found


def _timed_text(timed: int) -> str:
    words = ngettext(
        "%(n)d was measured on public machines: the best result stands below the published figure, hatched or hollow.",
        "%(n)d were measured on public machines: the best result stands below the published figure, hatched or hollow.",
        timed,
    )
    return words % {"n": timed}


def _notes(axis: Axis, catalogue: Catalogue, choice: LadderChoice, timed: int) -> list[str]:
    """What to know before reading. `timed`: how many of the rows were measured."""
    is_timed = bool(measures(axis.measure.name))
    notes = [joined_text()] if axis.is_joined else []
    if is_timed and not is_comparable(axis):
        notes.append(_("Machines measure the usual case, not this condition: no measured figure stands beside it."))
    elif is_timed and not timed:
        notes.append(_("No public machine has measured this yet."))
    elif timed:
        notes.append(_timed_text(timed))
    return [*notes, *undated_texts(catalogue, choice)]


def joined_text() -> str:
    return _(
        "Figures marked * are here though their source says only “dense”: sources name the accumulate type of cards on "
        "which it matters, and leave it out for others."
    )


def undated_texts(catalogue: Catalogue, filters: Filters) -> list[str]:
    """What a filter by year leaves out because nobody says when it came out."""
    count = sum(subject.year is None for subject in catalogue.subjects)
    if not filters.year or not count:
        return []
    words = ngettext(
        "%(n)d accelerator whose year no source gives is not shown.",
        "%(n)d accelerators whose year no source gives are not shown.",
        count,
    )
    return [words % {"n": count}]
