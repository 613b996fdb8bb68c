"""What a card can do by its name alone, where it has no spec sheet: laptops, Quadro, MX, GTX 16, older Radeon.

`tables/capabilities.csv` has one name a line, with the source. A name that cards of two chips share is not in it.
"""

from functools import lru_cache

from stackviz.report.rules.compatibility import packaged_rows
from stackviz.report.rules.known_cards import is_cut, normalized

__all__ = ["listed_capabilities"]

FILE = "capabilities.csv"


@lru_cache(maxsize=4096)
def listed_capabilities(vendor: str, name: str) -> frozenset[str]:
    """NVIDIA's compute capability (`8.6`), AMD's target (`gfx1102`); several for a name that a tool cut."""
    wanted = normalized(name)
    if not is_cut(name):
        return frozenset(filter(None, [_listed().get((vendor, wanted), "")]))
    beginning = (
        (maker, known) for maker, known in _listed() if maker == vendor and wanted and known.startswith(wanted)
    )
    return frozenset(_listed()[card] for card in beginning)


@lru_cache(maxsize=1)
def _listed() -> dict[tuple[str, str], str]:
    return {(row["vendor"], normalized(row["reported_name"])): row["capability"] for row in packaged_rows(FILE)}
