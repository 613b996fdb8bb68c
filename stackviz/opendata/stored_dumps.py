"""The folder of written dumps: which there are, what is in each, and whether it may still be handed out.

DATA_DIR/latest               the name of the newest dump, replaced in one step
DATA_DIR/<moment>/            a dump: manifest.json, SHA256SUMS, three files a table; never changed once it is there
DATA_DIR/<moment>/.reports    ids of the reports its tables of machines are from; served to nobody
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from django.conf import settings

from stackviz.labs.models import Report

LATEST, MANIFEST, CHECKSUMS, REPORTS = "latest", "manifest.json", "SHA256SUMS", ".reports"
_NAME = re.compile(r"\d{8}T\d{6}Z(?:-\d{1,3})?", re.ASCII)
_AT_ONCE = 10_000  # ids in one query; SQLite takes some 30,000


@dataclass(frozen=True, slots=True)
class File:
    """One file of a dump. `table` and `form` are "" for the manifest and the list of checksums."""

    name: str
    bytes: int
    sha256: str
    table: str = ""
    form: str = ""


@dataclass(frozen=True, slots=True)
class WrittenTable:
    name: str
    rows: int
    of_machines: bool
    files: tuple[File, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dump:
    """A written dump. `edition`: the state of the catalogue and the stacks it is of."""

    name: str
    folder: Path
    created_at: datetime
    schema_version: str
    edition: str
    tables: tuple[WrittenTable, ...]
    others: tuple[File, ...]

    @property
    def files(self) -> Iterator[File]:
        yield from self.others
        for table in self.tables:
            yield from table.files

    def file(self, name: str) -> File | None:
        """The file of this name; None for anything that the manifest does not name."""
        return next((file for file in self.files if file.name == name), None)

    def is_of_machines(self, file: File) -> bool:
        return any(table.of_machines for table in self.tables if table.name == file.table)


def folder() -> Path:
    return Path(settings.DATA_DIR)


def newest() -> Dump | None:
    """The newest dump; None while none is written, or none can be read."""
    try:
        return named((folder() / LATEST).read_text(encoding="ascii").strip())
    except (OSError, ValueError):
        return None


def named(name: str) -> Dump | None:
    """The dump of this name, such as `20261120T020000Z`; None for anything else."""
    if not _NAME.fullmatch(name):
        return None
    try:
        return _read(folder() / name)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def names() -> list[str]:
    """Of all dumps, newest first."""
    try:
        found = [entry.name for entry in folder().iterdir() if _NAME.fullmatch(entry.name) and entry.is_dir()]
    except OSError:
        return []
    return sorted(found, reverse=True)


def _read(place: Path) -> Dump:
    manifest: dict[str, Any] = json.loads((place / MANIFEST).read_text(encoding="utf-8"))
    listed: dict[str, Any] = json.loads((place / f".{MANIFEST}").read_text(encoding="utf-8"))
    return Dump(
        name=place.name,
        folder=place,
        created_at=datetime.fromisoformat(manifest["created_at"]),
        schema_version=manifest["schema_version"],
        edition=manifest["edition"],
        tables=tuple(_table(entry) for entry in manifest["tables"]),
        others=tuple(File(**entry) for entry in listed["files"]),
    )


def _table(entry: dict[str, Any]) -> WrittenTable:
    files = tuple(
        File(file["name"], file["bytes"], file["sha256"], entry["name"], file["format"]) for file in entry["files"]
    )
    return WrittenTable(entry["name"], entry["rows"], entry["of_machines"], files)


def is_still_public(dump: Dump) -> bool:
    """Whether every report its tables of machines are from is there, in a lab that is public. A query per 10,000.

    A lab that has become private, or a report that was taken away, is handed out from that moment on no more.
    """
    try:
        reports = (dump.folder / REPORTS).read_text(encoding="ascii").split()
    except OSError:
        return False
    public = Report.objects.filter(machine__lab__is_public=True)
    return all(public.filter(pk__in=chunk).count() == len(chunk) for chunk in _in_chunks(reports))


def _in_chunks(ids: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(ids), _AT_ONCE):
        yield ids[start : start + _AT_ONCE]
