"""A child that answers once, half writes a second answer, and dies as a driver's crash would make it die."""

import os
import signal
from pathlib import Path

with Path(os.environ["ACCELWEB_ANSWER"]).open("a") as answer:
    answer.write('{"first": 1}\n{"second": ')
os.kill(os.getpid(), signal.SIGSEGV)
