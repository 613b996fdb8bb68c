"""Readers of maps of names to scalars: the facts of a machine and of a card, parameters, conditions.

The results of one report, and of one agent's reports, have maps of the same few shapes: same names in the same order,
same types. A shape that was read once is remembered, and of the next map of it only lengths and bounds are checked.
"""

from collections.abc import Mapping

from stackviz.wire.errors import ReportError
from stackviz.wire.facts import CARD_FACTS, CONDITIONS, FACTS, Fact
from stackviz.wire.limits import LIMITS
from stackviz.wire.report import Scalar
from stackviz.wire.values import as_object, check_names, noun

__all__ = ["read_card_facts", "read_conditions", "read_facts", "read_params"]

_SHAPES_KEPT = 64  # per reader; senders of ever new shapes cost themselves the quick path, and us no memory
_MOST: dict[type, float] = {
    str: LIMITS.string_chars,
    float: LIMITS.number_max,
    int: LIMITS.integer_max,
    bool: 1,
}
_SIZE_PROBLEM: dict[type, str] = {
    str: f"is over {LIMITS.string_chars} characters long",
    float: "is not a finite number of ordinary size",
    int: "is an integer beyond 64 bits",
}

Scalars = dict[str, Scalar]


class _Shape:
    """What is left to check of a map whose names and types are known to be right: lengths and bounds."""

    __slots__ = ("bounds",)

    def __init__(self, scalars: Scalars, table: Mapping[str, Fact]) -> None:
        self.bounds = [
            (None, None) if isinstance(value, str) else (_lowest(table.get(name), type(value)), _MOST[type(value)])
            for name, value in scalars.items()
        ]

    def fits(self, scalars: Scalars) -> bool:
        longest = LIMITS.string_chars
        for value, (lowest, highest) in zip(scalars.values(), self.bounds, strict=True):
            if lowest is None:
                if len(value) > longest:  # type: ignore[arg-type]
                    return False
            elif not lowest <= value <= highest:  # type: ignore[operator]
                return False
        return True


def _lowest(fact: Fact | None, kind: type) -> float:
    return -_MOST[kind] if fact is None or fact.least is None else fact.least


class _MapReader:
    """Reads one kind of map: at most `most` entries; names in `table` must have the type and bound it states."""

    def __init__(self, table: Mapping[str, Fact], most: int) -> None:
        self._table = table
        self._most = most
        self._shapes: dict[tuple[tuple[str, ...], tuple[type, ...]], _Shape] = {}

    def __call__(self, value: object) -> Scalars:
        """The same map, checked; raises ReportError with the name at fault as its path."""
        scalars: Scalars = as_object(value)
        if not scalars:
            return scalars
        key = (tuple(scalars), tuple(map(type, scalars.values())))
        shape = self._shapes.get(key)
        if shape is None or not shape.fits(scalars):
            self._check(scalars)
            if len(self._shapes) >= _SHAPES_KEPT:
                self._shapes.clear()
            self._shapes[key] = _Shape(scalars, self._table)
        return scalars

    def _check(self, scalars: Scalars) -> None:
        if len(scalars) > self._most:
            raise ReportError("", f"has {len(scalars)} entries, over {self._most}")
        check_names(scalars)
        for name, value in scalars.items():
            fact = self._table.get(name)
            problem = _problem_with(value) or (fact.problem_with(value) if fact else None)
            if problem:
                raise ReportError(name, problem)


def _problem_with(value: object) -> str | None:
    kind = type(value)
    most = _MOST.get(kind)
    if most is None:
        return f"is {noun(value)}, not text, a number, true or false"
    size = len(value) if isinstance(value, str) else value
    return None if -most <= size <= most else _SIZE_PROBLEM[kind]  # type: ignore[operator]


read_facts = _MapReader(FACTS, LIMITS.facts)
read_card_facts = _MapReader(CARD_FACTS, LIMITS.facts)
read_conditions = _MapReader(CONDITIONS, LIMITS.conditions)
read_params = _MapReader({}, LIMITS.params)
