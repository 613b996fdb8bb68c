"""What the page `/fit/` shows: figures as text, bars as per cents, sentences. No query."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count, groupby

from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from stackviz.base.units import format_number, quantity_label
from stackviz.pages.fit.answers import FitAnswer, nearest_misses, requested_first, smallest_fitting
from stackviz.pages.fit.calibration import Prediction
from stackviz.pages.fit.memory import MemoryPart
from stackviz.pages.fit.query import CARDS, FitQuery
from stackviz.pages.fit.words import BOUNDS, FORMULAS, LEVELS, LIMITS, PARTS, TERMS
from stackviz.web.paging import Page, page_as

MISSES_SHOWN = 24
FULL = 0.995
# Looks of the parts of memory: greys of static/css/fit.css, told apart without them by order and label.
_LOOKS = {
    "weights": "m1", "tables": "m2", "cache": "m1 hatched", "gradients": "m2 hatched", "master": "m3",
    "optimizer": "m3 hatched", "adapters": "m3", "activations": "m3", "logits": "m3 hatched", "runtime": "m4",
    "slack": "m4 hatched",
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
    """One memory size of one accelerator, or of `cards` of it. `used`: per cent of the fullest card.

    `verdict`: whether it fits, and how fast it runs or how much is missing; `limit`: how what is usable was found.
    """

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
    verdict: str
    segments: tuple[ShownPart, ...]
    tick: str

    @property
    def title(self) -> str:
        return f"{self.cards} × {self.name}" if self.cards > 1 else self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class FitSummary:
    """The whole answer. `chosen`: of each accelerator asked for its memory sizes; `first`: whose arithmetic is shown.

    `ways_on`: (words, address) of what may run it where one of the chosen does not, or none of all.
    """

    sentence: str
    needed: str
    chosen: tuple[tuple[ShownAnswer, ...], ...]
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
    fitting, missing = requested_first(answers), nearest_misses(answers)
    sized = [list(group) for _target, group in groupby(answers, lambda answer: answer.target)] if query.chosen else []
    misses = tuple(shown_answer(answer, 0) for answer in missing[:MISSES_SHOWN])
    scale = max((max(answer.needed, answer.available) for group in sized for answer in group), default=None)
    smallest = shown_answer(fitting[0], 1) if fitting else None
    first = shown_answer(smallest_fitting(sized[0]), 0) if sized else smallest or next(iter(misses), None)
    return FitSummary(
        sentence=_sentence(query, first, sized),
        needed=first.needed if first else "",
        chosen=tuple(tuple(shown_answer(answer, 0, scale) for answer in group) for group in sized),
        ranked=tuple(fitting),
        misses=misses,
        miss_count=len(missing),
        answer_count=len(answers),
        unknown=tuple(unknown),
        first=first,
        ways_on=_ways_on(query) if not fitting or not all(smallest_fitting(group).fits for group in sized) else (),
    )


def _ways_on(query: FitQuery) -> tuple[tuple[str, str], ...]:
    """Twice as many cards, and every accelerator instead of the chosen ones."""
    more, every = query.parameters.copy(), query.parameters.copy()
    more["cards"] = str(2 * query.cards)
    every.pop("accelerator", None)
    ways = [(_("Which accelerators run it?"), f"?{every.urlencode(safe=':')}")] if query.accelerators else []
    if 2 * query.cards <= CARDS.high:
        ways.insert(0, (_("With %(n)d of each?") % {"n": 2 * query.cards}, f"?{more.urlencode(safe=':')}"))
    return tuple(ways)


def shown_page(page: Page[FitAnswer]) -> Page[ShownAnswer]:
    """A page of the ranking."""
    ranks = count(page.first)
    return page_as(page, lambda answer: shown_answer(answer, next(ranks)))


def shown_answer(answer: FitAnswer, rank: int, scale: float | None = None) -> ShownAnswer:
    """Return one answer. `scale`: bytes that its bar would be full at, the same for all bars of a page."""
    scale = scale or max(answer.needed, answer.available)
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
        verdict=_verdict(answer),
        segments=tuple(_part(part, scale) for part in answer.parts if part.size > 0),
        tick=f"{min(100.0, answer.available / scale * 100):.2f}",
    )


def _share(used: float) -> str:
    """Per cent; what only just fits is not called full."""
    return "99.9" if FULL <= used <= 1 else f"{used * 100:.0f}"


def _part(part: MemoryPart, scale: float) -> ShownPart:
    return ShownPart(
        name=str(PARTS[part.key]),
        css=_LOOKS[part.key],
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


def _sentence(query: FitQuery, first: ShownAnswer | None, sized: Sequence[Sequence[FitAnswer]]) -> str:
    """Return the answer: about all memory sizes of each chosen accelerator, or the smallest accelerator of all."""
    if first is None:
        return ""
    if len({memory_text(answers[0].needed) for answers in sized}) > 1:
        return _each_need(query, sized)
    needs = _("%(model)s in %(precision)s needs %(needed)s") % {
        "model": query.model.name,
        "precision": query.precision.name,
        "needed": first.needed,
    }
    if sized:
        return f"{needs}: {'; '.join(_about(answers) for answers in sized)}."
    if not first.fits:
        return _("%(needs)s and fits none of these accelerators.") % {"needs": needs}
    named = {"needs": needs, "name": first.title, "memory": first.memory}
    return _("%(needs)s. The smallest that runs it, of those most asked for: %(name)s with %(memory)s.") % named


def _each_need(query: FitQuery, sized: Sequence[Sequence[FitAnswer]]) -> str:
    """Each accelerator with its own need: other shares of memory and other numbers of cards change it."""
    sentences = [
        _("needs %(needed)s, %(fits)s") % {"needed": memory_text(answers[0].needed), "fits": _about(answers)}
        for answers in sized
    ]
    values = {"model": query.model.name, "precision": query.precision.name, "answers": "; ".join(sentences)}
    return _("%(model)s in %(precision)s: %(answers)s.") % values


def _about(answers: Sequence[FitAnswer]) -> str:
    """Return `fits Apple M4 Max, 64 GB (48 GiB usable), 6.4–11 tokens/s`, or the verdict of each size.

    Several sizes: `on Apple M1 with 8 GB: no, 16 GB: yes, 6.9–11 tokens/s`. `answers`: of one accelerator.
    """
    answer = answers[0]
    values = {
        "name": f"{answer.cards} × {answer.target.name}" if answer.cards > 1 else answer.target.name,
        "memory": f"{format_number(answer.limit.printed_gb)} GB",
        "usable": memory_text(answer.available),
        "sizes": size_verdict(answers),
    }
    if len(answers) > 1:
        return _with_rate(_("on %(name)s with %(sizes)s") % values, answers)
    if not answer.fits:
        return _("does not fit %(name)s, %(memory)s (%(usable)s usable)") % values
    return _with_rate(_("fits %(name)s, %(memory)s (%(usable)s usable)") % values, answers)


def _with_rate(words: str, answers: Sequence[FitAnswer]) -> str:
    rate = size_rate(answers)
    return _("%(fits)s, %(rate)s tokens/s") % {"fits": words, "rate": rate} if rate else words


def _verdict(answer: FitAnswer) -> str:
    """Return `fits, 6.4–11 tokens/s` or `9.37 GiB short`."""
    if answer.fits:
        return _with_rate(pgettext("of a model", "fits"), [answer])
    return _("%(missing)s short") % {"missing": memory_text(answer.fullest - answer.usable)}


def size_verdict(answers: Sequence[FitAnswer]) -> str:
    """Return whether it fits each memory size of one accelerator: `48 GB: no, 64 / 128 GB: yes`.

    A single size: `fits`, or what is needed of what is usable.
    """
    answer = answers[0]
    if len(answers) > 1:
        alike = groupby(answers, lambda answer: answer.fits)
        return ", ".join(_size_verdict(list(group)) for _fits, group in alike)
    if answer.fits:
        return pgettext("of a model", "fits")
    words = {"needed": memory_text(answer.needed), "usable": memory_text(answer.available)}
    return _("needs %(needed)s of %(usable)s usable") % words


def _size_verdict(answers: Sequence[FitAnswer]) -> str:
    words = _("%(size)s GB: yes") if answers[0].fits else _("%(size)s GB: no")
    return words % {"size": " / ".join(format_number(answer.limit.printed_gb) for answer in answers)}


def size_rate(answers: Sequence[FitAnswer]) -> str:
    """Return the range in tokens/s, which all sizes that fit have in common; "" where it is not known."""
    decode = smallest_fitting(answers).decode
    return rate_range(decode) if decode else ""
