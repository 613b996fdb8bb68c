"""Asks the addresses of sources whether they still answer: slowly, with HEAD, where robots.txt allows it.

A dead link is proposed after two failures on different days, one without any answer after a fortnight of them: servers
have bad days. Nothing is counted in a run in which no host answered, nor any of a few that did before: then it is this
site that has no connection.
"""

import hashlib
import logging
import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain
from urllib.parse import urlsplit

from django.utils import timezone

from stackviz.desk.freshness.fetch import Answer, FetchError, fetch, is_allowed
from stackviz.desk.freshness.models import LinkCheck, ProposedChange
from stackviz.records.catalog.models import Source
from stackviz.records.cited.models import CitedSource

log = logging.getLogger(__name__)
EVERY = timedelta(days=14)
LONGEST = 600  # characters of an address, as those of sources
AGAIN_AFTER = timedelta(hours=20)  # one that failed is asked again sooner
DEAD_AFTER = timedelta(hours=20)
UNREACHABLE_FOR = timedelta(days=14)
WITNESSES = 3  # other hosts that are asked before this site counts as offline
GONE = frozenset({404, 410})
NO_HEAD = frozenset({400, 403, 405, 501})  # some servers answer HEAD with one of these, and GET well
_LOGIN = re.compile(r"/(?:log-?in|sign-?in|sso|auth|oauth2?|account/login|idp)(?:[/?.]|\Z)", re.IGNORECASE)

Outcome = LinkCheck.Outcome
FAILING = (Outcome.DEAD, Outcome.UNREACHABLE, Outcome.LOGIN)


@dataclass(frozen=True, slots=True)
class LinkAnswer:
    """What one address answered. `url`: where it has moved for good, or "". `is_offline`: no connection was made."""

    outcome: LinkCheck.Outcome
    status: int | None = None
    problem: str = ""
    url: str = ""
    is_offline: bool = False


def check_addresses(most: int) -> list[LinkCheck]:
    """Ask at most so many addresses that are due, one of each host -> their rows. Forgets what no source links to."""
    now = timezone.now()
    _forget_unlinked()
    answers = [(url, ask_link(url)) for url in due_links(now, most)]
    is_offline = all(answer.is_offline for _url, answer in answers)
    if answers and is_offline and not _has_connection([url for url, _answer in answers]):
        log.warning("links: no connection to any of %d hosts; nothing is counted", len(answers))
        return []
    return [_store(url, answer, now) for url, answer in answers]


def due_links(now: datetime, most: int) -> list[str]:
    """The addresses that have waited longest, at most one of each host: so no server is asked twice. Three queries."""
    checks = {check.url: check for check in LinkCheck.objects.all()}
    due = [url for url in sorted(linked_addresses()) if url not in checks or _is_due(checks[url], now)]
    due.sort(key=lambda url: checks[url].checked_at if url in checks else datetime.min.replace(tzinfo=now.tzinfo))
    return list(_by_host(due).values())[:most]


def _by_host(urls: Iterable[str]) -> dict[str, str]:
    """Host -> the first of its addresses, in the order of the addresses."""
    first: dict[str, str] = {}
    for url in urls:
        first.setdefault(urlsplit(url).netloc.lower(), url)
    return first


def _has_connection(failed: Sequence[str]) -> bool:
    """Whether another host answers: one of those that answered last, or where none ever did, of any."""
    answered = LinkCheck.objects.filter(answered_at__isnull=False).order_by("-answered_at", "url")
    others = sorted(linked_addresses())
    random.shuffle(others)  # on a new site, so that the same dead hosts do not stand for all of them each time
    witnesses = _by_host([*answered.values_list("url", flat=True), *others])
    for host in _by_host(failed):
        witnesses.pop(host, None)
    return any(ask_link(url).status is not None for url in list(witnesses.values())[:WITNESSES])


def _forget_unlinked() -> None:
    """Delete the rows of addresses that no source has any more: they were corrected. Three queries, four with some."""
    linked = linked_addresses()
    gone = [pk for pk, url in LinkCheck.objects.values_list("pk", "url") if url not in linked]
    if gone:
        LinkCheck.objects.filter(pk__in=gone).delete()


