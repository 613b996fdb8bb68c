"""The tiles at the top of a comparison: a question each, what every subject answers, bars on one axis. No database.

A factor is given only between figures of one field under one condition. Where a subject has none, the tile says why.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from stackviz.base.units import format_factor
from stackviz.pages.compare.answers import SubjectFigure
from stackviz.pages.compare.questions import Question

NEARLY_EQUAL = 1.02  # figures within 2 % are called equal: data sheets round more coarsely


@dataclass(frozen=True, slots=True, kw_only=True)
class TileLine:
    """One subject in a tile. `figure`: "" where there is none, `note` says why then, or what qualifies the figure.

    `share`: per cent of the longest bar of the tile, "" without a bar. `rank`: among those compared, 0 for none.
    """

    slot: int
    name: str
    figure: str = ""
    note: str = ""
    share: str = ""
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
    """What several figures hold under, to be said once: all of them, or as a condition most of those published.

    "" where one of them has no marks at all: it would seem to have these.
    """
    known = [figure for figure in figures if figure.amount is not None]
    marks = [figure.marks for figure in known]
    if len(marks) < 2 or not all(marks):
        return ""
    if len(set(marks)) == 1:
        return marks[0]
    conditions = Counter(figure.condition for figure in known if not figure.kind)
    common, count = next(iter(conditions.most_common(1)), ("", 0))
    return common if 2 * count > len(marks) else ""


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
    """Whether nothing is left of the difference, as figures are read and as factors are written."""
    return factor < NEARLY_EQUAL or format_factor(factor) == format_factor(1.0)


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
        return _("at least %(factor)s") % {"factor": format_factor(factor)}
    return "" if is_level(factor) else format_factor(factor)


def tile_lines(
    figures: Sequence[SubjectFigure], ranked: Sequence[SubjectFigure] = (), common: str = ""
) -> tuple[TileLine, ...]:
    """A line for each subject in its order, or those that are ranked first; bars from 0 to the largest of all.

    `common`: marks that the title says.
    """
    longest = max((figure.amount or 0.0 for figure in figures), default=0.0)
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
        share=f"{figure.amount / longest * 100:.1f}" if longest else "",
        rank=rank,
        is_beside=figure.is_beside,
        url=figure.url,
    )
