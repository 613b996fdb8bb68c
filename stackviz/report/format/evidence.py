"""Which cards a finding's evidence names. A rule writes `card 1` and `card 1 pcie_width`, each with what it read."""

import re
from collections.abc import Iterable

_CARD = re.compile(r"card (\d{1,6})(?: |$)")


def cards_named(evidence: Iterable[str]) -> frozenset[int]:
    """Indexes of the cards; none where a finding is about the machine, and so about all of them.

    >>> sorted(cards_named(["card 1", "card 1 pcie_width", "torch.version"]))
    [1]
    """
    return frozenset(int(match[1]) for match in map(_CARD.match, evidence) if match)
