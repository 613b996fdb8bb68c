"""The processes of a running site: started, supervised, restarted when they die, and stopped together."""

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

from stackviz.site.up import watchdog
from stackviz.site.up.var_folder import CannotStart, Stopped

LINES_SHOWN = 12  # of a dead child's log
RESTARTS_ALLOWED = 5  # within RESTART_WINDOW_S; after that the supervisor gives up
RESTART_WINDOW_S = 60.0
STOP_PATIENCE_S = 10.0  # time for a worker to finish its report
LOOK_EVERY_S = 0.3


@dataclass(kw_only=True)
class Child:
    """A process with its command, to restart it. Its output goes to `log`."""

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
    """Processes that are started in order and stopped at once.

    They run in `root`, the folder of `manage.py`, and log to `folder`.
    """

    def __init__(self, root: Path, folder: Path, guard: "subprocess.Popen[bytes]", say: Callable[[str], None]) -> None:
        self.root = root
        self.folder = folder
        self._guard = guard
        self._say = say
        self._children: list[Child] = []
        self._beside: list[subprocess.Popen[bytes]] = []

    def start(
        self,
        name: str,
        command: Sequence[str],
        env: Mapping[str, str],
        pass_fds: tuple[int, ...] = (),
    ) -> Child:
        """Start a child that logs to `<name>.log`; the previous log is renamed to `<name>.log.1`."""
        log = self.folder / f"{name}.log"
        if log.exists():
            log.replace(log.with_suffix(".log.1"))
        child = Child(name=name, command=command, env=env, log=log, pass_fds=pass_fds)
        self._children.append(child)
        self._spawn(child)
        return child

    def run_beside(
        self, command: Sequence[str], env: Mapping[str, str], pass_fds: tuple[int, ...] = ()
    ) -> "subprocess.Popen[bytes]":
        """Start a program with our own output and a pipe to it, which ends by itself; at the latest with the others."""
        process = subprocess.Popen(  # noqa: S603 - commands of ours, no shell
            command, cwd=self.root, env=env, stdin=subprocess.PIPE, pass_fds=pass_fds, start_new_session=True
        )
        self._tell_guard("+", process.pid)
        self._beside.append(process)
        return process

    def _spawn(self, child: Child) -> None:
        with child.log.open("ab") as log:
            child.process = subprocess.Popen(  # noqa: S603 - commands of ours, no shell
                child.command,
                cwd=self.root,
                env=child.env,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=child.pass_fds,
                start_new_session=True,  # Ctrl-C reaches only the supervisor, which stops the children in order
            )
        self._tell_guard("+", child.process.pid)

    def _tell_guard(self, sign: str, group: int) -> None:
        assert self._guard.stdin is not None  # noqa: S101 - for types: it is started with a pipe
        with contextlib.suppress(BrokenPipeError):  # the guard was killed; the supervisor still stops everything
            self._guard.stdin.write(f"{sign}{group}\n".encode())
            self._guard.stdin.flush()

    # --- watching ---

    def wait_until(self, is_so: Callable[[], bool], what: str, patience_s: float) -> None:
        """Wait until `is_so()`. Raises CannotStart if a child dies or after `patience_s`; `what` names it."""
        deadline = time.monotonic() + patience_s
        while not is_so():
            for child in self._dead():
                raise CannotStart(_death_report(child))
            if time.monotonic() > deadline:
                raise CannotStart(f"timed out after {patience_s:.0f} s waiting for {what}. See {self.folder}")
            time.sleep(0.05)

    def watch(self) -> None:
        """Restart children that die, until a signal. Raises CannotStart if one keeps dying."""
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
        report = _death_report(child)
        if child.process:
            self._end(child.process)  # processes left behind in its group
        if len(child.deaths) > RESTARTS_ALLOWED:
            raise CannotStart(f"{report}\n{child.name} died {len(child.deaths)} times within a minute; giving up")
        self._say(f"  {time.strftime('%H:%M:%S')} {report}")
        self._spawn(child)
        self._say(f"  {time.strftime('%H:%M:%S')} {child.name} restarted")

    # --- ending ---

    def stop(self) -> None:
        """Stop all at once."""
        self._end(*self._beside, *(child.process for child in self._children if child.process))
        for process in self._beside:
            if process.stdin:
                process.stdin.close()

    def _end(self, *processes: "subprocess.Popen[bytes]") -> None:
        """Terminate them, wait, then kill each one's group, which includes pool workers and an embedded beat."""
        for process in processes:
            if process.poll() is None:
                process.terminate()
        deadline = time.monotonic() + STOP_PATIENCE_S
        for process in processes:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(max(0.0, deadline - time.monotonic()))
            watchdog.signal_all({process.pid}, signal.SIGKILL)
            process.wait()
            self._tell_guard("-", process.pid)


def _death_report(child: Child) -> str:
    return f"{child.name} {_how_it_ended(child)}. Last lines of {child.log}:\n{child.last_lines()}"


def _how_it_ended(child: Child) -> str:
    status = child.process.returncode if child.process else None
    if status is not None and status < 0:
        return f"was killed by {signal.Signals(-status).name}"
    return f"exited with status {status}"


@contextmanager
def ended_with_us(root: Path, folder: Path, say: Callable[[str], None]) -> Iterator[Children]:
    """Children that live no longer than the block and this process, even if it is killed."""
    folder.mkdir(exist_ok=True)
    command = [sys.executable, "-I", "-S", watchdog.__file__]
    with subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True) as guard:  # noqa: S603 - our own Python
        children = Children(root, folder, guard, say)
        try:
            yield children
        except Stopped:
            say("\n  stopping; a report that is being read is read to its end ...")
            raise
        finally:
            children.stop()


def inherited_environment(**changes: str) -> dict[str, str]:
    """The environment of every child: ours with `changes`."""
    return {**os.environ, "PYTHONUNBUFFERED": "1", **changes}
