"""What people mean by a name that leaves something out, from the reviewed table `data/bare_names.csv`.

`name,accelerators,reason`: one slug is the variant that the bare name stands for (RTX 3060: the 12 GB card); several
are a family, of which the name does not say the member (H100 80 GB: SXM5 or PCIe). Only cited results are read with it:
a card of a machine reports its memory as well.
"""

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from stackviz.records.catalog.files import DATA
from stackviz.report.rules.known_cards import normalized

_SLICE = re.compile(r"\bmig\b", re.IGNORECASE)  # a part of a card is no member of its family


@dataclass(frozen=True, slots=True)
class BareName:
    """`slugs`: the sheets it may mean, at least one; `reason`: why these and no others."""

    name: str
    slugs: tuple[str, ...]
    reason: str


@cache
def bare_names() -> Mapping[str, BareName]:
    """By normalized name."""
    with (DATA / "bare_names.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    return {
        normalized(line["name"]): BareName(line["name"], tuple(line["accelerators"].split()), line["reason"])
        for line in lines
    }


def family_slugs(name: str) -> tuple[str, ...]:
    """The sheets that a name may mean, where it does not say which; () for a name that means one or none."""
    known = bare_names().get(normalized(name))
    is_family = known is not None and len(known.slugs) > 1 and not _SLICE.search(name)
    return known.slugs if known is not None and is_family else ()
