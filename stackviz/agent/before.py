"""What is settled before anything is measured: the site and its key, consent, other load, one agent at a time."""

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path

from stackviz.agent.exit_codes import Exit
from stackviz.agent.folders import is_locked_here
from stackviz.agent.upload import Server, answer_text
from stackviz.base.backports import UTC
from stackviz.report.format import ReportError
from stackviz.report.format.kinds import TIMESTAMP

__all__ = ["RunRefused", "check_site", "foreign_load", "measuring_alone", "say_other_load"]

_KEY_ENDS_SOON = timedelta(days=7)
_LOOK_S = 0.5
_LOAD_OF_OTHERS = 0.1  # of all processors: beyond, results of the processor are those of a busy machine
Say = Callable[[str], None]


class RunRefused(Exception):
    """Nothing is measured; the text says why and what to do."""

    def __init__(self, exit_: Exit, text: str) -> None:
        super().__init__(text)
        self.exit = exit_


# ---- the site -------------------------------------------------------------------------------------------------------


def check_site(server: Server, say: Say) -> None:
    """Ask the site about the key. A site that cannot be reached now costs no measurement: the report will wait.

    Raises RunRefused where the key is wrong, or the address is not that of a site.
    """
    answer = server.get_key()
    status = answer.status
    document = _document(answer.text)
    described = answer_text(server, answer)
    if answer.is_final:
        raise RunRefused(Exit.WRONG_SERVER, described)
    if status in {401, 403} and document:
        raise RunRefused(Exit.KEY_REFUSED, f"{described}. Nothing was measured.")
    if status == 200 and isinstance(document.get("lab"), dict):
        say(server.clean(_known_key(document)))
    elif status is not None and 200 <= status < 400:
        target = answer.headers.get("location")
        why = f"it redirects to {target}" if target else "it is no accelweb site"
        raise RunRefused(Exit.WRONG_SERVER, f"{server.url} answered {status}: {why}. Nothing was measured.")
    elif status == 404:
        say("the site does not check keys before a report: an older one, or the address is wrong")
    else:
        say(f"warning: the key could not be checked ({described}); the report will wait in the spool if that stays so")


def _document(text: str) -> dict[str, object]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def _known_key(document: dict[str, object]) -> str:
    lab, machine = document["lab"], document.get("machine")
    text = f"key accepted: lab {_name(lab)}" + (f", machine {_name(machine)}" if machine else "")
    with suppress(ReportError):  # null, or no time
        ends_at = TIMESTAMP.read(document.get("expires_at"))
        if ends_at - datetime.now(UTC) < _KEY_ENDS_SOON:
            text += f"; it expires on {ends_at:%Y-%m-%d}"
    return text


def _name(thing: object) -> str:
    return str(thing.get("name", ""))[:200] if isinstance(thing, dict) else ""


# ---- one agent at a time --------------------------------------------------------------------------------------------


@contextmanager
def measuring_alone(wait_s: float, say: Say, folder: Path | None = None) -> Iterator[None]:
    """While entered, no other agent of this machine measures: two at once would measure each other.

    Raises RunRefused if another one does, after `wait_s`. Where files cannot be locked nothing is promised.
    """
    path = (folder or _common_folder()) / "accelweb-agent.lock"
    file = _opened(path)
    until = time.monotonic() + wait_s
    is_waiting = False
    try:
        while file is not None and is_locked_here(file) is False:
            other = _holder(path)
            if time.monotonic() >= until:
                raise RunRefused(
                    Exit.BUSY,
                    f"another agent{other} is measuring on this machine: both would measure each other. Nothing was "
                    "measured; run again when it has ended, or pass --wait SECONDS",
                )
            if not is_waiting:
                say(f"another agent{other} is measuring on this machine: waiting for at most {wait_s:g} s")
                is_waiting = True
            time.sleep(min(1.0, max(0.01, until - time.monotonic())))
        if file is not None:
            with suppress(OSError):
                file.truncate(0)
                file.write(str(os.getpid()).encode())
                file.flush()
        yield
    finally:
        if file is not None:
            file.close()  # the lock goes with it; the file stays, for the others may have it open


def _common_folder() -> Path:
    """A folder that all users of a machine share, whatever TMPDIR says; containers may be given one."""
    if os.environ.get("ACCELWEB_LOCK_FOLDER"):
        return Path(os.environ["ACCELWEB_LOCK_FOLDER"])
    for name in ("/dev/shm", "/tmp"):  # noqa: S108 - the file is never created through a link, and holds a number
        if sys.platform != "win32" and os.access(name, os.W_OK):
            return Path(name)
    return Path(tempfile.gettempdir())


def _opened(path: Path):  # type: ignore[no-untyped-def] # noqa: ANN202 - an open file or None
    """Of another user it can be read only, which is enough for a lock."""
    no_link = getattr(os, "O_NOFOLLOW", 0)
    for flags, mode in ((os.O_RDWR, "r+b"), (os.O_RDONLY, "rb"), (os.O_RDWR | os.O_CREAT | os.O_EXCL, "r+b")):
        with suppress(OSError):
            return os.fdopen(os.open(path, flags | no_link, 0o644), mode)
    return None


def _holder(path: Path) -> str:
    with suppress(OSError, ValueError):
        return f" (process {int(path.read_text())})"
    return ""


# ---- other load -----------------------------------------------------------------------------------------------------


def say_other_load(say: Say, stat: Path = Path("/proc/stat")) -> None:
    """Warn if others keep the processors busy. Only Linux shows it."""
    load = foreign_load(stat)
    if load is not None:
        say(
            f"warning: other programs use {load:.0%} of the processors: what is measured on them now is "
            "slower than this machine can be"
        )


def foreign_load(stat: Path = Path("/proc/stat")) -> float | None:
    """Return the share of all processors in use now if it is too high for measuring, else None.

    Takes half a second. Linux tells; elsewhere it is None.
    """
    with suppress(OSError, ValueError, IndexError, ZeroDivisionError):
        before = _ticks(stat)
        time.sleep(_LOOK_S)
        busy, total = (after - earlier for after, earlier in zip(_ticks(stat), before, strict=True))
        if busy / total > _LOAD_OF_OTHERS:
            return busy / total
    return None


def _ticks(stat: Path) -> tuple[int, int]:
    """(busy, all) of all processors: proc(5), the line `cpu`; idle and waiting for disks is the 4th and 5th."""
    numbers = [int(ticks) for ticks in stat.read_text().splitlines()[0].split()[1:9]]
    return sum(numbers) - numbers[3] - numbers[4], sum(numbers)
