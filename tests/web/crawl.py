"""A walk from page to page, as a visitor or program would take it: what links lead to, a few addresses of each kind."""

import html
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from urllib.parse import urlsplit

from django.urls import Resolver404, resolve

LINK = re.compile(r"""(?<=["'=(])(/[a-z0-9][^"'\s<>\\)]*)""")
ELSEWHERE = re.compile(r"https?://testserver")


def links_in(answer) -> set[str]:
    """Addresses of this site that the answer names, or leads to."""
    if "location" in answer.headers:
        return {ELSEWHERE.sub("", answer.headers["location"])}
    if not answer.headers.get("Content-Type", "").startswith(("text/", "application/json", "application/xml")):
        return set()
    text = html.unescape(body_of(answer))
    return {link.partition("#")[0] for link in LINK.findall(text)}


def body_of(answer) -> str:
    """The whole body, read once."""
    if not hasattr(answer, "read_body"):
        content = b"".join(answer.streaming_content) if answer.streaming else answer.content
        answer.read_body = content.decode("utf-8", errors="replace")
    return answer.read_body


def kind_of(address: str) -> str | None:
    """Name of the view, with a mark where it is asked something; None for what no view answers."""
    try:
        match = resolve(urlsplit(address).path)
    except Resolver404:
        return None
    return f"{match.view_name}{'?' if '?' in address else ''}"


def crawl(
    client, seeds: Iterable[str], most: Callable[[str], int], left_out: tuple[str, ...] = (), **request
) -> Iterator[tuple[str, object]]:
    """Address and answer of the seeds and of all that they lead to. `most`: how many of a kind; seeds always.

    `left_out`: how kinds begin that are not asked for; `request`: as the client takes it.
    """
    waiting, seen, kinds = list(seeds), set(), Counter()
    chosen = set(waiting)
    while waiting:
        address = waiting.pop(0)
        kind = kind_of(address)
        if address in seen or kind is None or kind.startswith(left_out):
            continue
        if kinds[kind] >= most(address) and address not in chosen:
            continue
        kinds[kind] += 1
        seen.add(address)
        answer = client.get(address, **request)
        yield address, answer
        waiting += sorted(links_in(answer) - seen)
