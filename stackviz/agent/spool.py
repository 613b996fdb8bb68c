"""The spool: a folder in which reports wait until the site has them.

A report is written under a temporary name, flushed to the disk and then renamed: each is written completely or not at
all. It leaves only by delivery, or moves to `rejected/` or `corrupt/`; nothing is ever overwritten or dropped. A full
spool refuses new reports and retains the old ones. Two agents can share a folder: sending a report twice does no harm.

    2026-11-20T125900Z-0f8b5b1e-....json     waits; the oldest is sent first
    rejected/<same name>                     the site will never take it
    rejected/<same name>.answer.json         what it answered
    corrupt/<same name>                      is no report any more
    running/<report id>.jsonl                an agent is measuring this, or was killed: `journal`
    confirmed.json                           servers somebody agreed to send to
    machine.json                             only on machines that have no id
"""

import contextlib
import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from stackviz.agent.folders import TEMPORARY, flush_folder, write_whole
from stackviz.report.format import LIMITS, Report, ReportError, ReportTooLarge, parse_report, to_json

__all__ = ["MOST_BYTES", "MOST_REPORTS", "Spool", "SpoolError", "SpooledReport"]

MOST_REPORTS = 500
MOST_BYTES = 512 * 1024 * 1024
_TEMPORARY_IS_OLD_S = 24 * 3600.0
_NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)  # a link that came since it was looked at fails
_NEEDED_BYTES = 1024 * 1024  # a report of two hundred cases with its journal


class SpoolError(Exception):
    """The spool cannot store or return a report; the text says what to do."""


@dataclass(frozen=True)
class SpooledReport:
    """One report in the spool. `body`: the bytes as they will be sent, however often."""

    path: Path
    body: bytes
    report: Report


