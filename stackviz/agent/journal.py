"""What a run has measured so far, on the disk after each visit: a killed agent loses the visit it was at, no more.

    <spool>/running/<report id>.jsonl    {"is": "report", ...}, then the steps of the benchmarks, then {"is": "results"}

A report is made of these lines and of nothing else, by the agent that measured or by one that adopts what a killed one
left behind. The same lines give the same bytes, so adopting a report that was delivered after all does no harm.
"""

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import IO, Any

from stackviz.agent.assemble import parse_mended
from stackviz.agent.benchmarks.records import Records
from stackviz.agent.folders import flush_folder, is_locked_here
from stackviz.agent.privacy import Mask, mask_of_this_machine
from stackviz.agent.spool import Spool
from stackviz.base.backports import UTC
from stackviz.report.format import LIMITS, Report, ReportError

__all__ = ["Journal", "adopt_unfinished"]

_FOLDER = "running"
_ENDED_BEFORE = "not reached: the agent was ended"
_IS_OLD_S = 24 * 3600.0  # where no lock tells whether an agent still writes it
Line = dict[str, Any]


class Journal:
    """One run. Without a folder it lives in memory only."""

    def __init__(self, document: Line, *, quick: bool, folder: Path | None = None, mask: Mask | None = None) -> None:
        """`document`: the report without results, masked. Raises OSError if the journal cannot be begun."""
        self._mask = mask or mask_of_this_machine()
        self._lines: list[Line] = []
        self._path = None if folder is None else folder / _FOLDER / f"{document['id']}.jsonl"
        self._file: IO[bytes] | None = None
        self.problem: str | None = None
        "Why nothing more is written, if the disk refused a line: measuring goes on in memory."
        if self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._file = os.fdopen(os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb", buffering=0)
            is_locked_here(self._file)
        self._add({"is": "report", "document": document, "quick": quick})

    def note(self, step: Line) -> None:
        """A step of the benchmarks, as `Records` takes it."""
        self._add(self._mask.document(step))

    def note_results(self, results: list[Line]) -> None:
        """All results there are; what steps say no longer counts."""
        self._add({"is": "results", "results": self._mask.document(results[: LIMITS.results])})

    @property
    def has_results(self) -> bool:
        """Whether there is anything that a machine was busy for."""
        return any(line["is"] in {"samples", "results"} for line in self._lines)

    def report(self) -> Report:
        return _report_of(self._lines)

    def store(self, spool: Spool) -> tuple[Report, Path]:
        """Put the report into the spool; then the journal goes. Raises SpoolError."""
        report = self.report()
        path = spool.put(report)
        self.discard()
        return report, path

    def discard(self) -> None:
        if self._file is not None and self._path is not None:
            with suppress(OSError):
                self._path.unlink()  # before the lock goes: nobody adopts it in between
                flush_folder(self._path.parent)
        self.close()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _add(self, line: Line) -> None:
        line = {**line, "at": datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")}
        self._lines.append(line)
        if self._file is None or self.problem:
            return
        try:
            self._file.write(json.dumps(line).encode() + b"\n")
            os.fsync(self._file.fileno())
        except OSError as error:
            self.problem = str(error.strerror or error)


def _report_of(lines: list[Line]) -> Report:
    """Raises ReportError, KeyError, IndexError, TypeError or ValueError if these are not the lines of a journal."""
    head, steps = lines[0], lines[1:]
    records = Records()
    results: list[Line] | None = None
    for step in steps:
        if step["is"] == "results":
            results = step["results"]
        else:
            records.take(step)
    if results is None:
        results = records.results(quick=bool(head["quick"]), unreached=_ENDED_BEFORE)
    # A copy: what cannot be sent is taken out of it.
    document = json.loads(json.dumps({**head["document"], "created_at": lines[-1]["at"], "results": results}))
    return parse_mended(document)


def adopt_unfinished(spool: Spool, say: Callable[[str], None]) -> None:
    """Put into the spool what killed agents have measured. Raises SpoolError if it cannot be written.

    What cannot be opened, such as the journal of a run as root, is left to whoever can, and keeps no other waiting.
    """
    for path in sorted((spool.folder / _FOLDER).glob("*.jsonl")):
        try:
            if path.is_symlink() or not path.is_file():
                say(f"warning: {path} is no journal and was left alone")
            else:
                _adopt_if_ended(path, spool, say)
        except FileNotFoundError:
            continue  # its agent finished meanwhile
        except OSError as error:
            say(f"warning: {path} was left alone: {error.strerror or error}")


def _adopt_if_ended(path: Path, spool: Spool, say: Callable[[str], None]) -> None:
    with path.open("r+b") as file:
        is_ours = is_locked_here(file)
        if is_ours is False or (is_ours is None and time.time() - path.stat().st_mtime < _IS_OLD_S):
            return
        if path.exists():  # its agent may have finished while we waited for the lock
            _adopt(path, list(_lines(file.read())), spool, say)


def _adopt(path: Path, lines: list[Line], spool: Spool, say: Callable[[str], None]) -> None:
    if not any(line.get("is") in ("samples", "results") for line in lines):  # no set: it may be a list
        path.unlink()  # an agent that was killed before it had measured anything
        return
    try:
        report = _report_of(lines)
    except (ReportError, KeyError, IndexError, TypeError, ValueError) as error:
        spool.set_aside_file(path, f"not a journal that can be read ({type(error).__name__}: {error})")
        return
    spool.put(report)
    path.unlink()
    samples = sum(bool(result.samples) for result in report.results)
    say(f"Took over report {report.id} of an agent that was ended: {samples} of {len(report.results)} cases measured")


def _lines(content: bytes) -> Iterator[Line]:
    """Whole lines; what a killed agent was writing is torn."""
    for line in content.split(b"\n")[:-1]:
        with suppress(ValueError, RecursionError):
            value = json.loads(line)
            if isinstance(value, dict):
                yield value
