"""Requests that cost the site work, as many at once as clients: from one address or from many, each waits for its answer.

They run in a process of their own, so that whoever times an innocent page meanwhile shares no interpreter with them, and
leave the processors to the site: they stand for other machines.
"""

import http.client
import itertools
import multiprocessing
import os
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.queues import SimpleQueue
from multiprocessing.synchronize import Event
from urllib.parse import quote_plus, urlencode

from tests.live import ROOT

SLUGS = ("nvidia-h100-sxm5-80gb", "nvidia-t4", "apple-m1-8", "nvidia-a100-sxm4-80gb", "nvidia-l4")
WORDS = ("h100", "memory bandwidth", "cuda 13", "apple m3 max", "flash attention", "fp8", "driver 580")
DUMP = ROOT / "tests" / "fixtures" / "samples"


@dataclass
class Flood:
    """What came of it, filled when it is over."""

    answers: Counter[int] = field(default_factory=Counter)

    def summary(self, seconds: float) -> str:
        counted = ", ".join(f"{status or 'none'} x {count:,}" for status, count in sorted(self.answers.items()))
        return f"{sum(self.answers.values()) / seconds:.0f} requests/s ({counted})"


class Client:
    """One of the flood: a connection from one of so many addresses, of which no other flood has one."""

    def __init__(self, kind: str, port: int, number: int, addresses: int) -> None:
        self.number = number
        self.address = f"127.0.{list(KINDS).index(kind) + 1}.{number % addresses + addresses}"
        self.port = port
        self._connect()

    def _connect(self) -> None:
        self.connection = http.client.HTTPConnection(
            "127.0.0.1", self.port, timeout=60, source_address=(self.address, 0)
        )

    def ask(self, method: str, path: str, body: bytes | None = None, **headers: str) -> tuple[int, str]:
        """Status and text; 0 where the connection ended."""
        try:
            self.connection.request(method, path, body, headers)
            answer = self.connection.getresponse()
            return answer.status, answer.read().decode(errors="replace")
        except (OSError, http.client.HTTPException):
            self.connection.close()
            self._connect()
            return 0, ""


def diagnose(client: Client) -> Iterator[int]:
    """Dumps of some 60 KB, no two the same."""
    text = "\n".join(file.read_text(errors="replace") for file in sorted(DUMP.rglob("*.txt")))[:60_000]
    token = ""
    for number in itertools.count():
        if not token:
            page = client.ask("GET", "/diagnose/")[1]
            found = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page)
            token = found[1] if found else ""
        form = urlencode({"text": f"{text}\n# {client.number} {number}", "csrfmiddlewaretoken": token}).encode()
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Cookie": f"csrftoken={token}"}
        yield client.ask("POST", "/diagnose/", form, **headers)[0]


def search(client: Client) -> Iterator[int]:
    for number in itertools.count(client.number):
        query = quote_plus(f"{WORDS[number % len(WORDS)]} {number}")
        yield client.ask("GET", f"/search/?q={query}")[0]


def draw(client: Client) -> Iterator[int]:
    """A PNG and an SVG in turn."""
    for number in itertools.count(client.number):
        pair = SLUGS[number % len(SLUGS)], SLUGS[(number + 1) % len(SLUGS)]
        yield client.ask("GET", f"/picture/compare.png?a={pair[0]}&a={pair[1]}&n={number}")[0]
        yield client.ask("GET", f"/compare/?a={pair[0]}&a={pair[1]}&format=svg")[0]


def export(client: Client) -> Iterator[int]:
    """Files of lists, and long pages of the API."""
    for number in itertools.count(client.number):
        for path in (
            "/accelerators/?format=csv",
            "/accelerators/?format=json",
            f"/api/v1/values/?limit=1000&offset={number % 14 * 1000}",
            "/api/v1/cited/?limit=1000",
        ):
            yield client.ask("GET", path)[0]


def compare(client: Client) -> Iterator[int]:
    """Files and pages of comparisons and charts, no two addresses the same."""
    for number in itertools.count(client.number):
        pair = SLUGS[number % len(SLUGS)], SLUGS[(number + 1) % len(SLUGS)]
        yield client.ask("GET", f"/compare/?a={pair[0]}&a={pair[1]}&format=csv&n={number}")[0]
        yield client.ask("GET", f"/explore/?x=memory_gb&y=memory_bandwidth_gb_s&year_from={1990 + number % 30}")[0]
        yield client.ask("GET", f"/compare/?a={pair[0]}&a={pair[1]}&n={number}")[0]


KINDS: dict[str, Callable[[Client], Iterator[int]]] = {
    "diagnoses": diagnose, "searches": search, "pictures": draw, "exports": export, "comparisons": compare,
}  # fmt: skip


@contextmanager
def flood(kind: str, port: int, clients: int, addresses: int) -> Iterator[Flood]:
    """So many clients, from so many addresses, ask for it as long as the block runs."""
    context = multiprocessing.get_context("spawn")
    begun, over, answers = context.Event(), context.Event(), context.SimpleQueue()
    process = context.Process(target=_run, args=(kind, port, clients, addresses, begun, over, answers), daemon=True)
    process.start()
    begun.wait()
    made = Flood()
    try:
        yield made
    finally:
        over.set()
        made.answers.update(answers.get())
        process.join()


def _run(kind: str, port: int, clients: int, addresses: int, begun: Event, over: Event, answers: SimpleQueue) -> None:
    os.nice(15)
    counted: Counter[int] = Counter()
    begun.set()

    def ask_on(number: int) -> None:
        for status in KINDS[kind](Client(kind, port, number, addresses)):
            counted[status] += 1
            if over.is_set():
                return
            time.sleep(0.05 if status in (0, 429) else 0)  # refused: a flood, not a test of this machine's sockets

    threads = [threading.Thread(target=ask_on, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    answers.put(dict(counted))
