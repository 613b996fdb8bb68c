"""Ends process groups when whoever started them is gone, kill -9 included. Run as a program, standard library only.

It reads `+<group>` and `-<group>` lines. When the writing end of its input closes, which the kernel does for a dead
process too, it ends every group still on the list. (Linux alone has a call for this; a pipe works everywhere.)
"""

import os
import signal
import sys
import time
from collections.abc import Iterable

GRACE_S = 5.0  # between asking and killing


def main(lines: Iterable[str]) -> None:
    # It must outlive what it guards against: a signal to all of a session or terminal ends the parent, not this.
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
    """Asks every group to end, waits, then kills what is left."""
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
