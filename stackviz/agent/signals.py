"""A stop of the service, the queue's cancel and a closed terminal end the agent as Ctrl-C does: in order."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["signals_interrupt"]

_ALSO = ("SIGTERM", "SIGHUP", "SIGBREAK")  # of systemd and scancel, of a closed terminal, of Windows


@contextmanager
def signals_interrupt() -> Iterator[None]:
    """While entered, these signals raise KeyboardInterrupt. One that is ignored (nohup) or handled already stays so."""
    changed = {}
    if threading.current_thread() is threading.main_thread():
        for name in _ALSO:
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is signal.SIG_DFL:
                changed[number] = signal.signal(number, _interrupt)
    try:
        yield
    finally:
        for number, before in changed.items():
            signal.signal(number, before)


def _interrupt(_number: int, _frame: object) -> None:
    raise KeyboardInterrupt
