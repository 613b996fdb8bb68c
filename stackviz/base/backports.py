"""What Python 3.11 has and 3.10 lacks, for what runs on lab machines: Ubuntu 22.04 and JetPack 6 have 3.10.

Standard library only; imports nothing of ours.
"""

import re
import sys
from datetime import datetime

if sys.version_info >= (3, 11):
    from datetime import UTC
    from enum import StrEnum
    from typing import dataclass_transform
else:
    from collections.abc import Callable
    from datetime import timezone
    from enum import Enum
    from typing import Any

    UTC = timezone.utc

    class StrEnum(str, Enum):
        __str__ = str.__str__

    def dataclass_transform(**_named: object) -> Callable[[Any], Any]:
        """Tells type checkers what 3.10 runs without."""
        return lambda decorated: decorated


__all__ = [
    "PATH_WITHOUT_FOLDER", "POSSESSIVE", "UTC", "StrEnum", "dataclass_transform", "time_of_iso",
]  # fmt: skip

PATH_WITHOUT_FOLDER = "import sys; sys.path = [path for path in sys.path if path]; "
"""Begins code for `python -c`, as the option -P would: a file in the current folder stands in for no module."""

POSSESSIVE = "+" if sys.version_info >= (3, 11) else ""
"""Behind a quantifier of a regular expression: gives back nothing that it took. 3.10 tries all of it again: slower for
texts that are made to be slow, which no lab machine prints; the site has 3.11.
"""

_FRACTION = re.compile(r"\.(\d+)")


def time_of_iso(text: str) -> datetime:
    """datetime.fromisoformat as of 3.11: with Z, and with any number of digits behind the second.

    Raises ValueError.
    """
    text = f"{text[:-1]}+00:00" if text.endswith(("Z", "z")) else text
    return datetime.fromisoformat(_FRACTION.sub(lambda match: f".{match[1][:6]:0<6}", text, count=1))
