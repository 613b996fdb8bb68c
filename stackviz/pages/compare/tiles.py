"""The tiles at the top of a comparison, a question each with every subject's answer, and its verdict in one sentence.

A factor is given only between figures of one field under one condition. Where a subject has none, the tile says why.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from django.utils.translation import gettext as _

from stackviz.base.units import format_at_least, format_factor
from stackviz.draw.diagrams.layers import Layer
from stackviz.draw.diagrams.stack import StackDrawing
from stackviz.pages.compare.answers import QUESTIONS, Question, SubjectFigure, figures_of
from stackviz.pages.compare.measured import Measured
from stackviz.pages.compare.measured_rows import RateFactor, rate_factor
from stackviz.pages.compare.prices import price_figures
from stackviz.pages.compare.query import Address
from stackviz.pages.compare.spec_table import spec_rows
from stackviz.pages.compare.subjects import Head, Loaded, heading, heads_of
from stackviz.records.catalog.spec_table import SpecRow
from stackviz.records.series.comparability import Comparability, rate_of_ranked
from stackviz.records.series.measurement import Measurement

NEARLY_EQUAL = 1.02  # figures within 2 % are called equal: data sheets round more coarsely


@dataclass(frozen=True, slots=True, kw_only=True)
class TileLine:
    """One subject in a tile. `figure`: "" where there is none, `note` says why then, or what qualifies the figure.

    `share`: per cent of the longest bar of the tile, None without a bar. `rank`: among those compared, 0 for none.
    """

    slot: int
    name: str
    figure: str = ""
    note: str = ""
    share: float | None = None
    rank: int = 0
    is_beside: bool = False
    url: str = ""

    @property
    def css(self) -> str:
        return f"s{self.slot + 1}" + (" beside" if self.is_beside else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """`lead`: the answer, to be read first, "" where ranks give it; `rest`: what qualifies it.

    `is_known` False: the figures cannot tell. `setting`: under what all figures hold; `url`: where they stand.
    """

    title: str
    lead: str = ""
    rest: str = ""
    is_known: bool = True
    lines: tuple[TileLine, ...] = ()
    setting: str = ""
    url: str = ""


def tile_of(question: Question, figures: Sequence[SubjectFigure], setting: str = "", url: str = "") -> Tile:
    """Two subjects have a factor in words; from three on a rank each."""
    compared = sorted(
        (figure for figure in figures if figure.is_compared),
        key=lambda figure: figure.amount or 0.0,
        reverse=question.higher_is_better,
    )
    lead, is_known = _lead(question, figures, compared)
    title = str(question.title)
    if all(figure.amount is None for figure in figures):
        return Tile(title=title, lead=lead, rest=_reasons(figures), is_known=is_known, setting=setting, url=url)
    is_ranked = len(figures) > 2 and len(compared) > 1
    common = _common_marks(figures)
    marks = [common, _("least first") if is_ranked and not question.higher_is_better else ""]
    title = ", ".join(filter(None, (title, *marks)))
    rest = ""
    if is_ranked:
        unknown = [figure for figure in figures if figure.amount is None]
        figures = [figure for figure in figures if figure.amount is not None]
        rest = "; ".join(_by_reason(unknown))
    lines = tile_lines(figures, compared if is_ranked else (), common)
    return Tile(title=title, lead=lead, rest=rest, is_known=is_known, lines=lines, setting=setting, url=url)


def _common_marks(figures: Sequence[SubjectFigure]) -> str:
    """What all figures hold under, to be said once; "" for one figure alone."""
    known = [figure for figure in figures if figure.amount is not None]
    marks, conditions = {figure.marks for figure in known}, {figure.condition for figure in known}
    if len(known) < 2 or len(conditions) > 1:
        return ""
    return marks.pop() if len(marks) == 1 else conditions.pop()


def _without(marks: str, common: str) -> str:
    """`dense, derived` -> `derived`, where the title says dense."""
    return "" if marks == common else marks.removeprefix(f"{common}, ") if common else marks


def _lead(question: Question, figures: Sequence[SubjectFigure], compared: Sequence[SubjectFigure]) -> tuple[str, bool]:
    """(the sentence, whether it says something)."""
    known = [figure for figure in figures if figure.amount is not None]
    if len(compared) > 1:
        lead = distance(question, compared[0], compared[-1]) if len(figures) == 2 else ""
        return (lead, True) if lead or len(figures) > 2 else (_("cannot tell"), False)
    if len(known) > 1:
        return _("not like for like"), False
    if len(known) == 1:
        return _("known only for %(subject)s") % {"subject": known[0].subject}, False
    return _("cannot tell"), False


def _reasons(figures: Sequence[SubjectFigure]) -> str:
    """Why nobody has a figure."""
    reasons = {figure.why for figure in figures}
    if len(reasons) == 1:
        return reasons.pop() or _("no value is published for any of these")
    return "; ".join(_by_reason(figures))


def _by_reason(figures: Sequence[SubjectFigure]) -> list[str]:
    """`["not published: A, B", "sold in Macs, not by itself: C"]`"""
    by_reason: dict[str, list[str]] = {}
    for figure in figures:
        by_reason.setdefault(figure.why or _("not published"), []).append(figure.subject)
    return [
        _("%(why)s: %(subjects)s") % {"why": why, "subjects": ", ".join(subjects)}
        for why, subjects in by_reason.items()
    ]


def is_level(factor: float) -> bool:
    """Whether nothing is left of the difference, as figures are read."""
    return factor < NEARLY_EQUAL


def distance(question: Question, first: SubjectFigure, second: SubjectFigure) -> str:
    """`M3 Max has 1.6× the memory of H100`; both must be known. "" where bounds leave open which has more."""
    more, less = sorted((first, second), key=lambda figure: figure.amount or 0.0, reverse=True)
    factor = factor_text(more, less)
    if factor is None:
        return ""
    if not factor:
        return _("about equal")
    return _("%(more)s has %(factor)s the %(noun)s of %(less)s") % {
        "more": more.subject, "factor": factor, "noun": question.noun, "less": less.subject,
    }  # fmt: skip


def factor_text(more: SubjectFigure, less: SubjectFigure) -> str | None:
    """How many times the smaller figure the larger one is: `1.6×`; "" where they are level.

    A figure that is a bound bounds the factor: `at least 13×`. None where it may be on either side of 1: the larger
    figure is the bound.
    """
    if more.is_bound:
        return None
    factor = (more.amount or 0.0) / (less.amount or 1.0)
    if less.is_bound:
        return _("at least %(factor)s") % {"factor": format_at_least(factor)}
    return "" if is_level(factor) else format_factor(factor)


def tile_lines(
    figures: Sequence[SubjectFigure], ranked: Sequence[SubjectFigure] = (), common: str = ""
) -> tuple[TileLine, ...]:
    """A line for each subject in its order, or those that are ranked first; bars from 0 to the largest of all.

    `common`: marks that the title says.
    """
    longest = max((figure.amount or 0.0 for figure in figures if figure.has_bar), default=0.0)
    amounts = [figure.amount for figure in ranked]
    ranks = {figure.slot: 1 + amounts.index(figure.amount) for figure in ranked}  # equal figures share one
    others = [figure for figure in figures if figure.slot not in ranks] if ranked else figures
    in_order = sorted(others, key=lambda figure: figure.amount is None) if ranked else others
    return tuple(_line(figure, longest, ranks.get(figure.slot, 0), common) for figure in (*ranked, *in_order))


def _line(figure: SubjectFigure, longest: float, rank: int, common: str) -> TileLine:
    if figure.amount is None:
        return TileLine(slot=figure.slot, name=figure.subject, note=figure.why or _("not published"))
    return TileLine(
        slot=figure.slot,
        name=figure.subject,
        figure=figure.text,
        note="; ".join(filter(None, (_without(figure.marks, common), figure.why))),
        share=round(figure.amount / longest * 100, 1) if longest and figure.has_bar else None,
        rank=rank,
        is_beside=figure.is_beside,
        url=figure.url,
    )


# --- the questions, and what differs between the stacks ---


def sheet_figures(
    chosen: Sequence[Loaded], heads: Sequence[Head], rows: Sequence[SpecRow]
) -> list[tuple[Question, list[SubjectFigure]]]:
    """What the columns of the spec table answer to each question; nothing for fewer than two.

    A sheet is of one card: of a machine with several the figures are named as those of each.
    """
    if len(heads) < 2:
        return []
    heads = [_named_per_card(head, chosen[head.slot]) for head in heads]
    return [
        price_figures(question, heads, rows)
        if question.key == "price"
        else (question, figures_of(question, chosen, heads, rows))
        for question in QUESTIONS
    ]


def _named_per_card(head: Head, loaded: Loaded) -> Head:
    return replace(head, title=_("%(machine)s, each card") % {"machine": head.title}) if loaded.cards > 1 else head


# Where a missing part stops a program; below and above, the difference is one of kind.
_TELLING_LAYERS = (Layer.COMPILER, Layer.LIBRARY, Layer.PLATFORM)


def gap_tiles(drawing: StackDrawing) -> list[Tile]:
    """A tile on jobs that a component does on some stacks and nothing on others; none for fewer than two columns."""
    described = [column.title for column in drawing.columns if column.boxes]
    if len(described) < 2:
        return []
    missing: dict[str, list[str]] = {title: [] for title in described}
    partly: dict[str, list[str]] = {title: [] for title in described}
    rows = [(layer, row) for layer in drawing.layers if layer.layer in _TELLING_LAYERS for row in layer.rows]
    for layer, row in rows:
        for cell in row.cells:
            job = row.title or layer.title
            if cell.is_gap:
                missing[cell.column.title].append(job)
            elif cell.only_in:
                partly[cell.column.title].append(f"{job} ({cell.only_in})")
    return [gaps(_("Missing in software"), missing, partly)]


def gaps(title: str, missing: Mapping[str, Sequence[str]], partly: Mapping[str, Sequence[str]]) -> Tile:
    """`missing`: of each subject the jobs that nothing does there, while another subject has a component for them.

    `partly`: the jobs that one framework of several does, for its own programs.
    """
    nothing, only = _("%(subject)s has nothing for: %(jobs)s"), _("%(subject)s, in one framework only: %(jobs)s")
    lines = [
        sentence % {"subject": subject, "jobs": ", ".join(jobs)}
        for sentence, by_subject in ((nothing, missing), (only, partly))
        for subject, jobs in by_subject.items()
        if jobs
    ]
    if not lines:
        return Tile(
            title=title,
            lead=_("nothing: %(subjects)s have something for every job") % {"subjects": _listed([*missing])},
        )
    return Tile(title=title, lead=lines[0], rest="; ".join(lines[1:]))


def measured_tiles(heads: Sequence[Head], measured: Measured) -> list[Tile]:
    """The leading result: how far machines are apart, or how much of its published peak a single one reaches."""
    if not measured.rows:
        return []
    if measured.leading is None:
        return [Tile(title=_("Measured"), lead=_("cannot tell"), rest=_("no result counts"), is_known=False)]
    names = {head.slot: head.title for head in heads}
    results = measured.leading.results
    slot, fastest = results[0]
    title = f"{_('Measured')}: {fastest.title} {fastest.setting}"
    lines = tile_lines([_result_figure(slot, names[slot], result) for slot, result in results])
    if len(results) == 1:
        return [Tile(title=title, lines=lines)]
    outcome = measured.leading.outcome
    rest = "; ".join(outcome.reasons) if outcome else ""
    if outcome and outcome.answer is Comparability.NOT_COMPARABLE:
        return [Tile(title=title, lead=_("not comparable"), rest=rest, is_known=False, lines=lines)]
    if outcome and outcome.answer is Comparability.CANNOT_TELL:
        return [Tile(title=title, lead=_("cannot tell"), rest=rest, is_known=False, lines=lines)]
    last_slot, slowest = results[-1]
    lead = speed_distance(names[slot], rate_factor(fastest, slowest), names[last_slot])
    return [Tile(title=title, lead=lead, rest=rest, lines=lines)]


def _result_figure(slot: int, name: str, result: Measurement) -> SubjectFigure:
    rate = rate_of_ranked(result)
    return SubjectFigure(subject=name, slot=slot, amount=rate.value, text=rate.label, condition=_details(result))


def speed_distance(best: str, between: RateFactor, last: str) -> str:
    """`dgx-07 is 49× as fast as mbp (47× to 51×)`"""
    if is_level(between.factor):
        return _("about equal")
    if not between.is_certain:
        return _("cannot tell")
    lead = _("%(best)s is %(factor)s as fast as %(last)s") % {
        "best": best, "factor": format_factor(between.factor), "last": last,
    }  # fmt: skip
    if between.interval is None:
        return lead
    low, high = between.interval
    return _("%(lead)s (%(low)s to %(high)s)") % {"lead": lead, "low": low, "high": high}


def _details(result: Measurement) -> str:
    """`cuda:0, ±0.4 %, 54 % of its published peak`"""
    share = _("%(share)s of its published peak") % {"share": result.peak.label} if result.peak else ""
    return ", ".join(filter(None, (result.device, rate_of_ranked(result).spread_label, share)))


# --- the verdict: the comparison in one sentence of plain text, its title and the description of a link ---

Answered = tuple[Question, Sequence[SubjectFigure]]


def verdict_sentence(chosen: Sequence[Loaded], address: Address) -> str:
    """How far the subjects are apart, from what is published of them. Plain text in the reader's language.

    What cannot be compared is left out; where nothing can, the sentence says what the page shows.
    """
    rows, heads = spec_rows(chosen, heads_of(chosen, address), address)
    return verdict_of(chosen, sheet_figures(chosen, heads, rows))


def verdict_of(chosen: Sequence[Loaded], answered: Sequence[Answered]) -> str:
    """`verdict_sentence` of answers that are there already."""
    sentence = sentence_of(answered)
    if not sentence:
        sentence = _("specifications, software stack and results side by side, each with its source")
    elif len(chosen) == 2:
        return _("%(sentence)s.") % {"sentence": sentence}
    subjects = heading([loaded.title for loaded in chosen])
    return _("%(subjects)s: %(sentence)s.") % {"subjects": subjects, "sentence": sentence}


def sentence_of(answered: Sequence[Answered]) -> str:
    """The sentence about these answers, without a full stop; "" where no question has two figures to compare."""
    known = [(question, _largest_first(figures)) for question, figures in answered]
    comparable = [(question, figures) for question, figures in known if len(figures) > 1]
    if not comparable:
        return ""
    if len(answered[0][1]) == 2:
        return _about_two(comparable)
    return _about_several(comparable)


def _largest_first(figures: Sequence[SubjectFigure]) -> list[SubjectFigure]:
    known = [figure for figure in figures if figure.is_compared]
    return sorted(known, key=lambda figure: figure.amount or 0.0, reverse=True)


def _about_two(comparable: Sequence[tuple[Question, Sequence[SubjectFigure]]]) -> str:
    """What each has more of, the one with more of it first."""
    more: dict[tuple[str, str], list[str]] = {}
    equal: list[str] = []
    for question, (first, second) in comparable:
        factor = factor_text(first, second)
        if factor is None:
            continue
        if not factor:
            equal.append(str(question.noun))
            continue
        times = _("%(factor)s the %(noun)s") % {"factor": factor, "noun": question.noun}
        more.setdefault((first.subject, second.subject), []).append(times)
    parts = [
        _("%(first)s has %(times)s of %(second)s") % {"first": first, "times": _listed(times), "second": second}
        for (first, second), times in sorted(more.items(), key=lambda item: -len(item[1]))
    ]
    if equal:
        parts.append(_("about equal in %(nouns)s") % {"nouns": _listed(equal)})
    return _("; ").join(parts)


def _about_several(comparable: Sequence[tuple[Question, Sequence[SubjectFigure]]]) -> str:
    """Who leads in what."""
    parts = []
    for question, figures in comparable:
        leader = figures[0] if question.higher_is_better else figures[-1]
        if leader.is_bound:
            continue
        names = [figure.subject for figure in figures if figure.amount == leader.amount]
        if len(names) == len(figures):
            parts.append(_("about equal in %(nouns)s") % {"nouns": question.noun})
            continue
        values = {"noun": question.noun, "name": _listed(names), "figure": _figure_with_size(question, leader)}
        most, least = _("most %(noun)s: %(name)s (%(figure)s)"), _("least %(noun)s: %(name)s (%(figure)s)")
        parts.append((most if question.higher_is_better else least) % values)
    return _("; ").join(parts)


def _figure_with_size(question: Question, figure: SubjectFigure) -> str:
    """The figure, with the configuration that it is of where one product is sold in several: a price is of one size."""
    is_of_size = question.key in ("memory", "price") and figure.condition
    return f"{figure.text}, {figure.condition}" if is_of_size else figure.text


def _listed(words: Sequence[str]) -> str:
    """`a, b and c`"""
    *most, last = words
    if not most:
        return last
    return _("%(most)s and %(last)s") % {"most": _(", ").join(most), "last": last}
