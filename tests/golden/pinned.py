"""A process whose clock stands still and whose random texts are the same in every run. To be called before Django."""

import random
import secrets
import string
import uuid
from datetime import UTC, datetime

import time_machine

NOW = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)

_random = random.Random()
_travels: list[time_machine.travel] = []


def pin() -> None:
    """Stop the clock and replace the readers of the system's randomness."""
    letters = string.ascii_letters + string.digits
    secrets.token_urlsafe = lambda count=32: "".join(_random.choices(letters, k=(count * 4 + 2) // 3))
    secrets.token_hex = lambda count=32: f"{_random.getrandbits(8 * count):0{2 * count}x}"
    secrets.token_bytes = lambda count=32: _random.randbytes(count)
    secrets.choice = _random.choice
    uuid.uuid4 = lambda: uuid.UUID(int=_random.getrandbits(128), version=4)
    reseed("start")
    set_clock(NOW)


def reseed(text: str) -> None:
    """What is drawn next depends on `text` alone, not on what was drawn before."""
    _random.seed(text)


def set_clock(moment: datetime) -> None:
    """Stop the clock at this moment, for all threads."""
    if _travels:
        _travels.pop().stop()
    _travels.append(time_machine.travel(moment, tick=False))
    _travels[0].start()
