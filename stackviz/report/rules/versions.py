"""Version texts as numbers: `535.183.01` -> (535, 183, 1)."""

import re
from functools import lru_cache
from itertools import zip_longest

__all__ = ["is_below", "major_minor", "numbers", "same_line"]

_NUMBERS = re.compile(r"v?(\d{1,9}(?:\.\d{1,9})*)", re.ASCII)


@lru_cache(maxsize=8192)  # a report is held against hundreds of table rows, the same in every report
def numbers(version: str) -> tuple[int, ...]:
    """The leading numbers of a version: `2.13.0+cu130` -> (2, 13, 0). Empty if it starts with none."""
    match = _NUMBERS.match(version.strip())
    return tuple(int(part) for part in match[1].split(".")) if match else ()


@lru_cache(maxsize=8192)
def is_below(version: str, other: str) -> bool:
    """Whether `version` comes before `other`; missing parts count as 0, so 12.3 is not below 12.3.0."""
    pairs = list(zip_longest(numbers(version), numbers(other), fillvalue=0))
    return [left for left, _ in pairs] < [right for _, right in pairs]


@lru_cache(maxsize=8192)
def major_minor(version: str) -> str:
    """`2.13.0+cu130` -> `2.13`; a lone major stays as it is."""
    return ".".join(str(part) for part in numbers(version)[:2])


@lru_cache(maxsize=8192)
def same_line(version: str, line: str) -> bool:
    """Whether `version` belongs to the release line `line`: 12.8.1 belongs to 12 and to 12.8, not to 12.80."""
    parts = numbers(line)
    return bool(parts) and numbers(version)[: len(parts)] == parts
