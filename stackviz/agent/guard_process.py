"""The process that outlives the agent by a moment: it ends what a killed agent left running, and removes its folders.

Standard input is a pipe that only the agent holds: lines say what is there, its end says that the agent is gone,
however it went. Standard library only, and as little of that as possible: it is started with every run.

    ["add", "group", 4711]     ["add", "folder", "/tmp/accelweb-agent-x"]     ["remove", "group", 4711]
"""

import json
import os
import shutil
import signal
import sys
from contextlib import suppress
from pathlib import Path

__all__ = ["MARK", "end_marked", "main"]

MARK = "ACCELWEB_CHILD_OF"
"Environment variable of everything the agent starts: which agent, which of its children."

_MOST_LOOKS = 20  # at processes that start others as fast as they are ended


def main() -> None:
    """`sys.argv[-1]`: the value that all marks of this agent start with."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    groups: set[int] = set()
    folders: set[str] = set()
    for line in sys.stdin:
        with suppress(ValueError, TypeError, AttributeError):
            verb, kind, value = json.loads(line)
            collection: set[int] | set[str] = groups if kind == "group" else folders
            getattr(collection, verb if verb == "add" else "discard")(value)
    for group in groups:
        with suppress(OSError, AttributeError, TypeError):
            os.killpg(group, signal.SIGKILL)
    if groups:
        end_marked(sys.argv[-1])
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


def end_marked(mark: str) -> None:
    """Kill every process whose mark starts so: what left its group and its session. Only Linux tells who has one."""
    wanted = f"{MARK}={mark}".encode()
    for _ in range(_MOST_LOOKS):
        marked = [pid for pid in _own_processes() if _has_mark(pid, wanted)]
        for pid in marked:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        if not marked:
            return


def _own_processes() -> list[int]:
    try:
        names = os.listdir("/proc")  # noqa: PTH208 - a tenth of the time that Path needs for thousands
    except OSError:
        return []
    return [int(name) for name in names if name.isdigit() and int(name) != os.getpid()]


def _has_mark(pid: int, wanted: bytes) -> bool:
    """Processes of others may not be read; a zombie has no environment left."""
    try:
        environ = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return False
    return any(variable.startswith(wanted) for variable in environ.split(b"\0"))


if __name__ == "__main__":
    main()
