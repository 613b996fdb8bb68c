"""Cards by the name they report: which product a card is, how much memory it has, which compute capability.

A name may be several products' (`NVIDIA GeForce RTX 4060 Ti` has 8 or 16 GB): then memory size or core count decide,
or nothing does. The site decides in the same way, from its catalogue (`catalog.match`).
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

__all__ = [
    "COLUMNS",
    "MEMORY_TOLERANCE",
    "KnownCard",
    "KnownCards",
    "card_from_row",
    "is_cut",
    "memory_distance",
    "names_behind_share",
    "normalized",
]

# Drivers from before 2021 report "A100-SXM4-40GB", later ones "NVIDIA A100-SXM4-40GB"; tools replace spaces by "_".
_VENDOR_WORDS = ("nvidia", "amd", "intel", "apple", "google", "huawei")
_MARKS = re.compile(r"\((?:r|tm|c)\)|[®™©]", re.IGNORECASE)
_MIG_SLICE = re.compile(r"\bmig\b.*$")
_NOT_A_WORD = re.compile(r"[^a-z0-9+]+")
# A share of a card, as a virtual machine names it: "GRID T4-2Q", "NVIDIA RTXA6000-48A", "GRID A100-1-5C".
_SHARE = re.compile(r"^(?:NVIDIA |GRID )*(.+?)-\d{1,3}(?:-\d{1,3})?[ABCQ]$")
_JOINED_RTX = re.compile(r"^RTX(?=[A\d])")
# A card reports less than is printed (81,559 MiB of "80 GB", 46,068 MiB of "48 GB" with ECC on): a few per cent.
MEMORY_TOLERANCE = 0.06
GIB, GB = 2**30, 10**9
CUT = "..."


@lru_cache(maxsize=4096)
def normalized(name: str) -> str:
    """`NVIDIA_A100-SXM4-80GB` and `A100-SXM4-80GB` -> `a100 sxm4 80gb`. Empty when nothing but a vendor is left.

    Case, spaces, dashes, trade marks, a leading vendor's name and the profile of a MIG slice do not count.
    """
    words = _NOT_A_WORD.sub(" ", _MARKS.sub(" ", name).casefold()).strip()
    words = _MIG_SLICE.sub("", words).strip()
    first, _, rest = words.partition(" ")
    return rest if first in _VENDOR_WORDS and rest else words


def is_cut(name: str) -> bool:
    """Whether the tool that printed the name ran out of room: `NVIDIA GeForce RTX 2080 ...` may be any 2080."""
    return name.rstrip().endswith((CUT, "…"))


def names_behind_share(name: str) -> tuple[str, ...]:
    """What the card may be called that a vGPU is a share of, best first; none where the name is not that of a share."""
    share = _SHARE.match(name)
    if not share:
        return ()
    card = _JOINED_RTX.sub("RTX ", share[1])
    whole = tuple(f"{maker} {card}" for maker in ("NVIDIA", "Tesla", "Quadro"))
    return (*whole, *(f"{beginning}-{CUT}" for beginning in whole))


def memory_distance(printed_bytes: int, reported_bytes: int) -> float:
    """How far, relative to the printed size, a reported size is off, be the printed GB decimal or binary in truth."""
    printed_gb = printed_bytes / GB
    return min(abs(reported_bytes / GIB - printed_gb), abs(reported_bytes / GB - printed_gb)) / printed_gb


COLUMNS = (
    "reported_name", "vendor", "accelerator", "memory_bytes", "compute_capability", "gpu_cores", "needs",
)  # fmt: skip

_ANY_VENDOR = ("", "unknown", "other")


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownCard:
    """One name that cards of one product report.

    `accelerator` is its slug in the catalogue. `memory_bytes` is as printed, None if not printed or if variants differ.
    `needs` says what must agree beside the name: words of "memory", "cores"; "more" if nothing suffices.
    """

    reported_name: str
    vendor: str
    accelerator: str
    memory_bytes: int | None
    compute_capability: str = ""
    gpu_cores: int | None = None
    needs: str = ""

    def agrees(self, memory_bytes: int | None, gpu_cores: int | None) -> bool | None:
        """Whether what a card reports makes it this one; None where it reports too little to tell."""
        agreements: list[bool | None] = [True]
        if "more" in self.needs:
            return None
        if "cores" in self.needs:
            agreements.append(self.gpu_cores == gpu_cores if gpu_cores else None)
        if "memory" in self.needs and self.memory_bytes:
            near = memory_distance(self.memory_bytes, memory_bytes or 0) <= MEMORY_TOLERANCE
            agreements.append(near if memory_bytes else None)
        if False in agreements:
            return False
        return None if None in agreements else True


def card_from_row(row: Mapping[str, str]) -> KnownCard:
    """A line of the packaged file."""
    return KnownCard(
        reported_name=row["reported_name"],
        vendor=row["vendor"],
        accelerator=row["accelerator"],
        memory_bytes=int(row["memory_bytes"]) if row["memory_bytes"] else None,
        compute_capability=row["compute_capability"],
        gpu_cores=int(row["gpu_cores"]) if row["gpu_cores"] else None,
        needs=row["needs"],
    )


class KnownCards:
    """All known names, looked up as cards report them."""

    def __init__(self, cards: Iterable[KnownCard]) -> None:
        self._by_name: dict[str, list[KnownCard]] = {}
        for card in sorted(cards, key=lambda card: (card.accelerator, card.reported_name, card.needs)):
            self._by_name.setdefault(normalized(card.reported_name), []).append(card)

    def single(
        self, vendor: str, name: str, memory_bytes: int | None = None, gpu_cores: int | None = None
    ) -> KnownCard | None:
        """The product a card is; None if no name is known, several fit, or the name was cut.

        A truncated name may also be the beginning of another, unknown name.
        """
        if is_cut(name):
            return None
        fitting = self.candidates(vendor, name, memory_bytes, gpu_cores)
        if len({card.accelerator for card in fitting}) != 1 or fitting[0].agrees(memory_bytes, gpu_cores) is not True:
            return None
        return fitting[0]

    def candidates(
        self, vendor: str, name: str, memory_bytes: int | None = None, gpu_cores: int | None = None
    ) -> list[KnownCard]:
        """What a card may be: those that agree with all it reports, else those that do not contradict it."""
        named = [card for card in self._named(name) if vendor.casefold() in (card.vendor, *_ANY_VENDOR)]
        if is_cut(name):
            sized = [card for card in named if _fits(card, memory_bytes)]
            return sized or named
        agreeing = [card for card in named if card.agrees(memory_bytes, gpu_cores) is True]
        if agreeing:
            return _nearest(agreeing, memory_bytes)
        return [card for card in named if card.agrees(memory_bytes, gpu_cores) is None]

    def _named(self, name: str) -> Sequence[KnownCard]:
        wanted = normalized(name)
        if not is_cut(name):
            return self._by_name.get(wanted, ())
        return [card for known, cards in self._by_name.items() if wanted and known.startswith(wanted) for card in cards]


def _fits(card: KnownCard, memory_bytes: int | None) -> bool:
    if not memory_bytes or not card.memory_bytes:
        return True
    return memory_distance(card.memory_bytes, memory_bytes) <= MEMORY_TOLERANCE


def _nearest(agreeing: list[KnownCard], memory_bytes: int | None) -> list[KnownCard]:
    """Of names that agree, those that ask for most (a size, a core count), and of these the nearest in memory."""
    specific = [card for card in agreeing if card.needs] or agreeing
    sized = [(card, card.memory_bytes) for card in specific if "memory" in card.needs and card.memory_bytes]
    if not sized or not memory_bytes:
        return specific
    least = min(memory_distance(printed, memory_bytes) for _card, printed in sized)
    return [card for card, printed in sized if memory_distance(printed, memory_bytes) == least]
