"""Three comparisons: taking a report in, storing what it says, showing a page. Rounds interleaved, medians kept.

Both sides of a ratio are measured in turns within seconds of each other, so that heat and neighbours touch both.
"""

import contextlib
import gzip
import re
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from bench import client
from bench.inside import WARM_UP, body_text
from bench.places import Place

CONNECTIONS = 4
TURNS_A_ROUND = 3  # short turns, so that both sides meet the same neighbours


@dataclass(frozen=True)
class Effort:
    """How long to measure."""

    sizes: tuple[int, ...]
    rounds: int
    posts: int  # a round and side, in TURNS_A_ROUND turns
    stores: int
    views: int


FULL = Effort(sizes=(100, 10_000), rounds=7, posts=300, stores=100, views=40)
QUICK = Effort(sizes=(100, 1_000), rounds=3, posts=100, stores=100, views=15)


@dataclass(frozen=True)
class Pair:
    """Medians of the rounds, ours and the yardstick's, and the median of the rounds' ratios."""

    ours: float
    bare: float
    ratio: float
    spread: float  # half of the range of the rounds' ratios, as a share of the median

    @classmethod
    def of(cls, ours: list[float], bare: list[float]) -> "Pair":
        ratios = [one / other for one, other in zip(ours, bare, strict=True)]
        middle = statistics.median(ratios)
        return cls(statistics.median(ours), statistics.median(bare), middle, (max(ratios) - min(ratios)) / 2 / middle)


@dataclass(frozen=True, kw_only=True)
class PageCost:
    """One kind of page at one size of the database; `all_compressed` counts its styles and scripts too.

    `warm`: one address again and again. `cold`: addresses requested once each, in a process that is warm.
    """

    path: str
    warm: Pair
    cold: Pair
    bytes: int
    compressed: int
    all_compressed: int
    queries_first: int
    queries_again: int


@dataclass(frozen=True)
class Memory:
    """Of the largest web process, in bytes. `pss` counts what processes share by their share; 0 where unknown."""

    rss: int
    pss: int


