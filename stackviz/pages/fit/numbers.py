"""Numbers of an address of `/fit/`, with what may stand there. No database."""

import re
from dataclasses import dataclass

from django.utils.translation import gettext as _

from stackviz.base.units import format_number
from stackviz.web.address import AddressReader, whole_number

MOST_DIGITS = 15
_COUNT = re.compile(r"(\d{1,7}(?:\.\d{1,6})?)(?:e(\d{1,2})| ?([kmbt]))?", re.IGNORECASE)
_POWERS = {"k": 3, "m": 6, "b": 9, "t": 12}


@dataclass(frozen=True)
class WholeRange:
    """A whole number from `low` to `high`; `default` where none is given."""

    low: int
    high: int
    default: int

    def read(self, reader: AddressReader, name: str) -> int:
        """The number, or the default: with a note where what is given is none of them."""

        def parse(text: str) -> int | None:
            number = whole_number(text.replace(",", ""), MOST_DIGITS)
            return number if number is not None and self.low <= number <= self.high else None

        given = reader.parsed(name, parse, self._problem())
        return self.default if given is None else given

    def _problem(self) -> str:
        words = _("“%%(value)s” is not a whole number from %(low)s to %(high)s")
        return words % {"low": format_number(self.low), "high": format_number(self.high)}


def read_count(text: str) -> float | None:
    """`8B`, `8e9`, `8030000000`, `0.6b` -> how many; None for anything else."""
    match = _COUNT.fullmatch(text.replace(",", "")) or re.fullmatch(r"(\d{1,18})()()", text)
    if match is None:
        return None
    power = int(match[2]) if match[2] else _POWERS[match[3].lower()] if match[3] else 0
    return float(match[1]) * 10.0**power
