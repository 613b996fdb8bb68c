"""SQLite: the whole file by SQLite's own backup, which sees one moment while others write."""

import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from stackviz.site.backups.archive import BLOCK_BYTES, Archive, BackupWriter
from stackviz.site.backups.errors import BackupError

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
    with (
        _unpacked(archive, database.parent) as source,
        closing(sqlite3.connect(database, timeout=PATIENCE_S)) as site,
    ):
        database.chmod(0o600)
        source.backup(site)


def check_copy(archive: Archive, folder: Path) -> None:
    """Raises BackupError for a copy that could not be restored. Takes the size of the database in the folder."""
    with _unpacked(archive, folder):
        pass


@contextmanager
def _unpacked(archive: Archive, folder: Path) -> Iterator[sqlite3.Connection]:
    """The copy, opened. Raises BackupError where it is damaged, or not what the manifest says."""
    with tempfile.TemporaryDirectory(prefix="accelweb-backup-", dir=folder) as inside:
        copy = Path(inside) / PART
        with copy.open("wb") as file:
            for block in archive.blocks(PART):
                file.write(block)
        with closing(sqlite3.connect(copy)) as source:
            _check(source, "the backup")
            _check_migrations(source, archive)
            yield source


def _check(connection: sqlite3.Connection, name: str) -> None:
    try:
        [(outcome,)] = connection.execute("PRAGMA quick_check(1)").fetchall()
    except sqlite3.DatabaseError as error:
        raise BackupError(f"{name} is damaged: {error}") from None
    if outcome != "ok":
        raise BackupError(f"{name} is damaged: {outcome}")


def _check_migrations(connection: sqlite3.Connection, archive: Archive) -> None:
    """An empty file is a sound database too."""
    try:
        applied = set(connection.execute("SELECT app, name FROM django_migrations").fetchall())
    except sqlite3.DatabaseError:
        applied = set()
    if applied != {(app, name) for app, name in archive.manifest.migrations}:
        raise BackupError("the database of the backup is not the one that its manifest describes")


def _blocks_of(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while block := file.read(BLOCK_BYTES):
            yield block
