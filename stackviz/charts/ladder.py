"""A ladder: figures ranked, as bar lengths for CSS. Published and measured are never one bar. Pure data."""

from collections.abc import Sequence
from dataclasses import dataclass

from stackviz.charts.scale import Scale, ScaleKind, bar_scale
from stackviz.units import format_number

TICKS_APART = 18  # per cent of the drawing: room for `100,000` on a phone


@dataclass(frozen=True, slots=True)
class Rung:
    """One ranked thing: `value` in the ladder's unit; `measured` the same, timed on a real one, None: nobody did."""

    key: int
    value: float
    measured: float | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """A rung as it is drawn: `place` in the ranking, equals share one; lengths in per cent, written for CSS."""

    key: int
    place: int
    length: str
    measured_length: str


@dataclass(frozen=True, slots=True)
class Tick:
    at: str
    label: str


@dataclass(frozen=True, slots=True)
class Ladder:
    """Best first. `is_dotted`: on a logarithmic scale lengths have no zero, so figures are marks, not bars."""

    steps: tuple[Step, ...]
    ticks: tuple[Tick, ...]
    is_dotted: bool


def ladder(rungs: Sequence[Rung], kind: ScaleKind, *, lower_is_better: bool = False) -> Ladder:
    """Rank these, equals in the order given. One scale holds published and measured, so that a row's two compare."""
    ranked = sorted(rungs, key=lambda rung: rung.value if lower_is_better else -rung.value)
    values = [rung.value for rung in rungs] + [rung.measured for rung in rungs if rung.measured is not None]
    scale = bar_scale(values, kind)
    steps: list[Step] = []
    for number, rung in enumerate(ranked, 1):
        is_level = number > 1 and rung.value == ranked[number - 2].value
        place = steps[-1].place if is_level else number
        measured = "" if rung.measured is None else _percent(scale, rung.measured)
        steps.append(Step(rung.key, place, _percent(scale, rung.value), measured))
    return Ladder(tuple(steps), tuple(_ticks(scale)) if rungs else (), kind == "log")


def _percent(scale: Scale, value: float) -> str:
    return f"{scale.percent(value):.1f}"


def _ticks(scale: Scale) -> list[Tick]:
    return [Tick(_percent(scale, tick), format_number(tick)) for tick in scale.ticks(TICKS_APART)]
