"""Rounds of a stored result: its samples, grouped as they were taken."""

from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from statistics import median
from typing import Any

__all__ = ["round_count", "round_medians"]


def round_count(conditions: Mapping[str, Any]) -> int | None:
    """How many rounds; None where the agent did not say which sample is of which."""
    return len(_sizes(conditions)) or None


def round_medians(conditions: Mapping[str, Any], samples: Sequence[float]) -> list[float]:
    """The median of each round, in the unit of the samples; [] where the rounds are not known."""
    ends = [0, *accumulate(_sizes(conditions))]
    if len(ends) == 1 or ends[-1] != len(samples):
        return []
    return [median(samples[start:end]) for start, end in pairwise(ends)]


def _sizes(conditions: Mapping[str, Any]) -> list[int]:
    """Whatever a sender put there: [] for anything but numbers above 0."""
    stated = conditions.get("round_sizes")
    words = stated.split() if isinstance(stated, str) else []
    sizes = [int(size) for size in words if size.isascii() and size.isdigit() and len(size) < 6]
    return sizes if len(sizes) == len(words) and all(sizes) else []
