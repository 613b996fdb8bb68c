"""Exit codes of the agent, one number per action for the caller (docs/agent.md), and signals that end it in order."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum

__all__ = ["Exit", "signals_interrupt"]


class Exit(IntEnum):
    """In rising order of what needs a person: when several hold, `worst` is the one reported."""

    OK = 0
    UNEXPECTED = 1  # an error of the agent's own
    USAGE = 2  # as argparse
    NOT_DELIVERED = 3  # the site could not be reached in time: kept in the spool, run again
    KEY_REFUSED = 4  # 401 or 403, before measuring too: what was made is in the spool, fix the key
    REJECTED = 5  # the site will never take one of the reports: set aside in rejected/
    NOT_CONFIRMED = 6  # nobody agreed to send, before measuring or after: answer the question, or pass --yes
    SPOOL = 7  # the spool is full or cannot be written, or a report in it cannot be read
    WRONG_SERVER = 8  # what answers at --server is not an accelweb site
    REGRESSION = 9  # --fail-below: slower than in the last run
    BUSY = 10  # another agent, or for --every another program, is at work: run again later
    NOTHING_MEASURED = 11  # every benchmark failed, or --fail-below has no result
    INTERRUPTED = 130  # Ctrl-C

    @property
    def meaning(self) -> str:
        return _MEANINGS[self]

    @staticmethod
    def worst(*exits: "Exit") -> "Exit":
        return max(exits, key=_SEVERITY.index, default=Exit.OK)


_MEANINGS = {
    Exit.OK: "done",
    Exit.UNEXPECTED: "the agent failed: please report what it printed",
    Exit.USAGE: "an argument is wrong",
    Exit.NOT_DELIVERED: "the site did not accept the report in time; it is stored in the spool, run `upload` later",
    Exit.KEY_REFUSED: (
        "the site refused the key: correct it and run again; a report that was made already is in the spool, `upload` "
        "sends it"
    ),
    Exit.REJECTED: "the site rejected a report permanently; it is in the spool's rejected/ folder with the answer",
    Exit.NOT_CONFIRMED: (
        "nobody agreed to send: answer y on a terminal, or pass --yes; a report that was made already is in the spool"
    ),
    Exit.SPOOL: "the spool is full or not writable, or a report in it cannot be read",
    Exit.WRONG_SERVER: (
        "the server at --server is not an accelweb site; a report that was made already is in the spool"
    ),
    Exit.REGRESSION: "a result is slower than --fail-below allows, compared with the last run",
    Exit.NOTHING_MEASURED: ("every benchmark failed, or with --fail-below none was measured; the results say why"),
    Exit.BUSY: (
        "another agent, or with --every another program, keeps this machine busy; nothing was measured, run again later"
    ),
    Exit.INTERRUPTED: "interrupted; unsent reports are stored in the spool",
}
_SEVERITY = [
    Exit.OK,
    Exit.REGRESSION,
    Exit.NOTHING_MEASURED,
    Exit.NOT_DELIVERED,
    Exit.REJECTED,
    Exit.NOT_CONFIRMED,
    Exit.WRONG_SERVER,
    Exit.KEY_REFUSED,
    Exit.SPOOL,
    Exit.BUSY,
    Exit.USAGE,
    Exit.UNEXPECTED,
    Exit.INTERRUPTED,
]


_ALSO = ("SIGTERM", "SIGHUP", "SIGBREAK")  # of systemd and scancel, of a closed terminal, of Windows


@contextmanager
def signals_interrupt() -> Iterator[None]:
    """While entered, these signals raise KeyboardInterrupt. One that is ignored (nohup) or handled already stays so."""
    changed = {}
    if threading.current_thread() is threading.main_thread():
        for name in _ALSO:
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is signal.SIG_DFL:
                changed[number] = signal.signal(number, _interrupt)
    try:
        yield
    finally:
        for number, before in changed.items():
            signal.signal(number, before)


def _interrupt(_number: int, _frame: object) -> None:
    raise KeyboardInterrupt
