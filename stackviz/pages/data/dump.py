"""Write the dump atomically: every public row in each format, a manifest and checksums.

A dump is written into a temporary folder and renamed when it is complete; then `latest` is replaced. Readers see the
old dump or the new one, never a partial one. A second concurrent writer fails on the lock.
"""

import fcntl
import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils import timezone, translation

from stackviz.pages.data import stored_dumps
from stackviz.pages.data.formats import WRITERS, moment_text, written_formats
from stackviz.pages.data.licence import licence_in_manifest
from stackviz.pages.data.schema import SCHEMA_VERSION, TABLES, TYPES, TableSchema
from stackviz.pages.data.tables import ROWS, in_chunks
from stackviz.records.catalog.models import CatalogueEdition
from stackviz.records.cited.models import CitedEdition
from stackviz.records.hosts.models import HostEdition
from stackviz.records.stacks.models import Edition

WRITING = ".writing-"
LEFT_BEHIND_S = 86_400  # age at which a folder left by a killed writer is removed
NIGHT_HOUR = 2  # UTC
TRIES = 3  # while the catalogue changes during the writing


class AlreadyWriting(RuntimeError):
    """Another process is writing a dump."""


def is_due(now: datetime | None = None) -> bool:
    """Whether a new dump is needed: none since last night, or the newest contains data that is no longer public."""
    newest = stored_dumps.newest()
    if newest is None or newest.schema_version != SCHEMA_VERSION:
        return True
    return newest.created_at < _last_night(now or timezone.now()) or not stored_dumps.is_still_public(newest)


def _last_night(now: datetime) -> datetime:
    tonight = now.astimezone(UTC).replace(hour=NIGHT_HOUR, minute=0, second=0, microsecond=0)
    return tonight if tonight <= now else tonight - timedelta(days=1)


def write_dump() -> stored_dumps.Dump:
    """Write a dump, make it the newest and delete those beyond DATA_KEEP. Raises AlreadyWriting, OSError."""
    target = stored_dumps.folder()
    target.mkdir(parents=True, exist_ok=True)
    with _locked(target), translation.override("en"):
        _sweep(target)
        written = _publish(_write_undisturbed(target), target)
        _withdraw_and_prune(written)
        return written


