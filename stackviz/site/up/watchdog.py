"""Ends process groups when their parent is gone, even after kill -9. Run as a program; standard library only.

It reads lines `+<group>` and `-<group>` from a pipe. When the pipe closes, which the kernel does for a dead process
too, it ends all groups still listed. (Only Linux has a system call for this; a pipe works everywhere.)
"""

import os
import signal
import sys
import time
from collections.abc import Iterable

GRACE_S = 5.0  # between SIGTERM and SIGKILL


def main(lines: Iterable[str]) -> None:
    # A signal to the whole session or terminal ends the parent; this process must survive it.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    groups: set[int] = set()
    for line in lines:
        group = int(line[1:])
        if line[0] == "+":
            groups.add(group)
        else:
            groups.discard(group)
    end(groups)


def end(groups: set[int]) -> None:
    """Terminate all groups, wait, then kill the rest."""
    signal_all(groups, signal.SIGTERM)
    deadline = time.monotonic() + GRACE_S
    while groups and time.monotonic() < deadline:
        time.sleep(0.1)
        groups = {group for group in groups if is_there(group)}
    signal_all(groups, signal.SIGKILL)


def signal_all(groups: set[int], number: int) -> None:
    for group in groups:
        try:
            os.killpg(group, number)
        except (ProcessLookupError, PermissionError):
            continue


def is_there(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


if __name__ == "__main__":
    main(sys.stdin)
