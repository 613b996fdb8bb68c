"""Start and supervise the site on one machine. Imports nothing of the site's own code: it stays in memory for days.

What needs that code runs in a separate process, which ends when this machine is on the site (`steps.py`).
"""

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import IO, TextIO

from django.conf import settings

from stackviz.site.up import var_folder, web
from stackviz.site.up.children import Children, ended_with_us, inherited_environment
from stackviz.site.up.var_folder import StepsFailed, Stopped

HEALTH = "/health/"
NAME_WIDTH = 20  # of a step
CLEAR_LINE = "\r\033[K"


class StartStep:
    """A running step; set `outcome` to a few words before it ends."""

    def __init__(self) -> None:
        self.outcome = "done"


class StartProgress:
    """Writes steps to `out`: on a terminal, a line that is completed in place; elsewhere, a line at the end of each."""

    def __init__(self, out: TextIO) -> None:
        self.out = out
        self.is_live = out.isatty() and os.environ.get("TERM", "dumb") != "dumb"

    @contextmanager
    def step(self, name: str, heading: str = "") -> Iterator[StartStep]:
        """Time the block. An exception sets the outcome to "failed" or "stopped" and propagates.

        `heading`: text for a step that prints lines itself; they appear between the heading and the outcome.
        """
        started = time.monotonic()
        label = f"  {name:<{NAME_WIDTH}}"
        if heading:
            self._write(f"{label} {heading}\n")
        elif self.is_live:
            self._write(f"{label} ...")
        step = StartStep()
        try:
            yield step
        except BaseException as problem:
            step.outcome = "failed" if isinstance(problem, Exception) else "stopped"
            raise
        finally:
            seconds = time.monotonic() - started
            back = CLEAR_LINE if self.is_live and not heading else ""
            self._write(f"{back}{label} {step.outcome} ({seconds:.1f} s)\n")

    def say(self, text: str = "") -> None:
        self._write(f"{text}\n")

    def _write(self, text: str) -> None:
        self.out.write(text)
        self.out.flush()


def up(out: TextIO, *, options: tuple[str, ...] = ()) -> None:
    """Start the site and supervise it until Ctrl-C or SIGTERM. `options`: those of `up_steps`. Raises CannotStart."""
    progress = StartProgress(out)
    var = Path(settings.VAR_DIR)
    with stopped_by_signals(), message_on_stop(progress):
        var_folder.open_folder(var)
        with var_folder.held(var / "up.lock") as site_lock:
            progress.say(f"accelweb, data in {var}")
            with progress.step("secret key") as step:
                _key, is_new = var_folder.secret_key(var / "secret_key")  # the children read the file
                step.outcome = "created" if is_new else "unchanged"
            with ended_with_us(settings.BASE_DIR, var / "log", progress.say) as children:
                serve(progress, var, children, site_lock, options)


def serve(
    progress: StartProgress, var: Path, children: Children, site_lock: var_folder.Lock, options: tuple[str, ...]
) -> None:
    """Run the steps; start web and worker next to them, and supervise.

    The web imports the site meanwhile, and goes on when the gate is opened: the data and the static files are there.
    """
    listener = web.listen(settings.UP_HOST, settings.UP_PORT)
    url = web.local_url(listener)
    steps = Steps(children, var, options)
    broker = web.prepare_broker(var, settings.REDIS_URL)
    env = environment_of_site(var, url)
    gate, opener = os.pipe()
    web.start_web(children, listener, env, gate)
    steps.wait_for("tables")
    worker = web.start_worker(children, env, var)
    steps.wait_for("ready")
    with progress.step("site") as step:
        os.close(opener)
        children.wait_until(lambda: web.page_answers(f"{url}{HEALTH}"), f"{url}/", web.UP_WITHIN_S)
        step.outcome = f"ready at {url}/"
    site_lock.note(url)
    with progress.step("worker") as step:
        children.wait_until(lambda: web.is_ready(worker), "the worker", web.UP_WITHIN_S)
        step.outcome = f"ready; broker: {broker}"
    steps.go_on(url)
    children.watch()


class Steps:
    """The process of `manage.py up_steps`, which prints what it does: first what the site needs, then this machine."""

    def __init__(self, children: Children, var: Path, options: tuple[str, ...]) -> None:
        receiver, sender = os.pipe()
        command = [sys.executable, "manage.py", "up_steps", "--tell", str(sender), *options]
        self._process = children.run_beside(command, inherited_environment(VAR_DIR=str(var)), pass_fds=(sender,))
        os.close(sender)
        self._messages: IO[str] = os.fdopen(receiver)

    def wait_for(self, message: str) -> None:
        """Wait until the steps are as far. Raises StepsFailed when they ended before."""
        if self._messages.readline().strip() != message:
            self._process.wait()
            raise StepsFailed

    def go_on(self, url: str) -> None:
        assert self._process.stdin is not None  # noqa: S101 - for types: it is started with a pipe
        try:
            self._process.stdin.write(f"{url}\n".encode())
            self._process.stdin.close()
        except BrokenPipeError:
            raise StepsFailed from None


def environment_of_site(var: Path, url: str) -> dict[str, str]:
    """The environment of web and worker."""
    changes = {"VAR_DIR": str(var)}
    if not web.is_loopback(settings.UP_HOST) and "ALLOWED_HOSTS" not in inherited_environment():
        changes["ALLOWED_HOSTS"] = web.allowed_hosts(settings.UP_HOST)
    changes["SITE_URL"] = address_for_mails(url)
    changes["CURATION_APPROVALS"] = str(approvals_needed())
    return inherited_environment(**changes)


def address_for_mails(url: str) -> str:
    """SITE_URL, or else the printed address; "" where settings say that people open another one.

    `url`: the site's own.
    """
    if settings.SITE_URL or settings.HTTPS or "ALLOWED_HOSTS" in inherited_environment():
        return settings.SITE_URL
    return web.url_for_others(url) if web.is_everywhere(settings.UP_HOST) else url


def approvals_needed() -> int:
    """People needed to change a public value: one where only this machine reaches the site, unless it is set."""
    if "CURATION_APPROVALS" in inherited_environment() or not web.is_loopback(settings.UP_HOST):
        return settings.CURATION_APPROVALS
    return 1


def is_for_this_machine_alone() -> bool:
    """Whether no other machine reaches the site, directly or through a proxy, as far as its settings tell."""
    names = set(settings.ALLOWED_HOSTS) - set(settings.THIS_MACHINE.split(","))
    return web.is_loopback(settings.UP_HOST) and not settings.HTTPS and not names


@contextmanager
def stopped_by_signals() -> Iterator[None]:
    """Raise Stopped in the block on SIGINT, SIGTERM and SIGHUP, each time."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise Stopped

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(number, stop) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


@contextmanager
def message_on_stop(progress: StartProgress) -> Iterator[None]:
    """Turn Stopped into a final message."""
    try:
        yield
    except Stopped:
        progress.say("  stopped; all data is preserved")
