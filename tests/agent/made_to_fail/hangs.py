"""A child that never ends, and has started another one that never ends."""

import os
import subprocess
import sys
import time
from pathlib import Path

other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
with Path(os.environ["ACCELWEB_ANSWER"]).open("a") as answer:
    answer.write(f'{{"other": {other.pid}}}\n')
time.sleep(600)
