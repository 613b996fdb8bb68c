"""An agent that stays: a turn every few hours, at low priority, and none while the machine is at work for others."""

import json
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from stackviz.agent.before import RunRefused
from stackviz.agent.exit_codes import Exit
from stackviz.agent.upload import Clock, Server, answer_text

__all__ = ["lower_priority", "say_sign_of_life", "stay", "why_busy"]

_CARD_AT_WORK = 0.1  # share of the last moments: beyond, what is measured on the card is that of a shared one
_LOOK_AGAIN_S = 600.0
_MOST_JITTER_S = 600.0  # so that the machines of a lab, switched on together, do not all send at once
_LONGEST_NAP_S = 60.0  # a machine that was suspended takes its turn soon after it wakes up
_NEEDS_A_PERSON = {Exit.UNEXPECTED, Exit.USAGE, Exit.KEY_REFUSED, Exit.NOT_CONFIRMED, Exit.SPOOL, Exit.INTERRUPTED}
_NOBODY = re.compile(r'"machine"\s*:\s*null')
_IDLE_PRIORITY_CLASS = 0x40  # of SetPriorityClass
Say = Callable[[str], None]


def stay(turn: Callable[[], Exit], every_s: float, say: Say, *, once: bool = False, clock: Clock | None = None) -> Exit:
    """Take a turn every `every_s` seconds, until one of them needs a person. -> its exit code.

    A turn that the machine was too busy for is tried again every ten minutes. `once`: only one turn, for a timer of the
    system; it gives up at half the interval, before the timer rings again.
    """
    clock = clock or Clock()
    needs_a_person = _NEEDS_A_PERSON | {Exit.WRONG_SERVER}  # at first a mistyped address; later a network's login page
    while True:
        began = clock.now()
        ended = _one_turn(turn, say)
        while ended is Exit.BUSY:
            if once and clock.now() + _LOOK_AGAIN_S > began + every_s / 2:
                break
            say(f"the agent looks again in {_LOOK_AGAIN_S / 60:.0f} minutes")
            _sleep(min(_LOOK_AGAIN_S, every_s), clock)
            ended = _one_turn(turn, say)
        if once or ended in needs_a_person:
            return ended
        needs_a_person = _NEEDS_A_PERSON
        rest_s = max(0.0, began + every_s - clock.now()) + clock.jitter() * min(_MOST_JITTER_S, every_s / 20)
        say(f"the next turn is at {_time_of_day(clock.now() + rest_s)}; Ctrl-C ends the agent")
        _sleep(rest_s, clock)


def _one_turn(turn: Callable[[], Exit], say: Say) -> Exit:
    try:
        return turn()
    except RunRefused as refused:
        if refused.exit in _NEEDS_A_PERSON:
            raise
        say(str(refused))
        return refused.exit


def _sleep(seconds: float, clock: Clock) -> None:
    """Wait until the time is over by either clock: one stops in a suspended machine, the other can be set back."""
    due, until = clock.now() + seconds, clock.monotonic() + seconds
    while clock.now() < due and (rest_s := until - clock.monotonic()) > 0:
        clock.sleep(min(_LONGEST_NAP_S, rest_s))


def _time_of_day(moment: float) -> str:
    return f"{datetime.fromtimestamp(moment).astimezone() + timedelta(seconds=30):%Y-%m-%d %H:%M}"


def why_busy(cards: Sequence[Mapping[str, Any]], load: float | None) -> str:
    """Why nothing should be measured now; empty if nothing speaks against it.

    `load`: share of the processors that others use, if `foreign_load` found it too high. Names no program.
    """
    if load is not None:
        return f"other programs use {load:.0%} of the processors"
    for card in cards:
        facts = card.get("facts", {})
        share = facts.get("busy_ratio")
        if share is not None and share > _CARD_AT_WORK:
            return f"card {card['index']} is at work ({share:.0%})"
        if facts.get("compute_processes"):
            return f"another program computes on card {card['index']}"
    return ""


def say_sign_of_life(server: Server, identity: str, every_s: float, busy: str, say: Say) -> bool:
    """Tell the site that this agent is there and how often it reports. Return True if there is no point in retrying.

    False of a machine that has not reported yet: the site knows it after its first report. A site that is older, away
    or does not understand it costs the turn nothing. Raises RunRefused where the key is wrong.
    """
    body = {"identity": identity, "every_s": round(every_s), "busy": busy[:200]}
    answer = server.post_heartbeat(json.dumps(body).encode())
    if answer.status in {401, 403} and answer.text.lstrip().startswith("{"):
        raise RunRefused(Exit.KEY_REFUSED, f"{answer_text(server, answer)}. Nothing was measured.")
    if answer.status in {404, 405}:
        say("the site takes no signs of life: an older one; it will not notice when this machine falls silent")
    elif answer.status != 200:
        say(f"warning: the site did not take the sign of life ({answer_text(server, answer)})")
    return answer.status != 200 or _NOBODY.search(answer.text) is None


def lower_priority() -> None:
    """Let everything else on this machine go first: nice 19, on Windows the idle class. Children inherit it.

    Not the background class of macOS, which would leave only the slow cores: those are not what is to be measured.
    """
    with suppress(OSError, AttributeError):
        if sys.platform == "win32":
            import ctypes

            kernel = ctypes.windll.kernel32
            kernel.SetPriorityClass(kernel.GetCurrentProcess(), _IDLE_PRIORITY_CLASS)
        else:
            os.nice(19)
