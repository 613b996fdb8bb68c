"""The memory of each process of a site, looked at again and again while a trial runs."""

import statistics
import threading
from collections import defaultdict
from contextlib import suppress

import psutil

from tests.trials.deployment import Deployment
from tests.trials.outcome import Outcome

EVERY_S = 1.0
MIB = 1 << 20


class MemoryWatch(threading.Thread):
    """`seen`: by role, the resident memory of its largest process at each look, in MiB. Shared pages count in each."""

    def __init__(self, deployment: Deployment) -> None:
        super().__init__(daemon=True)
        self.deployment = deployment
        self.seen: dict[str, list[float]] = defaultdict(list)
        self._over = threading.Event()

    def run(self) -> None:
        while not self._over.wait(EVERY_S):
            for role, processes in self.deployment.processes().items():
                sizes = [size for process in processes if (size := _resident(process))]
                if sizes:
                    self.seen[role].append(max(sizes) / MIB)

    def end(self) -> None:
        self._over.set()
        self.join()

    def add_to(self, outcome: Outcome) -> None:
        """Rows of min / median / max, and the medians of the first and the last tenth, between which a leak would show."""
        for role, sizes in sorted(self.seen.items()):
            tenth = max(1, len(sizes) // 10)
            first, last = statistics.median(sizes[:tenth]), statistics.median(sizes[-tenth:])
            outcome.add(
                f"memory of {role}, MiB",
                f"{min(sizes):.0f} / {statistics.median(sizes):.0f} / {max(sizes):.0f}, from {first:.0f} to {last:.0f}",
            )


def _resident(process: psutil.Process) -> int:
    with suppress(psutil.NoSuchProcess, psutil.ZombieProcess):
        return int(process.memory_info().rss)
    return 0  # killed meanwhile
