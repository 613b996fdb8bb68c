"""Reads feeds that are due and proposes what differs. A feed that fails changes nothing but its own line."""

import hashlib
import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from stackviz.desk.freshness.feeds import Feed, feeds
from stackviz.desk.freshness.fetch import Answer, FetchError, fetch
from stackviz.desk.freshness.models import FeedCheck, ProposedChange
from stackviz.desk.freshness.release_lists import FormatError, ListedRelease, read_release_list
from stackviz.records.stacks.models import TableCheck
from stackviz.records.stacks.rule_tables import rule_tables
from stackviz.records.stacks.table_checks import releases_of
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


log = logging.getLogger(__name__)
EVERY = timedelta(hours=24)
NOT_MODIFIED = 304
_ACCEPT = {
    "package-index": "application/vnd.pypi.simple.v1+json",
    "github": "application/vnd.github+json",
    "apple-rss": "application/rss+xml, application/xml",
}

Outcome = FeedCheck.Outcome


def due_feeds(now: datetime) -> list[Feed]:
    """The feeds that were not asked within EVERY, those that have waited longest first. One query."""
    checked = dict(FeedCheck.objects.values_list("feed", "checked_at"))
    due = [feed for feed in feeds() if feed.url and checked.get(feed.key, now - EVERY) <= now - EVERY]
    return sorted(due, key=lambda feed: checked.get(feed.key, datetime.min.replace(tzinfo=now.tzinfo)))


def check_feed(feed: Feed) -> FeedCheck:
    """Ask one feed, and propose what differs. What goes wrong stands in the row that is returned."""
    now = timezone.now()
    check = FeedCheck.objects.filter(feed=feed.key).first() or FeedCheck(feed=feed.key)
    check.checked_at, check.problem = now, ""
    try:
        answer = _ask(feed, check)
        if answer.status == NOT_MODIFIED:
            check.outcome, check.answered_at = Outcome.UNCHANGED, now
        else:
            _read(feed, answer, check, now)
    except FetchError as error:
        check.outcome, check.problem = (Outcome.OFFLINE if error.is_offline else Outcome.FAILED), str(error)
    except (FormatError, TooManyDifferences) as error:
        check.outcome, check.problem = Outcome.FAILED, str(error)
    with transaction.atomic():
        check.save()
        if check.answered_at == now:
            _mark_checked(feed, now)
    log.info("feed %s: %s %s", feed.key, check.outcome, check.problem)
    return check


def _ask(feed: Feed, check: FeedCheck) -> Answer:
    """Ask only for what is new while the table is the one its last answer was compared with. Raises FetchError."""
    headers = {"Accept": _ACCEPT.get(feed.kind, "application/json")}
    if check.etag and check.compared_with == _digest(feed):
        headers["If-None-Match"] = check.etag
    if feed.kind == "github" and settings.WATCH_GITHUB_TOKEN:
        headers["Authorization"] = f"Bearer {settings.WATCH_GITHUB_TOKEN}"
    answer = fetch(feed.url, headers=headers)
    is_unchanged = answer.status == NOT_MODIFIED and "If-None-Match" in headers
    if not is_unchanged and not answer.is_ok:
        raise FetchError(f"it answered {answer.status}")
    return answer


def _read(feed: Feed, answer: Answer, check: FeedCheck, now: datetime) -> None:
    """Raises FormatError, TooManyDifferences."""
    listed = read_release_list(feed.kind, answer.body)
    store_proposals(feed, find_differences(feed, listed, _rows(feed), now.date()))
    check.outcome, check.answered_at = Outcome.READ, now
    check.releases, check.newest = len(listed), _newest(listed)
    check.etag, check.compared_with = answer.headers.get("etag", "")[:200], _digest(feed)


def _rows(feed: Feed) -> list[Release]:
    """The rows the feed speaks about: of a package those of every build, otherwise those of its variant."""
    rows = (row for row in rule_tables().releases if row.component == feed.component)
    return [row for row in rows if not feed.variant or row.variant == feed.variant]


def _digest(feed: Feed) -> str:
    """Names the rows of the table and how the feed is read: the same differences come from the same of both."""
    rows = sorted((row.version, row.variant, row.released, row.support_ends) for row in _rows(feed))
    return hashlib.blake2b(repr((feed, rows)).encode(), digest_size=16).hexdigest()


def _newest(listed: Iterable[ListedRelease]) -> str:
    return max((release.version for release in listed), key=numbers)[:40]


def store_proposals(feed: Feed, differences: Iterable[TableDifference]) -> int:
    """Store what is not proposed yet, whatever became of it -> how many are new. One query, two where some are."""
    rows = [_proposal(feed, difference) for difference in differences]
    known = set(ProposedChange.objects.filter(key__in=[row.key for row in rows]).values_list("key", flat=True))
    new = [row for row in rows if row.key not in known]
    if new:
        ProposedChange.objects.bulk_create(new, ignore_conflicts=True)  # another worker may propose the same
    return len(new)


def _proposal(feed: Feed, difference: TableDifference) -> ProposedChange:
    """The key names component and version, not the feed: two feeds that list one release propose it once.

    Of a date it names both days, so that one that changes back is a difference of its own.
    """
    days = {
        ProposedChange.Kind.RELEASED: f"{difference.released}/{difference.before}",
        ProposedChange.Kind.SUPPORT_ENDS: f"{difference.support_ends}/{difference.before}",
    }.get(difference.kind, "")
    return ProposedChange(
        key=f"{difference.kind}/{feed.component}/{feed.variant}/{difference.version}/{days}",
        kind=difference.kind,
        feed=feed.key,
        component=feed.component,
        variant=feed.variant,
        version=difference.version,
        released=difference.released,
        support_ends=difference.support_ends,
        before=difference.before,
        doubt=difference.doubt,
    )


def _mark_checked(feed: Feed, now: datetime) -> None:
    """The table was held against this feed today. At most one write a day: each renews the edition of all tables."""
    [table] = releases_of([feed.component])
    check = TableCheck.objects.filter(table=table).first() or TableCheck(table=table)
    if check.pk is None or check.checked_on < now.date():
        check.checked_on, check.against = now.date(), feed.title
        check.save()
