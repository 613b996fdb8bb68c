"""One sentence a question: what the figures of a comparison say at a glance. Pure; no database.

A verdict is drawn only from figures of one field under one condition. Where a subject has none, the verdict says so.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from stackviz.units import format_factor

NEARLY_EQUAL = 1.02  # figures within 2 % are called equal: data sheets round harder than that


@dataclass(frozen=True, slots=True)
class Figure:
    """What one subject says to a question. `amount`: SI, None when unknown; `text`: as shown, empty when unknown.

    `why`: the reason when unknown; "" is that nothing is published.
    """

    subject: str
    amount: float | None
    text: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """`fields`: catalogue fields that answer it, the first that anybody publishes wins."""

    key: str
    title: str | Promise
    fields: tuple[str, ...]
    higher_is_better: bool


@dataclass(frozen=True, slots=True)
class Verdict:
    """`lead`: the part to read first; `rest`: what qualifies it; `is_known` False: the figures cannot tell."""

    title: str
    lead: str
    rest: str = ""
    is_known: bool = True


QUESTIONS = (
    Question("memory", gettext_lazy("Memory"), ("memory_gb", "memory_gb_max"), higher_is_better=True),
    Question("bandwidth", gettext_lazy("Memory bandwidth"), ("memory_bandwidth_gb_s",), higher_is_better=True),
    Question("bf16", gettext_lazy("bf16 matrix product"), ("bf16_tensor_tflops",), higher_is_better=True),
    Question("fp32", gettext_lazy("fp32"), ("fp32_tflops",), higher_is_better=True),
    Question("power", gettext_lazy("Power"), ("tdp_w", "power_w"), higher_is_better=False),
    Question("price", gettext_lazy("Launch price"), ("launch_price_usd",), higher_is_better=False),
)


def gaps(title: str, missing: Mapping[str, Sequence[str]]) -> Verdict:
    """What a subject's stack has nothing for: `missing` maps a subject to the names of what others have there."""
    lines = [
        _("%(subject)s has no counterpart of %(names)s") % {"subject": subject, "names": ", ".join(names)}
        for subject, names in missing.items()
        if names
    ]
    if not lines:
        return Verdict(title, _("nothing that only one side has"))
    return Verdict(title, lines[0], "; ".join(lines[1:]))


def judge(question: Question, figures: Sequence[Figure]) -> Verdict:
    """The sentence for one question. Two known figures give a factor, one is only stated, none is "cannot tell"."""
    title = str(question.title)
    known = [figure for figure in figures if figure.amount is not None and figure.amount > 0]
    unknown = [figure for figure in figures if figure.amount is None]
    if not known:
        reasons = _missing(unknown) if any(figure.why for figure in unknown) else _("nobody here publishes a figure")
        return Verdict(title, _("cannot tell"), reasons, is_known=False)
    if len(known) == 1:
        return Verdict(title, f"{known[0].subject}: {known[0].text}", _missing(unknown))
    return Verdict(title, *_ranking(known, unknown, higher_is_better=question.higher_is_better))


def _ranking(known: Sequence[Figure], unknown: Sequence[Figure], *, higher_is_better: bool) -> tuple[str, str]:
    ranked = sorted(known, key=lambda figure: figure.amount or 0.0, reverse=higher_is_better)
    best, last = ranked[0], ranked[-1]
    figures = ", ".join(f"{figure.subject} {figure.text}" for figure in ranked)
    factor = _factor(best, last)
    if factor < NEARLY_EQUAL:
        lead = _("about equal")
    elif higher_is_better:
        lead = _("%(best)s has %(factor)s %(last)s") % _names(best, factor, last)
    else:
        lead = _("%(last)s takes %(factor)s %(best)s") % _names(best, factor, last)
    return lead, "; ".join(filter(None, (figures, _missing(unknown))))


def _names(best: Figure, factor: float, last: Figure) -> dict[str, str]:
    return {"best": best.subject, "factor": format_factor(factor), "last": last.subject}


def _factor(one: Figure, other: Figure) -> float:
    low, high = sorted((one.amount or 0.0, other.amount or 0.0))
    return high / low


def _missing(unknown: Sequence[Figure]) -> str:
    """`not published: M3 Max; only with 2:4 sparsity: B300`; "" where every subject has its figure."""
    by_reason: dict[str, list[str]] = {}
    for figure in unknown:
        by_reason.setdefault(figure.why or _("not published"), []).append(figure.subject)
    return "; ".join(
        _("%(why)s: %(subjects)s") % {"why": why, "subjects": ", ".join(subjects)}
        for why, subjects in by_reason.items()
    )
