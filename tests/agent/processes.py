"""The agent as a process of its own, and what is left of it afterwards."""

import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
HANGING_TORCH = Path(__file__).parent / "made_to_fail" / "hanging_torch"
TOY_TORCH = Path(__file__).parent / "made_to_fail" / "toy_torch"


def start_agent(*argv, folder, path=(), **environ):
    """Start the agent in a folder, which holds its temporary files too. `path`: folders that come first for imports."""
    (folder / "tmp").mkdir(exist_ok=True)
    return subprocess.Popen(
        [sys.executable, "-m", "stackviz.agent", *argv],
        cwd=ROOT,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "TMPDIR": str(folder / "tmp"),
            "ACCELWEB_LOCK_FOLDER": str(folder),  # agents of other tests measure at the same time
            "PYTHONPATH": os.pathsep.join(str(each) for each in path),
            **environ,
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(condition, seconds=30.0):
    """What `condition` returns once it is true. AssertionError if it is not in time."""
    until = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < until, "it did not happen in time"
        time.sleep(0.02)
    return value


def is_running(pid):
    """A zombie is not: it runs nothing and holds nothing."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def children_of(pid):
    """Process ids of the children, of children too."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = stat.read_text().rpartition(")")
        except OSError:
            continue
        parents[int(name.split()[0])] = int(rest.split()[1])
    below, wave = set(), {pid}
    while wave := {child for child, parent in parents.items() if parent in wave} - below:
        below |= wave
    return below


def end(process):
    """The output and the exit code of a process that ends by itself. It is killed if it does not."""
    try:
        out, err = process.communicate(timeout=30)
    finally:
        process.kill()
    return process.returncode, out, err
