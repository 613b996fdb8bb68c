"""Addresses that no page, export or API answer may name, read from `data/never_named.csv`.

The file has one address a line, without its scheme, with the address to name instead and the reason.
"""

import csv
from dataclasses import dataclass
from functools import cache

from stackviz.records.catalog.files import DATA


@dataclass(frozen=True, slots=True)
class NeverNamed:
    """An address, such as the owner of a hostile repository, and what to name instead."""

    address: str
    instead: str
    reason: str


@cache
def never_named() -> tuple[NeverNamed, ...]:
    with (DATA / "never_named.csv").open(encoding="utf-8", newline="") as file:
        return tuple(NeverNamed(**line) for line in csv.DictReader(file))


def forbidden_address_in(text: str) -> NeverNamed | None:
    """The first address in the text that must never be named, in any letter case; None if there is none."""
    lowered = text.lower()
    return next((line for line in never_named() if line.address.lower() in lowered), None)
