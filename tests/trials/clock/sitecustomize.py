"""A clock that a test moves: Python runs this first where the folder is on PYTHONPATH.

The time of day is ahead by the seconds in the file that CLOCK_AHEAD_FILE names, changed within a tenth of a second,
in processes that fork too. Clocks that only measure (time.monotonic) go on as they do when a machine's clock is set.
"""

import os
import threading
import time
from pathlib import Path

import time_machine

_FILE = Path(os.environ["CLOCK_AHEAD_FILE"])
_LOOK_EVERY_S = 0.05
_shown = time_machine.travel(time.time(), tick=True).start()
_ahead_s = 0.0


def _follow() -> None:
    global _ahead_s  # noqa: PLW0603
    while True:
        text = _FILE.read_text() if _FILE.exists() else ""
        wanted_s = float(text or _ahead_s)  # empty: being written
        if wanted_s != _ahead_s:
            _shown.shift(wanted_s - _ahead_s)
            _ahead_s = wanted_s
        time.sleep(_LOOK_EVERY_S)


def _start() -> None:
    threading.Thread(target=_follow, name="clock", daemon=True).start()


os.register_at_fork(after_in_child=_start)
_start()
