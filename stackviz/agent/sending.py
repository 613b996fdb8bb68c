"""Delivering what waits in the spool: ask once about all of it, send oldest first, set aside what the site will never
take.
"""

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from stackviz.agent.exit_codes import Exit
from stackviz.agent.progress import Progress, terminal_json
from stackviz.agent.report_text import also_sent, what_is_sent
from stackviz.agent.spool import Spool, SpooledReport
from stackviz.agent.upload import Clock, Delivery, Server, UploadOutcome, deliver
from stackviz.report.format import Report

__all__ = ["agree_beforehand", "send_waiting"]

_EXITS = {
    UploadOutcome.DELIVERED: Exit.OK,
    UploadOutcome.REJECTED: Exit.REJECTED,
    UploadOutcome.KEY_REFUSED: Exit.KEY_REFUSED,
    UploadOutcome.WRONG_SERVER: Exit.WRONG_SERVER,
    UploadOutcome.NOT_IN_TIME: Exit.NOT_DELIVERED,
}
_STOPS = {UploadOutcome.KEY_REFUSED, UploadOutcome.WRONG_SERVER, UploadOutcome.NOT_IN_TIME}
"Outcomes that the next report would share: the rest stays in the spool."


@dataclass
class _Tally:
    exits: list[Exit] = field(default_factory=list)
    reports: list[dict[str, Any]] = field(default_factory=list)


def send_waiting(
    spool: Spool,
    server: Server,
    arguments: argparse.Namespace,
    mine: Report | None = None,
    clock: Clock | None = None,
    ask: Callable[[str, int], bool] | None = None,
) -> Exit:
    """Send all that waits. `mine` is the report just made: its address is what a caller wants to see."""
    clock = clock or Clock()
    progress = Progress(is_quiet=arguments.quiet)
    tally = _Tally()
    deadline = clock.monotonic() + arguments.timeout
    reports = spool.waiting() if _is_agreed(spool, server, arguments, mine, progress, ask or _ask) else ()
    if not reports:
        tally.exits.append(Exit.NOT_CONFIRMED)
    for waiting in reports:
        delivery = deliver(server, waiting.report, waiting.body, deadline, clock=clock, say=progress.say)
        _take(spool, waiting, delivery, tally, progress)
        if delivery.outcome in _STOPS:
            break
    for text in (*spool.set_aside, *spool.unread.values()):
        progress.say(f"warning: {text}")
    if spool.unread:
        tally.exits.append(Exit.SPOOL)
    exit_ = Exit.worst(*tally.exits)
    _conclude(spool, arguments, tally, exit_, mine)
    return exit_


def _take(spool: Spool, waiting: SpooledReport, delivery: Delivery, tally: _Tally, progress: Progress) -> None:
    report_id = str(waiting.report.id)
    tally.exits.append(_EXITS[delivery.outcome])
    entry: dict[str, Any] = {
        "id": report_id,
        "outcome": delivery.outcome.value,
        "status": delivery.status,
        "status_url": delivery.status_url,
        "receipt_url": delivery.receipt_url,
    }
    if delivery.outcome is UploadOutcome.DELIVERED:
        spool.delivered(waiting)
        progress.say(f"Delivered {report_id}{'' if delivery.was_new else ' (the site had it already)'}")
    elif delivery.outcome is UploadOutcome.REJECTED:
        path = spool.reject(waiting, delivery.status or 0, delivery.text)
        entry |= {"kept": str(path), "answer": delivery.text[:2000]}
        progress.say(f"Rejected {report_id} with {delivery.status}: {delivery.text[:500]}\n  set aside: {path}")
    else:
        entry["problem"] = delivery.text
        progress.say(f"Not delivered {report_id}: {delivery.text}")
    tally.reports.append(entry)


def _conclude(spool: Spool, arguments: argparse.Namespace, tally: _Tally, exit_: Exit, mine: Report | None) -> None:
    """The last words: JSON for a program; for people the address of the receipt, alone on its line."""
    mine_id = str(mine.id) if mine else None
    mine_entry = next((entry for entry in tally.reports if entry["id"] == mine_id), None)
    if arguments.json:
        answer = {
            "exit": int(exit_),
            "meaning": exit_.meaning,
            "report": mine_id,
            "status_url": mine_entry["status_url"] if mine_entry else None,
            "receipt_url": mine_entry["receipt_url"] if mine_entry else None,
            "reports": tally.reports,
            "waiting": spool.count(),
            "unread": sorted(spool.unread),
            "spool": str(spool.folder),
        }
        print(terminal_json(answer))
        return
    for entry in tally.reports:
        if entry["receipt_url"]:
            print(entry["receipt_url"])
    if exit_ is not Exit.OK:
        print(f"{exit_.meaning}. Spool: {spool.folder}", file=sys.stderr)
    elif not tally.reports:
        print("the spool is empty", file=sys.stderr)


def agree_beforehand(spool: Spool, server: Server, arguments: argparse.Namespace, report: Report) -> bool:
    """Ask on a terminal before anything is measured, with the report as it is without results. Elsewhere say what will
    be missing."""
    progress = Progress(is_quiet=arguments.quiet)
    if arguments.yes or spool.is_confirmed(server.url):
        return True
    if sys.stdin.isatty():
        return _is_agreed(spool, server, arguments, report, progress, _ask, is_measured=False)
    progress.say("warning: nobody has agreed to send reports to this site: this one will stay in the spool; see --yes")
    return True


def _is_agreed(
    spool: Spool,
    server: Server,
    arguments: argparse.Namespace,
    mine: Report | None,
    progress: Progress,
    ask: Callable[[str, int], bool],
    *,
    is_measured: bool = True,
) -> bool:
    """Show all that is sent and ask, before the first upload to a server. Later uploads do not ask."""
    reports = [waiting.report for waiting in spool.waiting()]
    others = [report for report in reports if mine is None or report.id != mine.id]
    shown = mine or (others.pop() if others else None)
    if shown is None:
        return True
    if arguments.yes or spool.is_confirmed(server.url):
        if others:
            progress.say(f"The spool holds {len(others)} more, the oldest is sent first:\n{also_sent(others)}")
    elif not ask(what_is_sent(shown, server.url, others, is_measured=is_measured), len(others) + 1):
        return False
    if not spool.is_confirmed(server.url):
        spool.confirm(server.url)
    return True


def _ask(text: str, count: int) -> bool:
    """Without a terminal there is no answer: show the text and do not send."""
    print(text, file=sys.stderr, flush=True)
    if not sys.stdin.isatty():
        print(
            "\nCannot ask for confirmation: standard input is not a terminal. Run again with --yes to send.",
            file=sys.stderr,
        )
        return False
    what = "this report" if count == 1 else f"these {count} reports"
    print(f"\nSend {what}, and later reports like {'it' if count == 1 else 'them'}? [y/N] ", end="", file=sys.stderr)
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}
