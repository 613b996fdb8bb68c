"""The colours of compared subjects, in the order they were chosen. Equal to --s1..--s6 in static/css/tokens.css.

Chosen so that any two can be told apart with normal sight, protanopia, deuteranopia and tritanopia, on light and on
dark; tests/charts/test_palette.py measures it. A figure names its colours ("s1"), and static/js/charts.js replaces the
light ones below by those of the reader's theme.
"""

LIGHT = ("#1f5ac1", "#a8560c", "#049a8c", "#64106f", "#b38912", "#4d4e56")
DARK = ("#53a0ff", "#f27239", "#7af0ba", "#bc7aac", "#f4b707", "#b0bed2")
INK, INK_2, LINE = "#1b1e23", "#565c66", "#e2e2dd"


def colour_name(slot: int) -> str:
    """The CSS token of this slot, counted from 0; the seventh reuses the first."""
    return f"s{slot % len(LIGHT) + 1}"


def colour(slot: int) -> str:
    """The light colour of this slot, counted from 0."""
    return LIGHT[slot % len(LIGHT)]
