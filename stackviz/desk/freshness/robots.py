"""Whether a server's robots.txt allows us a page. Read with the standard library's parser, cached for a day."""

import hashlib
from urllib.parse import urlsplit
from urllib.robotparser import RobotFileParser

from django.core.cache import cache

from stackviz.desk.freshness.fetch import ROBOT, fetch

_CACHE_S = 86_400
_MOST_CHARS = 200_000
_NOBODY = "User-agent: *\nDisallow: /"


def is_allowed(url: str) -> bool:
    """Whether a robot of our name may read this address; without a robots.txt everything may be read.

    A server whose rules cannot be had (5xx) or not be read is left alone; of the first RFC 9309 says so. Raises
    FetchError without an answer.
    """
    parts = urlsplit(url)
    origin = f"{parts.scheme}://{parts.netloc}"
    key = f"robots-{hashlib.blake2b(origin.encode(), digest_size=16).hexdigest()}"
    rules = cache.get(key)
    if rules is None:
        rules = _read_rules(origin)
        cache.set(key, rules, _CACHE_S)
    parser = RobotFileParser()
    try:
        parser.parse(rules.splitlines())
        return parser.can_fetch(ROBOT, url)
    except ValueError:  # the parser reads numbers and addresses that are none
        return False


def _read_rules(origin: str) -> str:
    answer = fetch(f"{origin}/robots.txt")
    if answer.is_ok:
        return answer.body[:_MOST_CHARS].decode("utf-8", errors="replace")
    return _NOBODY if answer.status >= 500 else ""
