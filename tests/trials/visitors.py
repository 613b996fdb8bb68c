"""Somebody who asks for one thing again and again, and notes what came and how long it took."""

import threading
import time
from collections import Counter
from collections.abc import Callable

from tests.trials.outcome import spread


class Visitor(threading.Thread):
    """`ask` -> status and seconds; `seen`: all of them. Runs as long as the `with` block."""

    def __init__(self, ask: Callable[[], tuple[int, float]], every_s: float) -> None:
        super().__init__(daemon=True)
        self.ask, self.every_s = ask, every_s
        self.seen: list[tuple[int, float]] = []
        self._over = threading.Event()

    def run(self) -> None:
        while not self._over.is_set():
            started = time.monotonic()
            try:
                self.seen.append(self.ask())
            except OSError:
                self.seen.append((0, time.monotonic() - started))
            self._over.wait(max(0.0, self.every_s - (time.monotonic() - started)))

    def __enter__(self) -> "Visitor":
        self.start()
        return self

    def __exit__(self, *_raised: object) -> None:
        self._over.set()
        self.join()

    @property
    def worst_s(self) -> float:
        return max((took_s for _status, took_s in self.seen), default=0.0)

    def summary(self) -> str:
        """`200 x 40; p50 …`."""
        statuses = Counter(status for status, _took_s in self.seen)
        counted = ", ".join(f"{status or 'none'} x {count:,}" for status, count in sorted(statuses.items()))
        return f"{counted}; {spread([took_s for _status, took_s in self.seen])}"
