"""A ladder: values ranked, as bar lengths for CSS. Published and measured values are separate bars. Pure data."""

from collections.abc import Sequence
from dataclasses import dataclass

from stackviz.base.units import format_number
from stackviz.draw.charts.scale import Mark, ScaleKind, bar_scale

RUNGS_PER_PAGE = 40
TICKS_APART = 18  # per cent of the width: room for `100,000` on a phone


@dataclass(frozen=True, slots=True)
class Rung:
    """One item to rank: `value` in the ladder's unit; `measured`: the best measured value, None for none.

    `takes_place` False: it stands where its value puts it, but is not counted.
    """

    key: int
    value: float
    measured: float | None = None
    takes_place: bool = True


@dataclass(frozen=True, slots=True)
class LadderStep:
    """A ranked rung: equal values share a `rank`; lengths in per cent, None where not measured.

    `rank` None: it takes no place.
    """

    key: int
    rank: int | None
    length: float
    measured_length: float | None


def rank_rungs(
    rungs: Sequence[Rung], kind: ScaleKind, *, lower_is_better: bool = False
) -> tuple[list[LadderStep], list[Mark]]:
    """Rank the rungs, best first, equal values in the order given. -> (steps, marks of the scale).

    Published and measured values share one scale.
    """
    ranked = sorted(rungs, key=lambda rung: rung.value if lower_is_better else -rung.value)
    values = [rung.value for rung in rungs] + [rung.measured for rung in rungs if rung.measured is not None]
    scale = bar_scale(values, kind)
    places = _places(ranked)
    steps = []
    for rung in ranked:
        measured = None if rung.measured is None else scale.position(rung.measured)
        steps.append(LadderStep(rung.key, places.get(rung.key), scale.position(rung.value), measured))
    marks = [Mark(scale.position(tick), format_number(tick)) for tick in scale.ticks(TICKS_APART)] if rungs else []
    return steps, marks


def _places(ranked: Sequence[Rung]) -> dict[int, int]:
    """Key -> place of those that take one, best first; equal values share it."""
    counted = [rung for rung in ranked if rung.takes_place]
    places: dict[int, int] = {}
    for number, rung in enumerate(counted, 1):
        before = counted[number - 2] if number > 1 else None
        places[rung.key] = places[before.key] if before and before.value == rung.value else number
    return places
