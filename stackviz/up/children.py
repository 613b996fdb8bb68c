"""The processes of a running site: started, watched, started again when they die, and ended together."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from stackviz.up import watchdog
from stackviz.up.errors import CannotStart

LINES_SHOWN = 12  # of a dead child's log
RESTARTS_ALLOWED = 5  # within RESTART_WINDOW_S; a child that dies more often will not get better by itself
RESTART_WINDOW_S = 60.0
STOP_PATIENCE_S = 10.0  # a worker finishes the report in its hands
LOOK_EVERY_S = 0.3


@dataclass(kw_only=True)
class Child:
    """One process and how to start it again. Its output goes to `log`."""

    name: str
    command: Sequence[str]
    env: Mapping[str, str]
    log: Path
    pass_fds: tuple[int, ...] = ()
    process: "subprocess.Popen[bytes] | None" = None
    deaths: deque[float] = field(default_factory=deque)

    def last_lines(self) -> str:
        lines = self.log.read_text(errors="replace").splitlines() if self.log.exists() else []
        return "\n".join(f"    {line}" for line in lines[-LINES_SHOWN:])


class Children:
    """Started in order, ended in reverse: the broker outlives those who talk to it.

    They run in `root`, the folder of `manage.py`, and write their logs to `folder`.
    """

    def __init__(self, root: Path, folder: Path, guard: "subprocess.Popen[bytes]", say: Callable[[str], None]) -> None:
        self.root = root
        self.folder = folder
        self._guard = guard
        self._say = say
        self._children: list[Child] = []

    def start(self, name: str, command: Sequence[str], env: Mapping[str, str], pass_fds: tuple[int, ...] = ()) -> Child:
        """A child with `<name>.log`; the log of the start before is kept beside it as `<name>.log.1`."""
        log = self.folder / f"{name}.log"
        if log.exists():
            log.replace(log.with_suffix(".log.1"))
        child = Child(name=name, command=command, env=env, log=log, pass_fds=pass_fds)
        self._children.append(child)
        self._spawn(child)
        return child

    def run(self, command: Sequence[str], env: Mapping[str, str], patience_s: float) -> int | None:
        """Runs a program to its end, its output going where ours goes -> exit status, None when it took too long."""
        process = subprocess.Popen(command, cwd=self.root, env=env, stdin=subprocess.DEVNULL, start_new_session=True)
        self._tell_guard("+", process.pid)
        try:
            return process.wait(patience_s)
        except subprocess.TimeoutExpired:
            return None
        finally:
            self._end(process)

    def _spawn(self, child: Child) -> None:
        with child.log.open("ab") as log:
            child.process = subprocess.Popen(
                child.command,
                cwd=self.root,
                env=child.env,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=child.pass_fds,
                start_new_session=True,  # Ctrl-C reaches us alone; we end the children in order
            )
        self._tell_guard("+", child.process.pid)

    def _tell_guard(self, sign: str, group: int) -> None:
        assert self._guard.stdin is not None  # noqa: S101
        with contextlib.suppress(BrokenPipeError):  # the guard was killed: we still end everything ourselves
            self._guard.stdin.write(f"{sign}{group}\n".encode())
            self._guard.stdin.flush()

    # --- watching ---

    def wait_until(self, is_so: Callable[[], bool], what: str, patience_s: float) -> None:
        """Asks again and again while all children live. Raises CannotStart when one dies or time is up."""
        deadline = time.monotonic() + patience_s
        while not is_so():
            for child in self._dead():
                raise CannotStart(f"{child.name} {_how_it_ended(child)}. The end of {child.log}:\n{child.last_lines()}")
            if time.monotonic() > deadline:
                raise CannotStart(f"not within {patience_s:.0f} s: {what}. See the logs in {self.folder}")
            time.sleep(0.05)

    def watch(self) -> None:
        """Starts again what dies, until a signal ends us. Raises CannotStart when one keeps dying."""
        while True:
            for child in self._dead():
                self._revive(child)
            time.sleep(LOOK_EVERY_S)

    def _dead(self) -> list[Child]:
        return [child for child in self._children if child.process and child.process.poll() is not None]

    def _revive(self, child: Child) -> None:
        now = time.monotonic()
        child.deaths.append(now)
        while child.deaths[0] < now - RESTART_WINDOW_S:
            child.deaths.popleft()
        story = f"{child.name} {_how_it_ended(child)}. The end of {child.log}:\n{child.last_lines()}"
        if child.process:
            self._end(child.process)  # what it left behind in its group
        if len(child.deaths) > RESTARTS_ALLOWED:
            raise CannotStart(f"{story}\n{child.name} died {len(child.deaths)} times within a minute; giving up")
        self._say(f"  {time.strftime('%H:%M:%S')} {story}")
        self._spawn(child)
        self._say(f"  {time.strftime('%H:%M:%S')} {child.name} started again")

    # --- ending ---

    def stop(self) -> None:
        """Ends all: the last started first, each with time to finish, then its whole group for certain."""
        for child in reversed(self._children):
            if child.process:
                self._end(child.process)

    def _end(self, process: "subprocess.Popen[bytes]") -> None:
        """Asks the process, waits, then kills its group: pool children and an embedded beat are in it."""
        if process.poll() is None:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(STOP_PATIENCE_S)
        watchdog.signal_all({process.pid}, signal.SIGKILL)
        process.wait()
        self._tell_guard("-", process.pid)


def _how_it_ended(child: Child) -> str:
    status = child.process.returncode if child.process else None
    if status is not None and status < 0:
        return f"was killed by {signal.Signals(-status).name}"
    return f"ended with status {status}"


@contextmanager
def ended_with_us(root: Path, folder: Path, say: Callable[[str], None]) -> Iterator[Children]:
    """Children that do not outlive the block, nor this process, however it ends."""
    folder.mkdir(exist_ok=True)
    command = [sys.executable, "-I", "-S", watchdog.__file__]
    with subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True) as guard:
        children = Children(root, folder, guard, say)
        try:
            yield children
        finally:
            children.stop()


def inherited_environment(**changes: str) -> dict[str, str]:
    """Our own environment with `changes`, as every child gets it."""
    return {**os.environ, "PYTHONUNBUFFERED": "1", **changes}
