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
from bench.inside import body_text
from bench.places import Place

CONNECTIONS = 4
READERS = 16
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
QUICK = Effort(sizes=(100,), rounds=3, posts=100, stores=50, views=12)


@dataclass(frozen=True)
class Pair:
    """Medians of the rounds, ours and the yardstick's, and the median of the rounds' ratios."""

    ours: float
    bare: float
    ratio: float
    spread: float  # half of the range of the rounds' ratios, as a share of the median

    @property
    def margin(self) -> float:
        """What the ratio may be off by: a goal is missed by more than that, or not at all."""
        return self.ratio * self.spread

    @classmethod
    def of(cls, ours: list[float], bare: list[float]) -> "Pair":
        ratios = [one / other for one, other in zip(ours, bare, strict=True)]
        middle = statistics.median(ratios)
        return cls(statistics.median(ours), statistics.median(bare), middle, (max(ratios) - min(ratios)) / 2 / middle)


@dataclass(frozen=True, kw_only=True)
class PageCost:
    """One kind of page at one size of the database; `all_compressed` counts its styles and scripts too.

    `first_ms`: the first time that a process is asked for it, once it has prepared its pages. `warm`: one address again
    and again. `new`: addresses that nobody requested before; None of a kind that has only one.
    """

    path: str
    first_ms: float
    warm: Pair
    new: Pair | None
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
            client.load(place.site.port, posts, CONNECTIONS, 202).per_s,
            client.load(place.bare.port, yardstick, CONNECTIONS, 202).per_s,
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
    """Each page against a bare page of as many bytes, one request at a time. No `names`: all of them.

    The cache is empty at first, and the web processes are new.
    """
    kinds = {name: kind for name, kind in place.ask("pages").items() if not names or name in names}
    place.restart(warm=True)
    connection = client.Connection(place.site.port)  # stays with one web process
    token = csrf_token(connection)
    first = {name: timed(connection, http_request(kind["requests"][0], token))[0] for name, kind in kinds.items()}
    costs = {name: page(place, effort, kind, first[name]) for name, kind in kinds.items()}
    connection.close()
    return costs


def page(place: Place, effort: Effort, kind: Mapping[str, Any], first_ms: float) -> PageCost:
    connection = client.Connection(place.site.port)
    token = csrf_token(connection)
    requests = [http_request(request, token) for request in kind["requests"]]
    whole = connection.ask(http_request(kind["requests"][0], token, accept_encoding="identity"))
    packed = connection.ask(requests[0])
    files = sum(compressed_size(connection, address) for address in linked_files(whole.body.decode()))
    new = new_addresses(place, connection, requests[1:])
    connection.close()
    questions = [(place.site.port, requests[0]), (place.bare.port, bare_request(len(whole.body)))]
    rounds = [client.milliseconds(questions, effort.views) for _ in range(effort.rounds + 1)][1:]
    queries_first, queries_again = kind["queries"]
    return PageCost(
        path=kind["requests"][0]["path"],
        first_ms=first_ms,
        warm=Pair.of([ours for ours, _ in rounds], [bare for _, bare in rounds]),
        new=new,
        bytes=len(whole.body),
        compressed=len(packed.body),
        all_compressed=len(packed.body) + files,
        queries_first=queries_first,
        queries_again=queries_again,
    )


def new_addresses(place: Place, connection: client.Connection, requests: Sequence[bytes]) -> Pair | None:
    """Pages requested for the first time. The spread is that of the pages, of which some are longer."""
    ours, bare = [], []
    for request in requests:
        took, answer = timed(connection, request)
        ours.append(took)
        size = len(gzip.decompress(answer.body)) if b"gzip" in answer.head.lower() else len(answer.body)
        bare += client.milliseconds([(place.bare.port, bare_request(size))], 3)
    return Pair.of(ours, bare) if ours else None


def timed(connection: client.Connection, request: bytes) -> tuple[float, client.Answer]:
    """(milliseconds, answer). Raises RuntimeError unless it is 200."""
    started = time.perf_counter()
    answer = connection.ask(request)
    took = (time.perf_counter() - started) * 1000
    if answer.status != 200:
        raise RuntimeError(f"{answer.status}: {answer.body[:300]!r}")
    return took, answer


def readers(place: Place, effort: Effort, costs: Mapping[str, PageCost]) -> tuple[Pair, float, float]:
    """READERS at once on the pages that were measured, against bare pages of as many bytes -> requests a second, and
    the median p95 of ours and of the bare pages in milliseconds."""
    cached = [cost for cost in costs.values() if cost.queries_again < cost.queries_first or cost.new is None]
    ours = [client.get(cost.path, accept_encoding="gzip") for cost in cached] * effort.views
    bare = [bare_request(cost.bytes) for cost in cached] * effort.views
    rounds = [
        (client.load(place.site.port, ours, READERS, 200), client.load(place.bare.port, bare, READERS, 200))
        for _ in range(effort.rounds)
    ]
    per_s = Pair.of([one.per_s for one, _ in rounds], [other.per_s for _, other in rounds])
    p95, p95_bare = (statistics.median(each[side].p95_ms for each in rounds) for side in (0, 1))
    return per_s, p95, p95_bare


def bare_request(size: int) -> bytes:
    return client.get(f"/page/{size}/", accept_encoding="gzip")


def csrf_token(connection: client.Connection) -> str:
    """The token that forms of the site carry, from its cookie."""
    answer = connection.ask(client.get("/diagnose/"))
    found = re.search(rb"csrftoken=(\w+)", answer.head)
    if not found:
        raise RuntimeError("the page with the form set no token")
    return found[1].decode()


def http_request(request: Mapping[str, Any], token: str, **headers: str) -> bytes:
    """A page's request as bytes: a GET, or its form with the token that the site asks for."""
    headers = {"accept_encoding": "gzip", **headers}
    if request["form"] is None:
        return client.get(request["path"], **headers)
    body = urlencode({"csrfmiddlewaretoken": token, **request["form"]}).encode()
    headers |= {"content_type": "application/x-www-form-urlencoded", "cookie": f"csrftoken={token}"}
    return client.post(request["path"], body, **headers)


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