def linked_addresses() -> set[str]:
    """The addresses of all sources, without the part after "#". Two queries."""
    rows = (model.objects.order_by().values_list("url", flat=True) for model in (Source, CitedSource))
    return {url.partition("#")[0] for url in chain.from_iterable(rows) if len(url) <= LONGEST}


def _is_due(check: LinkCheck, now: datetime) -> bool:
    return check.checked_at <= now - (AGAIN_AFTER if check.failing_since else EVERY)


def ask_link(url: str) -> LinkAnswer:
    """What the address answers now; never raises."""
    try:
        if not is_allowed(url):
            return LinkAnswer(Outcome.REFUSED, problem="robots.txt")
        answer = fetch(url, "HEAD")
        if answer.status in NO_HEAD:
            answer = fetch(url, headers={"Range": "bytes=0-0"})
    except FetchError as error:
        return LinkAnswer(Outcome.UNREACHABLE, problem=str(error), is_offline=error.is_offline)
    return _judge(url, answer)


def _judge(url: str, answer: Answer) -> LinkAnswer:
    if answer.status in GONE:
        return LinkAnswer(Outcome.DEAD, answer.status)
    if not answer.is_ok:
        is_down = answer.status >= 500
        return LinkAnswer(Outcome.UNREACHABLE if is_down else Outcome.REFUSED, answer.status)
    if answer.url != url and _LOGIN.search(urlsplit(answer.url).path) and not _LOGIN.search(urlsplit(url).path):
        return LinkAnswer(Outcome.LOGIN, answer.status)
    if answer.moved_to and _is_elsewhere(url, answer.moved_to):
        return LinkAnswer(Outcome.MOVED, answer.status, url=answer.moved_to)
    return LinkAnswer(Outcome.ALIVE, answer.status)


def _is_elsewhere(url: str, other: str) -> bool:
    """Whether these differ by more than http or https, "www." and the slash at the end."""
    first, second = urlsplit(url), urlsplit(other)
    names = [parts.netloc.lower().removeprefix("www.") for parts in (first, second)]
    return names[0] != names[1] or first.path.rstrip("/") != second.path.rstrip("/")


def _store(url: str, answer: LinkAnswer, now: datetime) -> LinkCheck:
    check = LinkCheck.objects.filter(url=url).first() or LinkCheck(url=url)
    check.outcome, check.status, check.problem, check.checked_at = answer.outcome, answer.status, answer.problem, now
    if answer.outcome in FAILING:
        check.failing_since = check.failing_since or now
        check.failures = min(check.failures + 1, 10_000)
    else:
        check.failing_since, check.failures = None, 0
        if answer.outcome != Outcome.REFUSED:
            check.answered_at = now
    check.save()
    _propose(check, answer)
    return check


def _propose(check: LinkCheck, answer: LinkAnswer) -> None:
    """What a person should look at; once for each address and what happened to it."""
    Kind = ProposedChange.Kind  # noqa: N806 - a class
    if answer.outcome == Outcome.MOVED:
        key, kind = f"{Kind.MOVED}/{_short(check.url)}/{_short(answer.url)}", Kind.MOVED
    elif check.failing_since and _is_lasting(check):
        key, kind = f"{Kind.DEAD}/{_short(check.url)}/{check.failing_since:%Y-%m-%d}", Kind.DEAD
    else:
        return
    problem = check.problem or (f"it answers {check.status}" if check.status else "")
    if answer.outcome == Outcome.LOGIN:
        problem = "it leads to a login"
    ProposedChange.objects.get_or_create(
        key=key,
        defaults={
            "kind": kind,
            "url": check.url,
            "new_url": answer.url if len(answer.url) <= LONGEST else "",
            "before": problem[:200],
        },
    )


def _short(url: str) -> str:
    return hashlib.blake2b(url.encode(), digest_size=16).hexdigest()


def _is_lasting(check: LinkCheck) -> bool:
    """Failing on two days for what says so itself, for a fortnight where nothing answers."""
    if check.failing_since is None:
        return False
    lasted = check.checked_at - check.failing_since
    return lasted >= (UNREACHABLE_FOR if check.outcome == Outcome.UNREACHABLE else DEAD_AFTER)