class Spool:
    def __init__(self, folder: Path, most_reports: int = MOST_REPORTS, most_bytes: int = MOST_BYTES) -> None:
        self.folder = folder
        self.rejected = folder / "rejected"
        self.corrupt = folder / "corrupt"
        self._most_reports = most_reports
        self._most_bytes = most_bytes
        self.set_aside: list[str] = []  # what `waiting` found corrupt, for people
        self.unread: dict[str, str] = {}  # name -> why it cannot be read; it stays where it is

    # ---- putting in ---------------------------------------------------------------------------------------------

    def put(self, report: Report) -> Path:
        """Keep a report. Raises SpoolError if the spool is full or cannot be written."""
        body = to_json(report).encode()
        parse_report(body)  # what the site would refuse must be found here, where somebody sees it
        try:
            self._make_folder(self.folder)
            self._check_room(len(body))
            path = self.folder / f"{report.created_at:%Y-%m-%dT%H%M%SZ}-{report.id}.json"
            self._remove_old_leftovers()
            write_whole(path, body)
        except OSError as error:
            raise SpoolError(f"cannot write to {self.folder}: {error.strerror or error}") from None
        return path

    def check_ready(self) -> None:
        """Find out before anything is measured that a report could not be stored. Raises SpoolError."""
        try:
            self._make_folder(self.folder)
            self._check_room(_NEEDED_BYTES)
            trial = self.folder / f"{TEMPORARY}trial-{os.getpid()}"
            try:
                write_whole(trial, os.urandom(_NEEDED_BYTES))  # random: a file system may compress
            finally:
                with contextlib.suppress(OSError):
                    trial.unlink(missing_ok=True)
        except OSError as error:
            raise SpoolError(f"cannot write to {self.folder}: {error.strerror or error}") from None

    def _check_room(self, size: int) -> None:
        waiting = self._names()
        held = sum(_size(path) for path in waiting)
        if len(waiting) >= self._most_reports or held + size > self._most_bytes:
            raise SpoolError(
                f"{self.folder} is full ({len(waiting)} reports, {held} bytes): "
                "deliver them with `upload`, or remove some"
            )

    def _remove_old_leftovers(self) -> None:
        """What a killed agent left half written. A young one may belong to an agent at work."""
        for path in (*self.folder.glob(f"{TEMPORARY}*"), *self.rejected.glob(f"{TEMPORARY}*")):
            with contextlib.suppress(OSError):
                if time.time() - path.stat().st_mtime > _TEMPORARY_IS_OLD_S:
                    path.unlink()

    # ---- taking out ---------------------------------------------------------------------------------------------

    def waiting(self) -> Iterator[SpooledReport]:
        """The waiting reports, oldest first. An invalid one moves to `corrupt/` and is listed in `set_aside`.

        One that may not be read, or whose place on the disk cannot, stays and is listed in `unread`.
        """
        for path in self._names():
            if path.is_symlink():
                self.unread[path.name] = f"{path} is a link; a report is a file of its own, and nothing else is sent"
                continue
            try:
                body = _read(path)
                report = parse_report(body)
            except ReportError as error:
                self.set_aside_file(path, f"not a valid report ({error})")
                continue
            except FileNotFoundError:
                continue  # another agent delivered it
            except OSError as error:
                self.unread[path.name] = f"{path} cannot be read ({error.strerror or error}); it stays there"
                continue
            yield SpooledReport(path, body, report)

    def delivered(self, waiting: SpooledReport) -> None:
        """The site has it: remove it."""
        waiting.path.unlink(missing_ok=True)
        flush_folder(self.folder)

    def reject(self, waiting: SpooledReport, status: int, answer: str) -> Path:
        """The site will never take it: keep it with the answer, out of the way."""
        self._make_folder(self.rejected)
        target = self.rejected / waiting.path.name
        note = {"status": status, "answer": answer}
        write_whole(target.with_name(f"{target.name}.answer.json"), json.dumps(note, indent=2).encode())
        with contextlib.suppress(FileNotFoundError):
            waiting.path.replace(target)
        return target

    def count(self) -> int:
        return len(self._names())

    def _names(self) -> list[Path]:
        try:
            return sorted(path for path in self.folder.glob("[0-9]*.json") if path.is_file())
        except OSError as error:
            raise SpoolError(f"cannot read {self.folder}: {error.strerror or error}") from None

    def set_aside_file(self, path: Path, problem: str) -> None:
        """Move what cannot be read out of the way, for people to look at."""
        self._make_folder(self.corrupt)
        with contextlib.suppress(FileNotFoundError):
            path.replace(self.corrupt / path.name)
        self.set_aside.append(f"{path.name} is {problem}; moved to {self.corrupt}")

    # ---- consent ------------------------------------------------------------------------------------------------

    def is_confirmed(self, server: str) -> bool:
        """Has a person agreed to send reports to this server?"""
        return server in self._confirmed()

    def confirm(self, server: str) -> None:
        confirmed = sorted({*self._confirmed(), server})
        with contextlib.suppress(OSError):  # then it is asked again
            self._make_folder(self.folder)
            write_whole(self.folder / "confirmed.json", json.dumps({"servers": confirmed}, indent=2).encode())

    def _confirmed(self) -> set[str]:
        try:
            servers = json.loads((self.folder / "confirmed.json").read_text(encoding="utf-8"))["servers"]
        except (OSError, ValueError, KeyError, TypeError):
            return set()
        return {server for server in servers if isinstance(server, str)} if isinstance(servers, list) else set()

    @staticmethod
    def _make_folder(folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)


def _read(path: Path) -> bytes:
    if _size(path) > LIMITS.body_bytes:
        raise ReportTooLarge("body", "is too large")
    with open(os.open(path, os.O_RDONLY | _NO_LINK), "rb") as file:  # noqa: PTH123 (a descriptor)
        return file.read(LIMITS.body_bytes + 1)


def _size(path: Path) -> int:
    try:
        return path.lstat().st_size  # of a link its own: what it leads to is not in the spool
    except FileNotFoundError:
        return 0