@contextmanager
def _locked(target: Path) -> Iterator[None]:
    with (target / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise AlreadyWriting(f"another process writes into {target} right now") from None
        yield


def _write_undisturbed(target: Path) -> Path:
    """Write all tables of one edition; start again, at most TRIES times, if the catalogue changes meanwhile."""
    for turn in range(1, TRIES + 1):
        edition = _edition()
        draft = Path(tempfile.mkdtemp(prefix=WRITING, dir=target))
        try:
            _write(draft, edition)
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise
        if turn == TRIES or _edition() == edition:
            break
        shutil.rmtree(draft, ignore_errors=True)
    return draft


def _edition() -> str:
    editions = (CatalogueEdition, Edition, CitedEdition, HostEdition)
    return "-".join(edition.current() for edition in editions)


def _write(draft: Path, edition: str) -> None:
    created_at = timezone.now()
    named: dict[str, set[str]] = {"report": set(), "host": set()}
    tables = [_write_table(table, draft, named) for table in TABLES]
    manifest = {
        "name": "accelweb open data",
        "schema_version": SCHEMA_VERSION,
        "edition": edition,
        "created_at": moment_text(created_at),
        "site_version": settings.VERSION,
        "licence": licence_in_manifest(settings.SITE_URL),
        "formats": written_formats(),
        "types": TYPES,
        "tables": tables,
    }
    _write_text(draft / stored_dumps.MANIFEST, json.dumps(manifest, indent=1) + "\n")
    files = [file for table in tables for file in table["files"]]
    manifest_file = _described(draft / stored_dumps.MANIFEST)
    checksums = [f"{file['sha256']}  {file['name']}\n" for file in (manifest_file, *files)]
    _write_text(draft / stored_dumps.CHECKSUMS, "".join(checksums))
    others = {"files": [manifest_file, _described(draft / stored_dumps.CHECKSUMS)]}
    _write_text(draft / f".{stored_dumps.MANIFEST}", json.dumps(others))
    _write_text(draft / stored_dumps.REPORTS, "\n".join(sorted(named["report"])))
    _write_text(draft / stored_dumps.HOSTS, "\n".join(sorted(named["host"])))
    draft.chmod(0o755)


def _write_table(table: TableSchema, draft: Path, named: dict[str, set[str]]) -> dict[str, Any]:
    """Write all formats of a table in one pass. Returns its manifest entry; adds its reports and hosts to `named`."""
    paths = {form: draft / f"{table.name}.{form}" for form in written_formats()}
    names = [column.name for column in table.columns]
    naming = [(names.index(column), known) for column, known in named.items() if column in names]
    count = 0
    with ExitStack() as files:
        writers = [WRITERS[form](table, path, files) for form, path in paths.items()]
        for chunk in in_chunks(ROWS[table.name]()):
            for writer in writers:
                writer.write(chunk)
            count += len(chunk)
            for at, known in naming:
                known.update(row[at] for row in chunk if row[at] is not None)
    return {
        "name": table.name,
        "title": table.title,
        "meaning": table.meaning,
        "key": table.key,
        "of_machines": table.of_machines,
        "rows": count,
        "columns": [
            {
                "name": column.name,
                "type": column.type,
                "unit": column.unit or None,
                "may_be_null": column.may_be_null,
                "meaning": column.meaning,
            }
            for column in table.columns
        ],
        "files": [{**_described(path), "format": form} for form, path in paths.items()],
    }


def _described(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"name": path.name, "bytes": path.stat().st_size, "sha256": digest}


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


def _publish(draft: Path, target: Path) -> stored_dumps.Dump:
    """Rename the finished folder, then point `latest` to it; each step is atomic."""
    stamp = timezone.now().strftime("%Y%m%dT%H%M%SZ")
    taken = set(stored_dumps.dump_names())
    name = next(name for name in (stamp, *(f"{stamp}-{n}" for n in range(2, 1000))) if name not in taken)
    draft.rename(target / name)
    handle, pointer = tempfile.mkstemp(prefix=WRITING, dir=target)
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(name + "\n")
    Path(pointer).chmod(0o644)
    Path(pointer).replace(target / stored_dumps.LATEST)
    written = stored_dumps.dump_named(name)
    if written is None:
        raise OSError(f"{target / name} was written but cannot be read")
    return written


def _withdraw_and_prune(written: stored_dumps.Dump) -> None:
    """Delete the dumps beyond DATA_KEEP, and from the others the tables of machines that are no longer public."""
    older = [name for name in stored_dumps.dump_names() if name != written.name]
    for name in older[settings.DATA_KEEP - 1 :]:
        shutil.rmtree(stored_dumps.folder() / name, ignore_errors=True)
    for name in older[: settings.DATA_KEEP - 1]:
        dump = stored_dumps.dump_named(name)
        if dump is not None and not stored_dumps.is_still_public(dump):
            for file in (file for table in dump.tables if table.of_machines for file in table.files):
                (dump.folder / file.name).unlink(missing_ok=True)


def old_dump_names(before: datetime) -> list[str]:
    """Dumps from before this moment; the newest stays, however old it is."""
    newest = stored_dumps.newest()
    if newest is None:
        return []
    others = (name for name in stored_dumps.dump_names() if name != newest.name)
    return [name for name in others if name < f"{before.astimezone(UTC):%Y%m%dT%H%M%SZ}"]


def delete_old_dumps(before: datetime) -> int:
    """Delete them -> how many; none while a dump is being written."""
    names = old_dump_names(before)
    try:
        with _locked(stored_dumps.folder()) if names else nullcontext():
            for name in names:
                shutil.rmtree(stored_dumps.folder() / name, ignore_errors=True)
    except AlreadyWriting:
        return 0
    return len(names)


def _sweep(target: Path) -> None:
    """Delete what killed writers have left behind."""
    for left in target.glob(f"{WRITING}*"):
        if time.time() - left.stat().st_mtime > LEFT_BEHIND_S:
            shutil.rmtree(left, ignore_errors=True)
            left.unlink(missing_ok=True) if left.is_file() else None
