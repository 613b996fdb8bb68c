"""`make mutants`: put small faults into the rooms that must not be wrong, and count what the tests notice.

A seeded sample of the faults of tools/mutation.py, the same number from each room, within a time budget. Each is tried
in a copy of the repository, on the tests of its room: nothing is written to the working tree. Prints what survived, and
a table for docs/testing.md. Ends with 1 if the tests of a room fail without any fault.
"""

import argparse
import os
import queue
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tools.mutation import Mutant, mutants_of, parses

ROOT = Path(__file__).resolve().parent.parent
PYTEST = ("-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:randomly", "-p", "no:cacheprovider", "--hypothesis-seed=0")


@dataclass(frozen=True, slots=True)
class Room:
    """Files that get faults, and the test files or folders that are to notice. Both relative to the repository."""

    name: str
    sources: tuple[str, ...]
    tests: tuple[str, ...]
    left_out: tuple[str, ...] = ()


ROOMS = (
    Room("stats", ("stackviz/stats",), ("tests/benchmarks",)),
    Room("wire", ("stackviz/wire",), ("tests/wire",)),
    Room("rules", ("stackviz/rules",), ("tests/rules",)),
    # What kills live workers takes longer than all the others of the room together.
    Room("ingest", ("stackviz/ingest",), ("tests/ingest",), left_out=("tests/ingest/test_file_broker.py",)),
)


@dataclass(frozen=True, slots=True)
class Trial:
    """One fault in one file of a room."""

    room: Room
    file: str
    mutant: Mutant


@dataclass(slots=True)
class Tally:
    """What became of the faults of one room."""

    known: int = 0
    killed: int = 0
    survivors: list[Trial] = field(default_factory=list)

    @property
    def tried(self) -> int:
        return self.killed + len(self.survivors)


class Copy:
    """A copy of what git would commit, in which tests run."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.folder = folder
        for name in _committed(root):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, folder / name)

    def run(self, room: Room, patience_s: float | None = None, about: str = "") -> bool:
        """Whether the tests of a room pass. Those whose text names `about` run first."""
        # Compiled files are found by second and size, too coarse for a file that changes twice in a second.
        env = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
        try:
            done = subprocess.run(  # noqa: S603 - our own Python, files of the repository
                [sys.executable, *PYTEST, *self._test_files(room, about)],
                cwd=self.folder, env=env, timeout=patience_s, capture_output=True, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return False  # a fault that never ends is noticed too
        return done.returncode == 0

    def notices(self, trial: Trial, patience_s: float) -> bool:
        """Whether a test fails with this fault in its file. The file is as it was afterwards."""
        path = self.folder / trial.file
        source = path.read_bytes()
        for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
            compiled.unlink()
        path.write_bytes(trial.mutant.of(source))
        try:
            return not self.run(trial.room, patience_s, about=path.stem)
        finally:
            path.write_bytes(source)

    def _test_files(self, room: Room, about: str) -> list[str]:
        files = [
            str(file.relative_to(self.folder))
            for test in room.tests
            for file in sorted((self.folder / test).rglob("test_*.py"))
        ]
        chosen = [file for file in files if file not in room.left_out]
        return sorted(chosen, key=lambda file: about not in (self.folder / file).read_text(encoding="utf-8"))


def _committed(root: Path) -> list[str]:
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(listed, cwd=root, capture_output=True, text=True, check=True)  # noqa: S603 - git, no shell
    names = listing.stdout.split("\0")
    return [name for name in names if name and (root / name).is_file()]


def trials_of(root: Path, room: Room) -> Iterator[Trial]:
    """Every fault of a room."""
    for source in room.sources:
        path = root / source
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


def try_all(
    copies: list[Copy], trials: list[Trial], tallies: dict[str, Tally], baselines: dict[str, float], ends_at: float
) -> None:
    """Try each fault in whichever copy is free, until the time is up."""
    waiting: queue.SimpleQueue[Trial] = queue.SimpleQueue()
    for trial in trials:
        waiting.put(trial)
    counting = threading.Lock()

    def work(copy: Copy) -> None:
        while time.monotonic() < ends_at:
            try:
                trial = waiting.get_nowait()
            except queue.Empty:
                return
            is_noticed = copy.notices(trial, patience_s=4 * baselines[trial.room.name] + 20)
            with counting:
                tally = tallies[trial.room.name]
                if is_noticed:
                    tally.killed += 1
                else:
                    tally.survivors.append(trial)
                    print(f"survived: {trial.file}:{trial.mutant.line}: {trial.mutant.change}", flush=True)

    workers = [threading.Thread(target=work, args=(copy,)) for copy in copies]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def table(tallies: dict[str, Tally]) -> str:
    rows = ["| room | faults known | tried | noticed | share |", "|---|---|---|---|---|"]
    for name, tally in tallies.items():
        share = f"{tally.killed / tally.tried:.0%}" if tally.tried else "-"
        rows.append(f"| {name} | {tally.known:,} | {tally.tried} | {tally.killed} | {share} |")
    return "\n".join(rows)


def main(arguments: list[str], root: Path = ROOT, rooms: tuple[Room, ...] = ROOMS) -> int:
    parser = argparse.ArgumentParser(prog="make mutants", description="Faults that the tests should notice.")
    parser.add_argument("--minutes", type=float, default=20, help="no new fault is tried after these")
    parser.add_argument("--each", type=int, default=60, help="how many faults of each room")
    parser.add_argument("--seed", type=int, default=8)
    parser.add_argument("--jobs", type=int, default=2, help="how many at once")
    parser.add_argument("--room", action="append", choices=[room.name for room in rooms], help="only this one")
    options = parser.parse_args(arguments)
    ends_at = time.monotonic() + options.minutes * 60
    chosen = [room for room in rooms if not options.room or room.name in options.room]
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copies = [Copy(root, Path(folder) / str(number)) for number in range(options.jobs)]
        tallies: dict[str, Tally] = {}
        baselines: dict[str, float] = {}
        samples: list[list[Trial]] = []
        for room in chosen:
            started = time.monotonic()
            if not copies[0].run(room):
                print(f"the tests of {room.name} fail without any fault: run them first", file=sys.stderr)
                return 1
            baselines[room.name] = time.monotonic() - started
            known, trials = sample(root, room, options.each, options.seed)
            tallies[room.name] = Tally(known)
            samples.append(trials)
        in_turn = [
            trial for number in range(options.each) for trials in samples for trial in trials[number : number + 1]
        ]
        try_all(copies, in_turn, tallies, baselines, ends_at)
    print(f"seed {options.seed}, {options.minutes:g} minutes at most\n\n{table(tallies)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
