"""What the page `/fit/` shows: figures as text, bars as per cents, sentences. No query."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from stackviz.base.units import format_number, quantity_label
from stackviz.pages.fit.answers import FitAnswer, nearest_misses, smallest_first
from stackviz.pages.fit.calibration import Prediction
from stackviz.pages.fit.memory import MemoryPart
from stackviz.pages.fit.query import CARDS, FitQuery
from stackviz.pages.fit.words import BOUNDS, FORMULAS, LEVELS, LIMITS, PARTS, TERMS
from stackviz.web.paging import Page, page_as

MISSES_SHOWN = 24
FULL = 0.995
# Colours of the parts of memory: tokens of static/css/tokens.css, told apart without them by order and label.
_COLOURS = {
    "weights": "s1", "tables": "s6", "cache": "s2", "gradients": "s2", "master": "s4", "optimizer": "s5",
    "adapters": "s4", "activations": "s3", "logits": "s3 hatched", "runtime": "runtime", "slack": "slack",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownPart:
    """A part of memory; `share`: per cent of the bar."""

    name: str
    css: str
    size: str
    exact: str
    share: str
    formula: str
    worked: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownTerm:
    """One term of the time of a pass: its name, the ideal time, times its coefficient."""

    name: str
    ideal: str
    coefficient: str
    seconds: str
    share: str
    bound: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRate:
    """A rate: `range` and `mid` in tokens/s, what bounds it, and how near its evidence is. `title`: of what.

    `measured`: how many rates of the evidence are measured, "" for none; `evidence` has those that are cited.
    """

    title: str
    range: str
    mid: str
    bound: str
    efficiency: str
    evidence: str
    measured: str
    bound_rate: str
    factor: str
    terms: tuple[ShownTerm, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownAnswer:
    """One accelerator, or `cards` of it. `used`: per cent of the fullest; `limit`: how what is usable was found."""

    rank: int
    name: str
    vendor: str
    url: str
    slug: str
    cards: int
    fits: bool
    memory: str
    usable: str
    needed: str
    used: str
    missing: str
    limit: str
    limit_worked: str
    limit_source: tuple[str, str]
    decode: ShownRate | None
    prefill: ShownRate | None
    sentence: str
    segments: tuple[ShownPart, ...]
    tick: str

    @property
    def title(self) -> str:
        return f"{self.cards} × {self.name}" if self.cards > 1 else self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class FitSummary:
    """The whole answer. `chosen`: the accelerators asked for; `first`: whose arithmetic is shown.

    `ways_on`: (words, address) of what may run it where one of the chosen does not, or none of all.
    """

    sentence: str
    needed: str
    chosen: tuple[ShownAnswer, ...]
    ranked: tuple[FitAnswer, ...]
    misses: tuple[ShownAnswer, ...]
    miss_count: int
    answer_count: int
    unknown: tuple[str, ...]
    first: ShownAnswer | None
    ways_on: tuple[tuple[str, str], ...] = ()

    @property
    def counts(self) -> str:
        total = self.answer_count
        words = ngettext("%(n)d of %(all)d accelerator runs it", "%(n)d of %(all)d accelerators run it", total)
        return words % {"n": len(self.ranked), "all": total}


def shown_summary(query: FitQuery, answers: Sequence[FitAnswer], unknown: Iterable[str]) -> FitSummary:
    fitting, missing = smallest_first(answers), nearest_misses(answers)
    misses = tuple(shown_answer(answer, 0) for answer in missing[:MISSES_SHOWN])
    by_slug = {answer.target.slug: answer for answer in answers}
    chosen = tuple(shown_answer(by_slug[slug], 0) for slug in query.accelerators if slug in by_slug)
    smallest = shown_answer(fitting[0], 1) if fitting else None
    first = next(iter(chosen), smallest or next(iter(misses), None))
    return FitSummary(
        sentence=_sentence(query, first, chosen),
        needed=first.needed if first else "",
        chosen=chosen,
        ranked=tuple(fitting),
        misses=misses,
        miss_count=len(missing),
        answer_count=len(answers),
        unknown=tuple(unknown),
        first=first,
        ways_on=_ways_on(query) if not fitting or any(not answer.fits for answer in chosen) else (),
    )


def _ways_on(query: FitQuery) -> tuple[tuple[str, str], ...]:
    """Twice as many cards, and every accelerator instead of the chosen ones."""
    more, every = query.parameters.copy(), query.parameters.copy()
    more["cards"] = str(2 * query.cards)
    every.pop("accelerator", None)
    ways = [(_("Which accelerators run it?"), f"?{every.urlencode()}")] if query.accelerators else []
    if 2 * query.cards <= CARDS.high:
        ways.insert(0, (_("With %(n)d of each?") % {"n": 2 * query.cards}, f"?{more.urlencode()}"))
    return tuple(ways)


def shown_page(page: Page[FitAnswer]) -> Page[ShownAnswer]:
    """A page of the ranking."""
    ranks = count(page.first)
    return page_as(page, lambda answer: shown_answer(answer, next(ranks)))


def shown_answer(answer: FitAnswer, rank: int) -> ShownAnswer:
    scale = max(answer.needed, answer.available)
    limit = answer.limit
    return ShownAnswer(
        rank=rank,
        name=answer.target.name,
        vendor=answer.target.vendor_name,
        url=answer.target.url,
        slug=answer.target.slug,
        cards=answer.cards,
        fits=answer.fits,
        memory=f"{format_number(limit.printed_gb)} GB",
        usable=memory_text(answer.available),
        needed=memory_text(answer.needed),
        used=_share(answer.fullest / answer.usable),
        missing=memory_text(max(0.0, answer.fullest - answer.usable)),
        limit=str(LIMITS[limit.rule]),
        limit_worked=f"{format_number(limit.printed_gb)} GB × {limit.share:.3g} = {memory_text(limit.usable)}",
        limit_source=limit.source,
        decode=_rate(answer.decode, _("One token")),
        prefill=_rate(answer.prefill, _("One token of a prompt")),
        sentence=_about(answer),
        segments=tuple(_part(part, scale) for part in answer.parts if part.size > 0),
        tick=f"{min(100.0, answer.available / scale * 100):.2f}",
    )


def _share(used: float) -> str:
    """Per cent; what only just fits is not called full."""
    return "99.9" if FULL <= used <= 1 else f"{used * 100:.0f}"


def _part(part: MemoryPart, scale: float) -> ShownPart:
    return ShownPart(
        name=str(PARTS[part.key]),
        css=_COLOURS[part.key],
        size=memory_text(part.size),
        exact=f"{part.size:,.0f} B",
        share=f"{part.size / scale * 100:.2f}",
        formula=str(FORMULAS[part.form]),
        worked=part.worked,
    )


def _rate(prediction: Prediction | None, title: str) -> ShownRate | None:
    if prediction is None:
        return None
    seconds, measured = sum(term.seconds for term in prediction.terms), prediction.measured
    return ShownRate(
        title=title,
        range=rate_range(prediction),
        mid=_tokens(prediction.mid),
        bound=str(BOUNDS[prediction.bound_by]),
        efficiency=f"{prediction.efficiency * 100:.0f} %",
        evidence=_cited_evidence(prediction),
        measured=ngettext("%(n)d measured rate", "%(n)d measured rates", measured) % {"n": measured}
        if measured
        else "",
        bound_rate=_tokens(prediction.bound_rate),
        factor=format_number(prediction.factor, 3),
        terms=tuple(
            ShownTerm(
                name=str(TERMS[term.name]),
                ideal=quantity_label(term.ideal, "s", digits=3),
                coefficient=format_number(term.coefficient, 3),
                seconds=quantity_label(term.seconds, "s", digits=3),
                share=f"{term.seconds / seconds * 100:.0f} %",
                bound=str(BOUNDS[term.bound]),
            )
            for term in prediction.terms
            if term.seconds > 0
        ),
    )


def _cited_evidence(prediction: Prediction) -> str:
    """`this accelerator, 3 cited rates`; the level alone where all rates are measured."""
    cited, level = prediction.count - prediction.measured, str(LEVELS[prediction.level])
    if not cited:
        return level
    words = ngettext("%(level)s, %(n)d cited rate", "%(level)s, %(n)d cited rates", cited)
    return words % {"level": level, "n": cited}


def rate_range(prediction: Prediction) -> str:
    """`7.9–9.6`, in tokens/s."""
    return f"{_tokens(prediction.low)}–{_tokens(prediction.high)}"


def _tokens(rate: float) -> str:
    return format_number(rate, 2 if rate < 100 else 3)


def memory_text(size: float) -> str:
    """`42.5 GiB`"""
    return quantity_label(size, "B", binary=True, digits=3)


def _sentence(query: FitQuery, first: ShownAnswer | None, chosen: Sequence[ShownAnswer]) -> str:
    """The answer: about each accelerator that was chosen, or the smallest of all."""
    if first is None:
        return ""
    if len({answer.needed for answer in chosen}) > 1:
        return _each_need(query, chosen)
    needs = _("%(model)s in %(precision)s needs %(needed)s") % {
        "model": query.model.name,
        "precision": query.precision.name,
        "needed": first.needed,
    }
    if chosen:
        return f"{needs}: {'; '.join(answer.sentence for answer in chosen)}."
    if not first.fits:
        return _("%(needs)s and fits none of these accelerators.") % {"needs": needs}
    named = {"needs": needs, "name": first.title, "memory": first.memory}
    return _("%(needs)s. The smallest that runs it: %(name)s with %(memory)s.") % named


def _each_need(query: FitQuery, chosen: Sequence[ShownAnswer]) -> str:
    """Each accelerator with its own need: other shares of memory and other numbers of cards change it."""
    sentences = [_("needs %(needed)s, %(fits)s") % {"needed": a.needed, "fits": a.sentence} for a in chosen]
    values = {"model": query.model.name, "precision": query.precision.name, "answers": "; ".join(sentences)}
    return _("%(model)s in %(precision)s: %(answers)s.") % values


def _about(answer: FitAnswer) -> str:
    """`fits Apple M4 Max, 64 GB (48 GiB usable), 6.4–11 tokens/s`"""
    values = {
        "name": f"{answer.cards} × {answer.target.name}" if answer.cards > 1 else answer.target.name,
        "memory": f"{format_number(answer.limit.printed_gb)} GB",
        "usable": memory_text(answer.available),
    }
    if not answer.fits:
        return _("does not fit %(name)s, %(memory)s (%(usable)s usable)") % values
    fits = _("fits %(name)s, %(memory)s (%(usable)s usable)") % values
    if answer.decode is None:
        return fits
    return _("%(fits)s, %(rate)s tokens/s") % {"fits": fits, "rate": rate_range(answer.decode)}
