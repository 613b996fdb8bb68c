"""A circuit breaker: after a failure it stays open for a while, so that not every request tries again."""

import time


class Breaker:
    """`is_open`: do not try now. Each process has its own; nothing is shared, nothing is stored."""

    def __init__(self, rest_s: float) -> None:
        self.rest_s = rest_s
        self._until = 0.0

    @property
    def is_open(self) -> bool:
        return time.monotonic() < self._until

    def trip(self) -> None:
        self._until = time.monotonic() + self.rest_s
