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
_AS_GOOD_AS_SET_S = 0.2
_shown = time_machine.travel(time.time(), tick=True).start()


def _follow() -> None:
    """By the machine's own clock, so that a process that stood still for a while is not behind the others."""
    ahead_s = 0.0
    while True:
        text = _FILE.read_text() if _FILE.exists() else ""
        ahead_s = float(text or ahead_s)  # empty: being written
        off_s = time_machine.escape_hatch.time.time() + ahead_s - time.time()
        if abs(off_s) > _AS_GOOD_AS_SET_S:
            _shown.shift(off_s)
        time.sleep(_LOOK_EVERY_S)


def _start() -> None:
    threading.Thread(target=_follow, name="clock", daemon=True).start()


os.register_at_fork(after_in_child=_start)
_start()
