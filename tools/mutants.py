"""`make mutants`: put small faults into the rooms that must not be wrong, and count what their tests notice.

A seeded sample of the faults of tools/mutation.py, the same number from each room, within a time budget. Each is tried
in a copy of the repository, on the fast tests of its room and, where none of them notices, on the slow ones: nothing is
written to the working tree. Prints what survived, what only the slow tier noticed, and a table for docs/testing.md.
Ends with 1 if the tests of a room fail without any fault.
"""

import argparse
import os
import queue
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tools.mutation import Mutant, mutants_of, parses

ROOT = Path(__file__).resolve().parent.parent
PYTEST = ("-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:randomly", "-p", "no:cacheprovider", "--hypothesis-seed=0")
NO_TESTS_RAN = 5  # pytest's own
TIERS = {"fast": "not slow", "slow": "slow"}


@dataclass(frozen=True, slots=True)
class Room:
    """A folder or file that gets faults, and the folder of the tests that are to notice. Relative to the repository."""

    name: str
    source: str
    tests: str


ROOMS = tuple(
    Room(room.rpartition("/")[2], f"stackviz/{room}", "tests/base" if room == "base/stats" else f"tests/{room}")
    for room in ("records/catalog", "pages/fit", "intake/ingest", "report/rules", "base/stats", "report/format")
)


@dataclass(frozen=True, slots=True)
class Trial:
    """One fault in one file of a room."""

    room: Room
    file: str
    mutant: Mutant


class Copy:
    """A copy of what git would commit, in which tests run. Databases made for a fault go with it."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.folder = folder
        # Compiled files are found by second and size, too coarse for a file that changes twice in a second.
        self.env = os.environ | {"PYTHONDONTWRITEBYTECODE": "1", "XDG_CACHE_HOME": str(folder / ".cache")}
        for name in _committed(root):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, folder / name)

    def passes(self, room: Room, tier: str, patience_s: float | None = None, about: str = "") -> bool:
        """Whether the tests of a room and tier pass. Those whose text names `about` run first."""
        files = sorted((self.folder / room.tests).rglob("test_*.py"))
        files.sort(key=lambda file: about not in file.read_text(encoding="utf-8"))
        command = [sys.executable, *PYTEST, "-m", TIERS[tier], *(str(file.relative_to(self.folder)) for file in files)]
        try:
            done = subprocess.run(  # noqa: S603 - our own Python, files of the repository
                command, cwd=self.folder, env=self.env, timeout=patience_s, capture_output=True, check=False
            )
        except subprocess.TimeoutExpired:
            return False  # a fault that never ends is noticed too
        return done.returncode in (0, NO_TESTS_RAN)

    def noticed_by(self, trial: Trial, tiers: list[str], patience_s: dict[str, float]) -> str:
        """The first tier that fails with this fault in its file, or nothing. The file is as it was afterwards."""
        path = self.folder / trial.file
        source = path.read_bytes()
        path.write_bytes(trial.mutant.of(source))
        try:
            failed = (tier for tier in tiers if not self.passes(trial.room, tier, patience_s[tier], path.stem))
            return next(failed, "")
        finally:
            path.write_bytes(source)


def _committed(root: Path) -> list[str]:
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(listed, cwd=root, capture_output=True, text=True, check=True)  # noqa: S603 - git, no shell
    names = listing.stdout.split("\0")
    return [name for name in names if name and (root / name).is_file()]


def trials_of(root: Path, room: Room) -> Iterator[Trial]:
    """Every fault of a room."""
    path = root / room.source
    for file in [path] if path.is_file() else sorted(path.rglob("*.py")):
        if "migrations" not in file.parts:
            name = str(file.relative_to(root))
            yield from (Trial(room, name, mutant) for mutant in mutants_of(file.read_bytes()))


def sample(root: Path, room: Room, number: int, seed: int) -> tuple[int, list[Trial]]:
    """How many faults a room could have, and so many of them, the same for the same seed and text."""
    trials = list(trials_of(root, room))
    shuffled = random.Random(f"{seed} {room.name}").sample(trials, len(trials))  # noqa: S311 - not a secret
    valid = (trial for trial in shuffled if parses(trial.mutant.of((root / trial.file).read_bytes())))
    return len(trials), [trial for _number, trial in zip(range(number), valid, strict=False)]


def table(known: dict[str, int], noticed: dict[str, Counter[str]]) -> str:
    rows = [
        "| room | faults known | tried | noticed by the fast tier | by the slow one only | survived |",
        "|---" * 6 + "|",
    ]
    for name, counts in noticed.items():
        rows.append(
            f"| {name} | {known[name]:,} | {counts.total()} | {counts['fast']} | {counts['slow']} | {counts['']} |"
        )
    return "\n".join(rows)


def main(arguments: list[str], root: Path = ROOT, rooms: tuple[Room, ...] = ROOMS) -> int:
    parser = argparse.ArgumentParser(prog="make mutants", description="Faults that the tests should notice.")
    parser.add_argument("--minutes", type=float, default=20, help="no new fault is tried after these")
    parser.add_argument("--each", type=int, default=60, help="how many faults of each room")
    parser.add_argument("--seed", type=int, default=8)
    parser.add_argument("--jobs", type=int, default=2, help="how many at once")
    parser.add_argument("--room", action="append", choices=[room.name for room in rooms], help="only this one")
    parser.add_argument("--fast", action="store_true", help="do not ask the slow tests what the fast ones miss")
    options = parser.parse_args(arguments)
    ends_at = time.monotonic() + options.minutes * 60
    chosen = [room for room in rooms if not options.room or room.name in options.room]
    tiers = ["fast"] if options.fast else list(TIERS)
    known: dict[str, int] = {}
    noticed: dict[str, Counter[str]] = {room.name: Counter() for room in chosen}
    patience: dict[str, dict[str, float]] = {room.name: {} for room in chosen}
    samples: list[list[Trial]] = []
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copies: queue.SimpleQueue[Copy] = queue.SimpleQueue()
        for number in range(options.jobs):
            copies.put(Copy(root, Path(folder) / str(number)))
        copy = copies.get()
        for room in chosen:
            for tier in tiers:
                started = time.monotonic()
                if not copy.passes(room, tier):
                    print(f"the {tier} tests of {room.name} fail without any fault: run them first", file=sys.stderr)
                    return 1
                patience[room.name][tier] = 4 * (time.monotonic() - started) + 20
            known[room.name], trials = sample(root, room, options.each, options.seed)
            samples.append(trials)
        copies.put(copy)

        def try_one(trial: Trial) -> None:
            if time.monotonic() >= ends_at:
                return
            copy = copies.get()
            tier = copy.noticed_by(trial, tiers, patience[trial.room.name])
            copies.put(copy)
            noticed[trial.room.name][tier] += 1
            if tier != "fast":
                what = f"noticed by the {tier} tier only" if tier else "survived"
                print(f"{what}: {trial.file}:{trial.mutant.line}: {trial.mutant.change}", flush=True)

        in_turn = [
            trial for number in range(options.each) for trials in samples for trial in trials[number : number + 1]
        ]
        with ThreadPoolExecutor(options.jobs) as pool:
            list(pool.map(try_one, in_turn))
    print(f"seed {options.seed}, {options.minutes:g} minutes at most\n\n{table(known, noticed)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
