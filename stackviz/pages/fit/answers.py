"""The answer for one accelerator: what is needed, what may be used, which rates to expect. Pure of requests.

Figures come from the catalogue's targets, rates from the calibrations; both are arguments.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from stackviz.pages.fit.calibration import Calibration, Prediction
from stackviz.pages.fit.memory import MemoryPart, Workload, fullest_card, inference_parts
from stackviz.pages.fit.query import FitQuery
from stackviz.pages.fit.rates import NotPublished, Pass, RatedAccelerator
from stackviz.pages.fit.targets import FitTarget, MemoryLimit
from stackviz.pages.fit.training import TrainingRun, card_share, training_parts
from stackviz.records.catalog.asked_for import most_requested


@dataclass(frozen=True, kw_only=True)
class FitCalibrations:
    decode: Calibration
    prefill: Calibration


@dataclass(frozen=True, kw_only=True)
class FitAnswer:
    """`needed`, `available`: bytes of all cards; `fullest`: of the card that needs most, `usable` of each.

    `decode`, `prefill`: None for training, where it does not fit, and where a figure of the sheet or every rate is
    missing.
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


def chosen_answers(query: FitQuery, targets: Mapping[str, FitTarget], calibrations: FitCalibrations) -> list[FitAnswer]:
    """Return an answer for each memory size of the chosen accelerators, in their order; none for those without."""
    work = _Work(query, calibrations)
    by_size: dict[tuple[str, float], FitAnswer] = {}
    for choice in query.chosen:
        for answer in work.sized_answers(targets[choice.slug], choice.memory_gb):
            by_size[choice.slug, answer.limit.printed_gb] = answer
    return [
        by_size[slug, size] for slug in query.accelerators for size in targets[slug].sizes if (slug, size) in by_size
    ]


def answers_for(query: FitQuery, targets: Iterable[FitTarget], calibrations: FitCalibrations) -> list[FitAnswer]:
    """Return an answer for each accelerator that has memory, or has the size that is asked for."""
    work = _Work(query, calibrations)
    sized = (work.sized_answers(target, query.memory_gb) for target in targets)
    return [smallest_fitting(answers) for answers in sized if answers]


def smallest_fitting(answers: Sequence[FitAnswer]) -> FitAnswer:
    """Return the smallest size of an accelerator that fits, else its largest. `answers`: the smallest first."""
    return next((answer for answer in answers if answer.fits), answers[-1])


def requested_first(answers: Sequence[FitAnswer]) -> list[FitAnswer]:
    """Those that fit: the accelerators most asked for, then the others; of each the smallest first, then the fastest.

    By memory alone the list would begin with old accelerators that nobody sells.
    """
    frequent = frozenset(most_requested())
    return sorted(
        (answer for answer in answers if answer.fits),
        key=lambda answer: (
            answer.target.slug not in frequent,
            answer.available,
            -(answer.decode.mid if answer.decode else 0.0),
            answer.target.name,
        ),
    )


def nearest_misses(answers: Sequence[FitAnswer]) -> list[FitAnswer]:
    """Those that do not fit: the least missing first."""
    missing = [answer for answer in answers if not answer.fits]
    return sorted(missing, key=lambda answer: (answer.fullest - answer.usable, answer.target.name))


class _Work:
    """What a query asks of every accelerator: computed once for each kind of memory, and once for rates."""

    def __init__(self, query: FitQuery, calibrations: FitCalibrations) -> None:
        self.query, self.calibrations = query, calibrations
        self._needs: dict[tuple[float, bool], tuple[tuple[MemoryPart, ...], float]] = {}
        self._pass = Pass(
            shape=query.model.shape,
            precision=query.precision,
            depth=query.depth,
            batch=query.batch,
            cache_precision=query.cache_precision,
            shards=query.cards if query.split == "tensor" else 1,
        )

    def sized_answers(self, target: FitTarget, memory_gb: float) -> list[FitAnswer]:
        """Return the answer for this memory size, or for each; empty where it is not published."""
        limits = [limit for limit in target.limits if memory_gb in (0, limit.printed_gb)]
        return [self._with_rates(self._with_memory(target, limit)) for limit in limits]

    def _with_memory(self, target: FitTarget, limit: MemoryLimit) -> FitAnswer:
        key = (limit.runtime, limit.is_unified)
        if key not in self._needs:
            self._needs[key] = self._trained(limit) if self.query.is_training else self._run(limit)
        parts, fullest = self._needs[key]
        return FitAnswer(target=target, limit=limit, cards=self.query.cards, parts=parts, fullest=fullest)

    def _run(self, limit: MemoryLimit) -> tuple[tuple[MemoryPart, ...], float]:
        query = self.query
        load = Workload(
            shape=query.model.shape,
            precision=query.precision,
            context=query.context,
            batch=query.batch,
            cache_precision=query.cache_precision,
            cards=query.cards,
            split=query.split,
            is_unified=limit.is_unified,
        )
        parts = tuple(inference_parts(load, limit.runtime))
        return parts, fullest_card(parts, load.shape, load.cards, load.split)

    def _trained(self, limit: MemoryLimit) -> tuple[tuple[MemoryPart, ...], float]:
        query = self.query
        run = TrainingRun(
            shape=query.model.shape,
            precision=query.precision,
            context=query.context,
            batch=query.batch,
            method="lora" if query.task == "lora" else "full",
            optimizer=query.optimizer,
            checkpointing=query.checkpointing,
            rank=query.rank,
            cards=query.cards,
            split=query.split,
        )
        parts = tuple(training_parts(run, limit.runtime))
        return parts, card_share(parts, run.shape, run.cards, run.split)

    def _with_rates(self, answer: FitAnswer) -> FitAnswer:
        query, vendor = self.query, answer.target.rated.vendor
        if not answer.fits or query.is_training or not query.precision.runs_on(vendor):
            return answer
        prefill = self._predicted(self.calibrations.prefill, answer.target.rated)
        decode = self._predicted(self.calibrations.decode, answer.target.rated)
        if decode is not None and prefill is not None and decode.mid > prefill.mid:
            decode = prefill  # a batch cannot be generated faster than it could be read
        return replace(answer, decode=decode, prefill=prefill)

    def _predicted(self, calibration: Calibration, rated: RatedAccelerator) -> Prediction | None:
        if not calibration.rates:
            return None
        try:
            return calibration.predict(self._pass, rated)
        except NotPublished:
            return None
