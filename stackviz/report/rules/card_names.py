"""How names and memory sizes of cards are compared: what a card reports and what a sheet prints, in one form."""

import re
from functools import lru_cache

__all__ = ["CUT", "MEMORY_TOLERANCE", "is_cut", "memory_distance", "names_behind_share", "normalized"]

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
