"""The maker of a card, from the name it reports."""

import re
from collections.abc import Mapping

__all__ = ["vendor_of"]

_TIERS = (
    {
        "nvidia": r"nvidia",
        "amd": r"amd|ati|advanced micro devices",
        "intel": r"intel",
        "apple": r"apple",
        "huawei": r"huawei|ascend",
        "baidu": r"baidu",
        "google": r"google",
    },
    {
        "nvidia": r"geforce|quadro|tesla|titan|rtx|gtx|grid",
        "amd": r"radeon|instinct|firepro|gfx[0-9a-f]+",
        "intel": r"arc|iris|gma",
    },
    {
        "intel": r"a(?:310|380|580|750|770)m?|b5[78]0",
        "amd": r"mi\d{2,3}[ax]?|v(?:340|520|620)",
        "apple": r"m[1-9]",
    },
    {"nvidia": r"[ahklptv]\d{2,4}s?|[alpt][24]|m\d0|g?b[123]00|gh200"},
)
"""Makers' names, lines of products, model numbers that only one maker has, and those that look like NVIDIA's.

What comes earlier counts, however many of the later ones stand in the name: an Arc A770 is no card of NVIDIA's.
"""


def _pattern(tier: Mapping[str, str]) -> re.Pattern[str]:
    named = "|".join(f"(?P<{vendor}>{words})" for vendor, words in tier.items())
    return re.compile(rf"(?<![^\W_])(?:{named})(?![^\W_])", re.IGNORECASE)


_PATTERNS = tuple(_pattern(tier) for tier in _TIERS)


def vendor_of(name: str) -> str:
    """Vendor as the wire has it; "unknown" for a name that says none."""
    vendor = next((match for match in (pattern.search(name) for pattern in _PATTERNS) if match), None)
    return str(vendor.lastgroup) if vendor else "unknown"
