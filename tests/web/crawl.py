"""A walk from page to page, as a visitor or program would take it: what links lead to, a few addresses of each kind."""

import html
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from http.cookies import SimpleCookie
from typing import NamedTuple
from urllib.parse import urlsplit

from django.http.response import ResponseHeaders
from django.test import Client
from django.urls import Resolver404, resolve

LINK = re.compile(r"""(?<=["'=(])(/[a-z0-9][^"'\s<>\\)]*)""")
ELSEWHERE = re.compile(r"https?://testserver")


class Answer(NamedTuple):
    """What a site answered, as long as a test needs it."""

    status_code: int
    headers: ResponseHeaders
    cookies: SimpleCookie
    text: str

    @property
    def is_html(self) -> bool:
        return self.headers.get("Content-Type", "").startswith("text/html")


class Reader:
    """Somebody with a name who asks behind https, once for each address; each answer goes to `check` as it comes."""

    def __init__(self, name: str, client: Client, check: Callable[["Reader", str, Answer], None]) -> None:
        self.name, self._client, self._check = name, client, check
        self.answers: dict[str, Answer] = {}

    def get(self, address: str) -> Answer:
        return self.answers[address] if address in self.answers else self.ask(address)

    def ask(self, address: str) -> Answer:
        """Now, whether it was asked before or not."""
        response = self._client.get(address, secure=True)
        content = b"".join(response.streaming_content) if response.streaming else response.content
        text = content.decode("utf-8", errors="replace")
        answer = Answer(response.status_code, response.headers, response.cookies, text)
        self.answers[address] = answer
        self._check(self, address, answer)
        return answer


def links_in(answer: Answer) -> set[str]:
    """Addresses of this site that the answer names, or leads to."""
    if "Location" in answer.headers:
        return {ELSEWHERE.sub("", answer.headers["Location"])}
    if not answer.headers.get("Content-Type", "").startswith(("text/", "application/json", "application/xml")):
        return set()
    return {link.partition("#")[0] for link in LINK.findall(html.unescape(answer.text))}


def kind_of(address: str) -> str | None:
    """Name of the view, with a mark where it is asked something; None for what no view answers."""
    try:
        match = resolve(urlsplit(address).path)
    except Resolver404:
        return None
    return f"{match.view_name}{'?' if '?' in address else ''}"


def crawl(
    reader: Reader, seeds: Iterable[str], most: Callable[[str], int], left_out: tuple[str, ...] = ()
) -> Iterator[str]:
    """The addresses of the seeds and of all that they lead to, each as it is read. `most`: how many of a kind; seeds always.

    `left_out`: how kinds begin that are not asked for.
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
        waiting += sorted(links_in(reader.get(address)) - seen)
        yield address
