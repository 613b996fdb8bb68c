"""The answer for one accelerator: what is needed, what may be used, which rates to expect. Pure of requests.

Figures come from the catalogue's targets, rates from the calibrations; both are arguments.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from stackviz.fit.calibration import Calibration, Prediction
from stackviz.fit.limits import MemoryLimit
from stackviz.fit.memory import MemoryPart, Workload, fullest_card, inference_parts
from stackviz.fit.query import FitQuery
from stackviz.fit.rates import NotPublished, Pass, RatedAccelerator
from stackviz.fit.targets import FitTarget
from stackviz.fit.training import TrainingRun, card_share, training_parts


@dataclass(frozen=True, kw_only=True)
class FitCalibrations:
    decode: Calibration
    prefill: Calibration


@dataclass(frozen=True, kw_only=True)
class FitAnswer:
    """`needed`, `available`: bytes of all cards; `fullest`: of the card that needs most, `usable` of each.

    `decode`, `prefill`: None for training, where it does not fit, and where a figure of the sheet or every cited rate
    is missing.
    """

    target: FitTarget
    limit: MemoryLimit
    cards: int
    parts: tuple[MemoryPart, ...]
    fullest: float
    decode: Prediction | None = None
    prefill: Prediction | None = None

    @property
    def needed(self) -> float:
        return sum(part.size for part in self.parts)

    @property
    def usable(self) -> float:
        return self.limit.usable

    @property
    def available(self) -> float:
        return self.limit.usable * self.cards

    @property
    def fits(self) -> bool:
        return self.fullest <= self.usable


def answer_for(query: FitQuery, target: FitTarget, calibrations: FitCalibrations) -> FitAnswer | None:
    """The answer; None where no memory is published, or none of the asked size."""
    limits = [limit for limit in target.limits if query.memory_gb in (0, limit.printed_gb)]
    if not limits:
        return None
    answers = [_with_memory(query, target, limit) for limit in limits]
    answer = next((answer for answer in answers if answer.fits), answers[-1])
    if not answer.fits or query.is_training or not query.precision.runs_on(target.rated.vendor):
        return answer
    return _with_rates(query, answer, calibrations)


def answers_for(query: FitQuery, targets: Sequence[FitTarget], calibrations: FitCalibrations) -> list[FitAnswer]:
    """The answers of these accelerators; those without memory are left out."""
    answers = (answer_for(query, target, calibrations) for target in targets)
    return [answer for answer in answers if answer is not None]


def smallest_first(answers: Sequence[FitAnswer]) -> list[FitAnswer]:
    """Those that fit: the least usable memory first, of equal ones the fastest."""
    fitting = [answer for answer in answers if answer.fits]
    return sorted(
        fitting,
        key=lambda answer: (answer.available, -(answer.decode.mid if answer.decode else 0.0), answer.target.name),
    )


def nearest_misses(answers: Sequence[FitAnswer]) -> list[FitAnswer]:
    """Those that do not fit: the least missing first."""
    missing = [answer for answer in answers if not answer.fits]
    return sorted(missing, key=lambda answer: (answer.fullest - answer.usable, answer.target.name))


def work_of(query: FitQuery) -> Pass:
    """One pass of the model as rates are computed for it."""
    return Pass(
        shape=query.model.shape,
        precision=query.precision,
        depth=query.depth,
        batch=query.batch,
        cache_precision=query.cache_precision,
        shards=query.cards if query.split == "tensor" else 1,
    )


def _with_memory(query: FitQuery, target: FitTarget, limit: MemoryLimit) -> FitAnswer:
    shape, cards, split = query.model.shape, query.cards, query.split
    if query.task == "inference":
        load = Workload(
            shape=shape,
            precision=query.precision,
            context=query.context,
            batch=query.batch,
            cache_precision=query.cache_precision,
            cards=cards,
            split=split,
            is_unified=limit.is_unified,
        )
        parts = inference_parts(load, limit.runtime)
        fullest = fullest_card(parts, shape, cards, split)
    else:
        run = TrainingRun(
            shape=shape,
            precision=query.precision,
            context=query.context,
            batch=query.batch,
            method=query.task,
            optimizer=query.optimizer,
            checkpointing=query.checkpointing,
            rank=query.rank,
            cards=cards,
            split=split,
        )
        parts = training_parts(run, limit.runtime)
        fullest = card_share(parts, shape, cards, split)
    return FitAnswer(target=target, limit=limit, cards=cards, parts=tuple(parts), fullest=fullest)


def _with_rates(query: FitQuery, answer: FitAnswer, calibrations: FitCalibrations) -> FitAnswer:
    work, rated = work_of(query), answer.target.rated
    prefill = _predicted(calibrations.prefill, work, rated)
    decode = _predicted(calibrations.decode, work, rated)
    if decode is not None and prefill is not None and decode.mid > prefill.mid:
        decode = prefill  # a batch cannot be generated faster than it could be read
    return replace(answer, decode=decode, prefill=prefill)


def _predicted(calibration: Calibration, work: Pass, rated: RatedAccelerator) -> Prediction | None:
    if not calibration.rates:
        return None
    try:
        return calibration.predict(work, rated)
    except NotPublished:
        return None
