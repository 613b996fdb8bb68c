"""What a picture of a page shows, as plain data. Its words are English: who fetches previews names no language."""

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["MOST_BARS", "MOST_LINES", "MOST_TILES", "Picture", "PictureBar", "PictureLine", "PictureTile", "of_largest"]

MOST_TILES = 6
MOST_BARS = 8  # of a ranking
MOST_LINES = 5


@dataclass(frozen=True, slots=True)
class PictureBar:
    """`share`: of the longest bar, None where the figure is unknown; `slot`: its colour, from 0."""

    name: str
    text: str
    share: float | None
    slot: int = 0

    @property
    def percent(self) -> str:
        """Of the longest bar, as text for CSS."""
        return f"{100 * min(1.0, self.share or 0.0):.1f}"


@dataclass(frozen=True, slots=True)
class PictureTile:
    """A figure with its title, or one bar for each subject."""

    title: str
    figure: str = ""
    bars: tuple[PictureBar, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class PictureLine:
    """A sentence with its severity: "broken", "warning", "note", "good" or ""."""

    severity: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """`kind`: of what, in a word or two; `lead`: the answer in a sentence. Then tiles, bars or lines."""

    kind: str
    title: str
    lead: str
    tiles: tuple[PictureTile, ...] = ()
    bars: tuple[PictureBar, ...] = ()
    lines: tuple[PictureLine, ...] = ()


def of_largest(amounts: Sequence[float | None]) -> list[float | None]:
    """Each amount as a share of the largest; None stays None."""
    largest = max((amount for amount in amounts if amount is not None), default=0.0)
    return [amount / largest if amount is not None and largest > 0 else None for amount in amounts]
