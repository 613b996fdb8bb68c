"""A feed's releases against the table's rows -> the differences. Pure: rows in, differences out."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from stackviz.desk.freshness.feeds import Feed
from stackviz.desk.freshness.models import ProposedChange
from stackviz.desk.freshness.release_lists import ListedRelease
from stackviz.report.rules.compatibility import Release
from stackviz.report.rules.versions import is_below, numbers

RECENT = timedelta(days=60)  # an older version that comes out this late is a fix for an old line, and still news
LARGEST_STEP = 3  # first numbers beyond the newest: torch 2.15 -> 99.0 is no step anybody takes
MOST_NEW = 40  # of one answer: more are a feed that has changed, not a month of releases

Kind = ProposedChange.Kind


class TooManyDifferences(ValueError):
    """More than MOST_NEW in one answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableDifference:
    """What a feed lists and the table does not have, or has otherwise. `before`: what the table has."""

    kind: ProposedChange.Kind
    version: str
    released: str = ""
    support_ends: str = ""
    before: str = ""
    doubt: str = ""


def find_differences(
    feed: Feed, listed: Iterable[ListedRelease], rows: Sequence[Release], day: date
) -> list[TableDifference]:
    """The differences on that day, the newest version first. Raises TooManyDifferences.

    `rows`: the table's releases of the feed's component and variant.
    """
    known = _Known(feed, rows)
    lines = list(_lines(feed, listed))
    differences = [*_new_releases(known, lines, day), *(_other_dates(known, lines) if feed.lists_lines else ())]
    if len(differences) > MOST_NEW:
        raise TooManyDifferences(f"{len(differences):,} differences in one answer: look at the feed by hand")
    return sorted(differences, key=lambda difference: numbers(difference.version), reverse=True)


class _Known:
    """What the table has, by the numbers of a version."""

    def __init__(self, feed: Feed, rows: Sequence[Release]) -> None:
        self.rows = {_numbers_of(row.version, feed.depth): row for row in rows if row.variant == feed.variant}
        self.versions = {_numbers_of(row.version, feed.depth) for row in rows}
        self.newest = max((row.version for row in rows), key=numbers, default="")


def _numbers_of(version: str, depth: int) -> tuple[int, ...]:
    """The numbers that name a row, without zeros at the end: 2.15 and 2.15.0 are one release."""
    parts = numbers(version)[: depth or None]
    while len(parts) > 1 and parts[-1] == 0:
        parts = parts[:-1]
    return parts


def _lines(feed: Feed, listed: Iterable[ListedRelease]) -> Iterator[ListedRelease]:
    """The releases as rows of the table name them: with a depth, the first of each line."""
    if not feed.depth:
        yield from listed
        return
    first: dict[str, ListedRelease] = {}
    for release in listed:
        line = ".".join(release.version.split(".")[: feed.depth])
        earlier = first.get(line)
        if earlier is None or (release.released and release.released < (earlier.released or "9999")):
            first[line] = ListedRelease(line, release.released, release.support_ends)
    yield from first.values()


def _new_releases(known: _Known, listed: Iterable[ListedRelease], day: date) -> Iterator[TableDifference]:
    recent = (day - RECENT).isoformat()
    for release in listed:
        if _numbers_of(release.version, 0) in known.versions:
            continue
        is_newer = not known.newest or is_below(known.newest, release.version)
        if is_newer or release.released >= recent:
            yield TableDifference(
                kind=Kind.RELEASE,
                version=release.version,
                released=release.released,
                support_ends=release.support_ends,
                doubt=_doubt(release, known.newest, day),
            )


def _doubt(release: ListedRelease, newest: str, day: date) -> str:
    if release.released > day.isoformat():
        return f"its day of release, {release.released}, is to come"
    if newest and numbers(release.version)[0] - numbers(newest)[0] > LARGEST_STEP:
        return f"far above the newest known release, {newest}"
    return ""


def _other_dates(known: _Known, listed: Iterable[ListedRelease]) -> Iterator[TableDifference]:
    """Dates that the table has otherwise, or less exactly, or not at all."""
    for release in listed:
        row = known.rows.get(_numbers_of(release.version, 0))
        if row is None:
            continue
        if release.released and release.released != row.released:
            yield TableDifference(
                kind=Kind.RELEASED, version=row.version, released=release.released, before=row.released
            )
        if release.support_ends and release.support_ends != row.support_ends:
            yield TableDifference(
                kind=Kind.SUPPORT_ENDS, version=row.version, support_ends=release.support_ends, before=row.support_ends
            )