def accept(place: Place, effort: Effort) -> Pair:
    """Reports a second through the API, against a bare POST + INSERT of the same bytes."""
    key = place.ask("key")["key"]
    ours, bare = [], []
    for turn in range(effort.rounds * TURNS_A_ROUND + 1):
        bodies = [body_text(200_000 + turn * effort.posts + number) for number in range(effort.posts // TURNS_A_ROUND)]
        posts = [client.post("/api/v1/reports/", body, authorization=f"Bearer {key}") for body in bodies]
        yardstick = [client.post("/post/", body) for body in bodies]
        results = (
            client.requests_per_s(place.site.port, posts, CONNECTIONS, 202),
            client.requests_per_s(place.bare.port, yardstick, CONNECTIONS, 202),
        )
        if turn:  # the first warms both up
            ours.append(results[0])
            bare.append(results[1])
    return Pair.of(ours, bare)


def store(place: Place, effort: Effort) -> dict[str, Pair]:
    """Reports a second in one process: reading and storing, in batches and one by one, against bulk_create of the same
    rows, a transaction for each report and one for each batch."""
    found = {
        name: speeds[1:] for name, speeds in place.ask("store", str(effort.rounds + 1), str(effort.stores)).items()
    }
    return {
        "read and store": Pair.of(found["ours"], found["bare"]),
        "read and store, one by one": Pair.of(found["ours alone"], found["bare"]),
        "read and store, both in batches": Pair.of(found["ours"], found["bare batched"]),
    }


def pages(place: Place, effort: Effort, names: Sequence[str] = ()) -> dict[str, PageCost]:
    """Each page against a bare template page of as many bytes, one request at a time. No `names`: all of them."""
    found = place.ask("pages")
    return {name: page(place, effort, found[name]) for name in names or found}


def page(place: Place, effort: Effort, found: Mapping[str, Any]) -> PageCost:
    connection = client.Connection(place.site.port)
    token = csrf_token(connection)
    requests = [http_request(request, token) for request in found["requests"]]
    answer = connection.ask(requests[0])
    packed = connection.ask(http_request(found["requests"][0], token, accept_encoding="gzip"))
    files = sum(compressed_size(connection, address) for address in linked_files(answer.body.decode()))
    connection.close()
    questions = [
        (place.site.port, requests[0]),
        (place.bare.port, bare_request(len(answer.body))),
    ]
    rounds = [client.milliseconds(questions, effort.views) for _ in range(effort.rounds + 1)][1:]
    first, again = found["queries"]
    return PageCost(
        path=found["requests"][0]["path"],
        warm=Pair.of([ours for ours, _ in rounds], [bare for _, bare in rounds]),
        cold=cold(place, requests[1:]),
        bytes=len(answer.body),
        compressed=len(packed.body),
        all_compressed=len(packed.body) + files,
        queries_first=first,
        queries_again=again,
    )


def cold(place: Place, requests: Sequence[bytes]) -> Pair:
    """Pages requested for the first time, against bare pages of as many bytes.

    The cache is emptied and the web processes are new; the first few pages load code, templates and what a process
    prepares of the catalogue, and are not counted. The spread is that of the pages, of which some are longer.
    """
    place.restart()
    connection = client.Connection(place.site.port)  # stays with one web process
    for request in requests[:WARM_UP]:
        connection.ask(request)
    ours, bare = [], []
    for request in requests[WARM_UP:]:
        started = time.perf_counter()
        answer = connection.ask(request)
        ours.append((time.perf_counter() - started) * 1000)
        if answer.status != 200:
            raise RuntimeError(f"{answer.status}: {answer.body[:300]!r}")
        bare += client.milliseconds([(place.bare.port, bare_request(len(answer.body)))], 5)
    connection.close()
    return Pair.of(ours, bare)


def bare_request(size: int) -> bytes:
    return client.get(f"/page/{size}/")


def csrf_token(connection: client.Connection) -> str:
    """The token that forms of the site carry, from its cookie."""
    answer = connection.ask(client.get("/diagnose/"))
    found = re.search(rb"csrftoken=(\w+)", answer.head)
    if not found:
        raise RuntimeError("the page with the form set no token")
    return found[1].decode()


def http_request(request: Mapping[str, Any], token: str, **headers: str) -> bytes:
    """A page's request as bytes: a GET, or its form with the token that the site asks for."""
    if request["form"] is None:
        return client.get(request["path"], **headers)
    body = urlencode({"csrfmiddlewaretoken": token, **request["form"]}).encode()
    headers |= {"content_type": "application/x-www-form-urlencoded", "cookie": f"csrftoken={token}"}
    return client.post(request["path"], body, **headers)


def memories(place: Place) -> tuple[Memory, Memory]:
    """(before, after): of a web process that has just started, and after one has served every address of every kind."""
    place.restart()
    before = memory(place)
    connection = client.Connection(place.site.port)
    token = csrf_token(connection)
    for found in place.ask("pages").values():
        for request in found["requests"]:
            connection.ask(http_request(request, token))
    connection.close()
    return before, memory(place)


def memory(place: Place) -> Memory:
    """Memory of the largest web process of the site, where Linux tells."""
    of_processes = [memory_of(child) for child in children_of(place.site.children["site"].pid)]
    return max(of_processes, key=lambda one: one.pss, default=Memory(0, 0))


def children_of(pid: int) -> list[int]:
    with contextlib.suppress(OSError):
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


def memory_of(pid: int) -> Memory:
    with contextlib.suppress(OSError):
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        sizes = {line.split(":")[0]: int(line.split()[1]) * 1024 for line in lines if line.endswith("kB")}
        return Memory(rss=sizes["Rss"], pss=sizes["Pss"])
    return Memory(0, 0)


def linked_files(html: str) -> list[str]:
    """Styles and scripts the page loads at once; Plotly comes only when a reader looks at a chart."""
    found = re.findall(r'<link[^>]+rel="stylesheet"[^>]+href="([^"]+)"', html)
    found += re.findall(r'<link[^>]+href="([^"]+)"[^>]+rel="stylesheet"', html)
    found += re.findall(r'<script[^>]+src="([^"]+)"', html)
    return sorted({address for address in found if address.startswith("/") and "plotly" not in address})


def compressed_size(connection: client.Connection, address: str) -> int:
    answer = connection.ask(client.get(address, accept_encoding="gzip"))
    is_packed = b"gzip" in answer.head.lower()
    return len(answer.body) if is_packed else len(gzip.compress(answer.body, 6))
