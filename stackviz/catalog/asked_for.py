"""The accelerators that are asked for most, from a reviewed list: `data/asked_for.csv`. Pure: no database."""

import csv
from pathlib import Path

from stackviz.catalog.files import DATA

MOST_REQUESTED = 50


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
