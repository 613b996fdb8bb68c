"""How a child of the agent begins: tied to the life of the agent, then its module runs."""

import ctypes
import os
import runpy
import signal
import sys
import threading
from contextlib import suppress

__all__ = ["begin", "end_with_input"]

_PR_SET_PDEATHSIG = 1  # of linux/prctl.h


def begin(module: str, agent_pid: int) -> None:
    """Run a module as the child of the agent with this process id."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != agent_pid:  # it ended before it could be noticed
            sys.exit("the agent has ended")
    runpy.run_module(module, run_name="__main__")


def end_with_input() -> None:
    """End this process and its group when standard input ends: nobody is left who wants its answer.

    The second line behind the agent's guard, for systems without a death signal. A library that holds Python's lock for
    ever holds up this thread too.
    """
    threading.Thread(target=_wait_for_end, daemon=True).start()


def _wait_for_end() -> None:
    with suppress(OSError, ValueError):
        while os.read(0, 1024):  # not by way of sys.stdin, whose lock an ending Python wants for itself
            pass
        if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
            os.killpg(0, signal.SIGKILL)
        os._exit(1)
