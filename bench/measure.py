"""Three comparisons: taking a report in, storing what it says, showing a page. Rounds interleaved, medians kept.

Both sides of a ratio are measured in turns within seconds of each other, so that heat and neighbours touch both.
"""

import gzip
import re
import statistics
import time
from dataclasses import dataclass

from bench import client
from bench.inside import body_text
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


FULL = Effort(sizes=(100, 10_000), rounds=7, posts=300, stores=60, views=40)
QUICK = Effort(sizes=(100, 1_000), rounds=3, posts=100, stores=20, views=15)


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


@dataclass(frozen=True)
class PageCost:
    """One page at one size of the database; `all_compressed` counts its styles and scripts too."""

    path: str
    time: Pair
    bytes: int
    compressed: int
    all_compressed: int
    queries_first: int
    queries_again: int
    first_ms: float  # of pages nobody asked for before, in a process that is warm
    first_ratio: float


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


def store(place: Place, effort: Effort) -> Pair:
    """Reports a second in one process: reading and storing, against a bulk insert of the same rows."""
    found = place.ask("store", str(effort.rounds + 1), str(effort.stores))
    return Pair.of(found["ours"][1:], found["bare"][1:])


def pages(place: Place, effort: Effort) -> dict[str, PageCost]:
    """Each page against a bare template page of as many bytes, one request at a time."""
    return {name: page(place, effort, found) for name, found in place.ask("pages").items()}


def page(place: Place, effort: Effort, found: dict) -> PageCost:
    path = found["paths"][0]
    connection = client.Connection(place.site.port)
    answer = connection.ask(client.get(path))
    packed = connection.ask(client.get(path, accept_encoding="gzip"))
    files = sum(compressed_size(connection, address) for address in linked_files(answer.body.decode()))
    connection.close()
    questions = [
        (place.site.port, client.get(path)),
        (place.bare.port, client.get(f"/page/{len(answer.body)}/")),
    ]
    rounds = [client.milliseconds(questions, effort.views) for _ in range(effort.rounds + 1)][1:]
    first, again = found["queries"]
    return PageCost(
        path=path,
        time=Pair.of([ours for ours, _ in rounds], [bare for _, bare in rounds]),
        bytes=len(answer.body),
        compressed=len(packed.body),
        all_compressed=len(packed.body) + files,
        queries_first=first,
        queries_again=again,
        **first_views(place, found["paths"][1:]),
    )


def first_views(place: Place, paths: list[str]) -> dict[str, float]:
    """Pages asked for once each, none of them kept from before: median milliseconds, median ratio to bare pages.

    The broker and cache is emptied and the web processes are new; a few pages go first so that templates are loaded.
    """
    place.restart()
    warm, asked = paths[:4], paths[4:]
    connection = client.Connection(place.site.port)
    for path in warm * 2:
        connection.ask(client.get(path))
    times, ratios = [], []
    for path in asked:
        started = time.perf_counter()
        answer = connection.ask(client.get(path))
        times.append((time.perf_counter() - started) * 1000)
        (bare,) = client.milliseconds([(place.bare.port, client.get(f"/page/{len(answer.body)}/"))], 5)
        ratios.append(times[-1] / bare)
    connection.close()
    return {"first_ms": statistics.median(times), "first_ratio": statistics.median(ratios)}


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
