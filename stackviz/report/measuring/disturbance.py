"""Whether something else was at work while a result was measured: one threshold, for the agent that measures a round
again and for the site that then says "cannot tell".
"""

from collections.abc import Mapping
from typing import Any

__all__ = ["DISTURBED_FROM", "PREFIX", "disturbances"]

DISTURBED_FROM = 0.05
"""A larger share of the processors, or of the card, in foreign hands: timings differ by about as much."""

PREFIX = "interference."
_OF_PROCESSOR = ("foreign_cpu_ratio", "steal_ratio")
_OF_CARD = ("card_ratio",)


def disturbances(conditions: Mapping[str, Any], device: str) -> dict[str, float]:
    """What disturbed a result on this device -> its share; empty: nothing did, or nobody looked.

    `conditions`: with names that begin with PREFIX. Other load on the processors does not slow a card down that has
    its work; Apple's chips share memory and power.
    """
    names = _OF_PROCESSOR if device.partition(":")[0] in {"cpu", "mps", "mlx"} else _OF_CARD
    shares = {name: conditions.get(PREFIX + name) for name in names}
    return {
        name: share
        for name, share in shares.items()
        if isinstance(share, int | float) and not isinstance(share, bool) and share > DISTURBED_FROM
    }
