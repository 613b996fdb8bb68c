"""How names of accelerators are compared: what a card reports and what a catalogue writes, brought to one form.

Standard library only.
"""

import re

# Drivers from before 2021 report "A100-SXM4-40GB", later ones "NVIDIA A100-SXM4-40GB"; tools replace spaces by "_".
_VENDOR_WORDS = ("nvidia", "amd", "intel", "apple", "google", "huawei")
_MARKS = re.compile(r"\((?:r|tm|c)\)|[®™©]", re.IGNORECASE)
_MIG_SLICE = re.compile(r"\bmig\b.*$")
_NOT_A_WORD = re.compile(r"[^a-z0-9+]+")


def normalized(name: str) -> str:
    """`NVIDIA_A100-SXM4-80GB` and `A100-SXM4-80GB` -> `a100 sxm4 80gb`. Empty when nothing but a vendor is left.

    Case, spaces, dashes, trade marks, a leading vendor's name and the profile of a MIG slice do not count.
    """
    words = _NOT_A_WORD.sub(" ", _MARKS.sub(" ", name).casefold()).strip()
    words = _MIG_SLICE.sub("", words).strip()
    first, _, rest = words.partition(" ")
    return rest if first in _VENDOR_WORDS and rest else words
