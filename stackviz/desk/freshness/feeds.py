"""The feeds that are watched, `data/feeds.csv`: which list of releases is held against which rows of the tables."""

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from django.conf import settings

FILE = Path(__file__).parent / "data" / "feeds.csv"
PACKAGE_INDEX = "package-index"


@dataclass(frozen=True, slots=True, kw_only=True)
class Feed:
    """One list of releases, in the format `kind` (`release_lists.KINDS`), and the rows of the table it speaks about.

    `depth`: how many numbers of a version name a row of `component` and `variant`; 0: all of them. `lists_lines`: it
    lists release lines, so a date that differs is a difference too; otherwise only versions are compared.
    `address`: of a package, its name, as the index is chosen by each site; `page`: where people read the same.
    """

    key: str
    kind: str
    component: str
    variant: str
    depth: int
    lists_lines: bool
    address: str
    title: str
    page: str
    source_kind: str

    @property
    def url(self) -> str:
        """The address that is read; "" for a package where the site names no index."""
        if self.kind != PACKAGE_INDEX:
            return self.address
        return f"{settings.WATCH_PACKAGE_INDEX.rstrip('/')}/{self.address}/" if settings.WATCH_PACKAGE_INDEX else ""

    @property
    def source_url(self) -> str:
        """Where a person finds what the feed lists."""
        return self.page or self.url


@cache
def feeds() -> tuple[Feed, ...]:
    """All feeds, in the order of the file."""
    with FILE.open(encoding="utf-8", newline="") as lines:
        return tuple(
            Feed(
                key=row["key"],
                kind=row["kind"],
                component=row["component"],
                variant=row["variant"],
                depth=int(row["depth"]),
                lists_lines=row["lists_lines"] == "yes",
                address=row["address"],
                title=row["title"],
                page=row["page"],
                source_kind=row["source_kind"],
            )
            for row in csv.DictReader(lines)
        )
