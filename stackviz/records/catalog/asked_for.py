"""The accelerators people ask for most, from `data/asked_for.csv`: what lists and drawings show or name first."""

import csv
from pathlib import Path

from stackviz.records.catalog.files import DATA
from stackviz.records.catalog.models import Accelerator
from stackviz.records.catalog.queries import PublicCatalogue

MOST_REQUESTED = 50
_DATE = "release_date"


def most_requested(folder: Path = DATA) -> tuple[str, ...]:
    """Slugs of the MOST_REQUESTED accelerators, the most requested first; none if the file is missing.

    `asked_for.csv`: the first column is the slug; lines begin with the most asked-for.
    """
    try:
        text = (folder / "asked_for.csv").read_text(encoding="utf-8")
    except FileNotFoundError:
        return ()
    _head, *lines = csv.reader(text.splitlines()) if text.strip() else [[]]
    return tuple(dict.fromkeys(line[0].strip() for line in lines if line and line[0].strip()))[:MOST_REQUESTED]


def request_places(catalogue: PublicCatalogue) -> dict[int, int]:
    """Accelerator pk -> its place among those most asked for, from 0; the others are absent. Once for each edition."""
    return catalogue.once(
        "request places",
        lambda: {
            catalogue.by_slug[slug].pk: number
            for number, slug in enumerate(most_requested())
            if slug in catalogue.by_slug
        },
    )


def requested_by_vendor(catalogue: PublicCatalogue) -> tuple[tuple[str, tuple[Accelerator, ...]], ...]:
    """(vendor, its accelerators) of those most asked for: a list short enough to choose from."""
    by_vendor: dict[str, list[Accelerator]] = {}
    for item in by_request(catalogue)[: len(request_places(catalogue))]:
        by_vendor.setdefault(item.vendor.name, []).append(item)
    return tuple((vendor, tuple(items)) for vendor, items in by_vendor.items())


def by_request(catalogue: PublicCatalogue) -> tuple[Accelerator, ...]:
    """All public accelerators: the most asked for, then the newest, then those of which no source gives a date."""
    return catalogue.once("by request", lambda: _by_request(catalogue))


def _by_request(catalogue: PublicCatalogue) -> tuple[Accelerator, ...]:
    places = request_places(catalogue)

    def date(row: Accelerator) -> str:
        return max((value.value for value in catalogue.preferred(row.pk, _DATE)), default="")

    newest_first = sorted(catalogue.accelerators, key=date, reverse=True)  # stable: then by name
    return tuple(sorted(newest_first, key=lambda row: places.get(row.pk, len(places))))
