"""SQLite: the whole file by SQLite's own backup, which sees one moment while others write."""

import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from stackviz.backups.archive import BLOCK_BYTES, Archive, BackupWriter
from stackviz.backups.errors import BackupError

PART = "database.sqlite3"
PATIENCE_S = 60


def write_database(database: Path, archive: BackupWriter) -> None:
    """Raises BackupError for a damaged database: better today's error than a backup of it."""
    with tempfile.TemporaryDirectory(prefix="accelweb-backup-", dir=database.parent) as folder:
        copy = Path(folder) / PART
        with closing(sqlite3.connect(database, timeout=PATIENCE_S)) as site, closing(sqlite3.connect(copy)) as target:
            site.backup(target)
            target.execute("PRAGMA journal_mode=DELETE")  # one file, without a log beside it
            _check(target, str(database))
        archive.add(PART, _blocks_of(copy))


def read_database(archive: Archive, database: Path) -> None:
    """Replace the database, in one transaction. Raises BackupError for a damaged copy, before it changes anything."""
    with tempfile.TemporaryDirectory(prefix="accelweb-backup-", dir=database.parent) as folder:
        copy = Path(folder) / PART
        with copy.open("wb") as file:
            for block in archive.blocks(PART):
                file.write(block)
        with closing(sqlite3.connect(copy)) as source:
            _check(source, "the backup")
            with closing(sqlite3.connect(database, timeout=PATIENCE_S)) as site:
                database.chmod(0o600)
                source.backup(site)


def _check(connection: sqlite3.Connection, name: str) -> None:
    [(outcome,)] = connection.execute("PRAGMA quick_check(1)").fetchall()
    if outcome != "ok":
        raise BackupError(f"{name} is damaged: {outcome}")


def _blocks_of(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while block := file.read(BLOCK_BYTES):
            yield block
