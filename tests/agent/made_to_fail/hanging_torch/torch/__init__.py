"""A torch whose import never ends, and which has started processes that never end: one in a session of its own.

HANGING_PIDS names the file to which the process ids go. HANGING_HOW=locked: Python's lock is held meanwhile, as a driver
holds it that waits for a card.
"""

import ctypes
import os
import subprocess
import sys
import time
from pathlib import Path

_sleep = [sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)"]
_others = [subprocess.Popen(_sleep), subprocess.Popen(_sleep, start_new_session=True)]
_target = Path(os.environ["HANGING_PIDS"])
_written = _target.with_name(f"{_target.name}.new")
_written.write_text(" ".join(str(pid) for pid in (os.getpid(), *(other.pid for other in _others))))
_written.replace(_target)
if os.environ.get("HANGING_HOW") == "locked":
    ctypes.PyDLL(None).sleep(600)
time.sleep(600)
