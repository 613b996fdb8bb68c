"""The verdict of a comparison in one sentence of plain text: its title, and its description where a link is shown.

    verdict_sentence(chosen, address)
    "RTX 5090 has 3.3× the memory bandwidth of M4 Max; M4 Max has 4× the memory of RTX 5090."

No query beside those of the spec table: none in a process that has read this edition of the catalogue.
"""

from collections.abc import Sequence

from django.utils.translation import gettext as _

from stackviz.pages.compare.answers import SubjectFigure
from stackviz.pages.compare.query import Address
from stackviz.pages.compare.questions import Question
from stackviz.pages.compare.spec_table import spec_rows
from stackviz.pages.compare.subjects import Loaded, heading, heads_of
from stackviz.pages.compare.summary import sheet_figures
from stackviz.pages.compare.tiles import factor_text

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
        values = {"noun": question.noun, "name": leader.subject, "figure": leader.text}
        most, least = _("most %(noun)s: %(name)s (%(figure)s)"), _("least %(noun)s: %(name)s (%(figure)s)")
        parts.append((most if question.higher_is_better else least) % values)
    return _("; ").join(parts)


def _listed(words: Sequence[str]) -> str:
    """`a, b and c`"""
    *most, last = words
    if not most:
        return last
    return _("%(most)s and %(last)s") % {"most": _(", ").join(most), "last": last}
