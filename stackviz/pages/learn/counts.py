"""Numbers of what this site has, inside a text: `{{ count:stacks }}`. A text that counts by hand is soon wrong."""

from collections.abc import Callable, Mapping

from stackviz.base.units import format_number
from stackviz.records.catalog.queries import public_catalogue
from stackviz.records.stacks.operators import operators
from stackviz.records.stacks.queries import public_stacks

__all__ = ["COUNTS", "counted_things", "draw_count"]

COUNTS: Mapping[str, Callable[[], int]] = {
    "accelerators": lambda: len(public_catalogue().accelerators),
    "operators": lambda: len(operators()),
    "stacks": lambda: len(public_stacks()),
}


def counted_things(text: str) -> str:
    """What the text asks the number of; "" where it names something else."""
    kind, _colon, things = text.strip().partition(":")
    return things if kind == "count" else ""


def draw_count(things: str) -> str:
    """How many there are now."""
    return format_number(COUNTS[things]())
