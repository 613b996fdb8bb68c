"""The folder of dumps: which exist, their contents, and whether they may still be served.

DATA_DIR/latest               name of the newest dump, replaced atomically
DATA_DIR/<moment>/            a dump: manifest.json, SHA256SUMS, three files per table; immutable
DATA_DIR/<moment>/.reports    ids of the reports in its tables of machines; never served
DATA_DIR/<moment>/.hosts      slugs of the public hosts in its tables; never served
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from django.conf import settings

from stackviz.records.hosts.models import Host
from stackviz.records.labs.models import Report

LATEST, MANIFEST, CHECKSUMS, REPORTS, HOSTS = "latest", "manifest.json", "SHA256SUMS", ".reports", ".hosts"
_NAME = re.compile(r"\d{8}T\d{6}Z(?:-\d{1,3})?", re.ASCII)
_AT_ONCE = 10_000  # ids in one query; SQLite takes some 30,000


@dataclass(frozen=True, slots=True)
class File:
    """One file of a dump. `table` and `form` are "" for the manifest and the checksums."""

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
    """A stored dump. `edition`: the edition of the catalogue and the stacks it was made from."""

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
        """The file of this name; None if the manifest does not list it."""
        return next((file for file in self.files if file.name == name), None)

    def is_of_machines(self, file: File) -> bool:
        return any(table.of_machines for table in self.tables if table.name == file.table)


def folder() -> Path:
    return Path(settings.DATA_DIR)


def newest() -> Dump | None:
    """The newest dump; None if there is none or it cannot be read."""
    try:
        return dump_named((folder() / LATEST).read_text(encoding="ascii").strip())
    except (OSError, ValueError):
        return None


def dump_named(name: str) -> Dump | None:
    """The dump of this name, such as `20261120T020000Z`; None if there is none."""
    if not _NAME.fullmatch(name):
        return None
    try:
        return _read(folder() / name)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def dump_names() -> list[str]:
    """Names of all dumps, newest first."""
    try:
        names = [entry.name for entry in folder().iterdir() if _NAME.fullmatch(entry.name) and entry.is_dir()]
    except OSError:
        return []
    return sorted(names, reverse=True)


def _read(path: Path) -> Dump:
    manifest: dict[str, Any] = json.loads((path / MANIFEST).read_text(encoding="utf-8"))
    listed: dict[str, Any] = json.loads((path / f".{MANIFEST}").read_text(encoding="utf-8"))
    return Dump(
        name=path.name,
        folder=path,
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
    """Whether every report in it still exists in a public lab, and every host is still public.

    One query per 10,000 reports or hosts. Tables of machines stop being served as soon as a lab becomes private, a
    report is deleted or a host is withdrawn. Dumps before schema 2.2 have no hosts.
    """
    try:
        reports = (dump.folder / REPORTS).read_text(encoding="ascii").split()
        listed = dump.folder / HOSTS
        slugs = listed.read_text(encoding="ascii").split() if listed.exists() else []
    except OSError:
        return False
    public = Report.objects.filter(machine__lab__is_public=True)
    hosts = Host.objects.filter(state=Host.State.PUBLIC)
    return all(public.filter(pk__in=chunk).count() == len(chunk) for chunk in _in_chunks(reports)) and all(
        hosts.filter(slug__in=chunk).count() == len(chunk) for chunk in _in_chunks(slugs)
    )


def _in_chunks(ids: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(ids), _AT_ONCE):
        yield ids[start : start + _AT_ONCE]
