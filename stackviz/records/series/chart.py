"""The unit in which a chart of results is printed. Pure data, no database."""

from stackviz.base.units import format_quantity, unit


def chart_unit(si: str, largest: float) -> str:
    """The printed unit in which the largest figure reads best: TFLOP/s for 7.8e14 FLOP/s."""
    shown = format_quantity(largest, si).unit
    try:
        return unit(shown).symbol
    except KeyError:  # printed with a sign of its own, such as mm²
        return si
