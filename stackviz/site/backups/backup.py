"""The whole database in one file, taken while the site runs, and restored.

The file is what the database's own tool writes, compressed: an SQLite database, or the SQL of `pg_dump`, which `psql`
runs. gzip's checksum finds a damaged or incomplete file before anything is changed.
"""

import gzip
import os
import re
import shutil
import sqlite3
import subprocess
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import IO

from django.conf import settings
from django.contrib.auth.models import User
from django.core.cache import caches
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from stackviz.records.audit.record import record
from stackviz.records.labs.models import Lab, Report
from stackviz.site.up import var_folder
from stackviz.web.squashed import BEFORE_SQUASH, TooOld, under_todays_names

BEGINNINGS = {b"SQLite format 3\0": "sqlite", b"--\n-- PostgreSQL database dump\n": "postgresql"}
ZIP = b"PK\x03\x04"  # how backups of 0.1.0 begin
PATIENCE_S = 60  # for a lock of SQLite
PSQL_OPTIONS = ("--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", f"--output={os.devnull}")
# Tables of the site, their partitions first; what else is in the schema belongs to somebody else.
SITE_TABLES = """
    SELECT quote_ident(nspname) || '.' || quote_ident(relname)
    FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace LEFT JOIN pg_inherits ON inhrelid = pg_class.oid
    WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND (
        relname = ANY(%(names)s) OR inhparent::regclass::text = ANY(%(names)s))
    ORDER BY inhparent, relname"""


class BackupError(Exception):
    """A backup cannot be taken or restored. The message says why, and what to do."""


def take_backup(path: Path) -> None:
    """Write the database to a new file, as it is at one moment. Raises BackupError, DatabaseError, OSError."""
    if path.exists():
        raise BackupError(f"{path} exists; choose another name, or remove it")
    if not MigrationRecorder(connection).applied_migrations():
        raise BackupError("this database has no tables of accelweb")
    with _new_file(path) as file:
        if connection.vendor == "sqlite":
            _copy_sqlite(Path(connection.settings_dict["NAME"]), file)
        else:
            _dump_postgres(file)


def check_backup(path: Path) -> str:
    """Read all of a backup -> the kind of its database. Raises BackupError unless this release could restore it."""
    kind = _kind_of(path)
    if kind == "sqlite":
        with _unpacked(path, path.parent):
            pass
    else:
        _refuse_other_releases(_migrations_of_script(path))
    return kind


def restore_backup(path: Path, *, replace: bool) -> None:
    """Make the database what it was, and migrate it to this release. It is replaced as a whole, or not at all.

    `replace`: also where people, labs or reports are stored. Raises BackupError or AlreadyRunning.
    """
    with _no_running_site():
        if (kind := _kind_of(path)) != connection.vendor:
            raise BackupError(f"this is a backup of {kind}, and the site's database is {connection.vendor}")
        if not replace and (stored := _what_is_stored()):
            raise BackupError(f"this database is in use: {stored}. Take a backup of it first, then add --replace")
        if kind == "sqlite":
            _restore_sqlite(path, Path(connection.settings_dict["NAME"]))
        else:
            check_backup(path)
            _restore_postgres(path)
        call_command("migrate", verbosity=0, interactive=False)
        record("backup.restored", path.name)
        for name in caches:
            caches[name].clear()  # pages of the database that was here


@contextmanager
def _no_running_site() -> Iterator[None]:
    """Keep `make run` from starting meanwhile. Raises AlreadyRunning. PostgreSQL does not tell who else uses it."""
    if connection.vendor != "sqlite":
        yield
        return
    var = Path(settings.VAR_DIR)
    var.mkdir(parents=True, exist_ok=True)
    with var_folder.held(var / "up.lock"):
        yield


def _what_is_stored() -> str:
    """`2 users, 1 labs`; empty for a database without people, labs and reports, whatever the catalogue has."""
    if Lab._meta.db_table not in connection.introspection.table_names():  # noqa: SLF001 (Django's documented API)
        return ""
    counts = {"users": User.objects.count(), "labs": Lab.objects.count(), "reports": Report.objects.count()}
    return ", ".join(f"{count} {name}" for name, count in counts.items() if count)


def _refuse_other_releases(migrations: Iterable[tuple[str, str]]) -> None:
    """Raise BackupError for a database of a newer release, or of before the migrations were squashed."""
    try:
        applied = under_todays_names(migrations)
    except TooOld as problem:
        raise BackupError(
            f"the backup was taken before 0.1.0: {problem}. Restore it with commit {BEFORE_SQUASH}, "
            "take a new backup there, and restore that one"
        ) from None
    if not applied:
        raise BackupError("the backup has no tables of accelweb")
    known = MigrationExecutor(connection).loader.disk_migrations
    if unknown := [f"{app}.{name}" for app, name in sorted(applied) if (app, name) not in known]:
        raise BackupError(
            f"the backup was taken by a newer release: this one does not know {', '.join(unknown[:3])}. "
            "Upgrade the site, then restore"
        )


# --- the file ---


@contextmanager
def _new_file(path: Path) -> Iterator[gzip.GzipFile]:
    """Open a compressed file that gets its name when it is whole and on the disk. Only its owner may read it."""
    part = path.with_name(f".{path.name}.part")
    part.unlink(missing_ok=True)
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as raw:
            with gzip.GzipFile("", "wb", 6, raw) as file:
                yield file
            raw.flush()
            os.fsync(raw.fileno())
        part.replace(path)
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def _content(path: Path) -> Iterator[gzip.GzipFile]:
    """Open what is in the file. Raises BackupError where it is damaged, once the block has read as far."""
    try:
        with gzip.open(path) as file:
            yield file
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise BackupError(f"{path} is not a complete backup ({error})") from None


def _kind_of(path: Path) -> str:
    with path.open("rb") as raw:
        if raw.read(len(ZIP)) == ZIP:
            raise BackupError(f"{path} is a backup of release 0.1.0: restore it with 0.1.0, then upgrade the site")
    with _content(path) as file:
        begin = file.read(max(map(len, BEGINNINGS)))
    for beginning, kind in BEGINNINGS.items():
        if begin.startswith(beginning):
            return kind
    raise BackupError(f"{path} is not a backup of accelweb")


# --- SQLite ---


def _copy_sqlite(database: Path, file: gzip.GzipFile) -> None:
    """Copy with SQLite's own backup, which sees one moment. Raises BackupError for a damaged database."""
    with tempfile.TemporaryDirectory(prefix="accelweb-backup-", dir=database.parent) as folder:
        copy = Path(folder) / "database.sqlite3"
        with closing(sqlite3.connect(database, timeout=PATIENCE_S)) as site, closing(sqlite3.connect(copy)) as target:
            site.backup(target)
            target.execute("PRAGMA journal_mode=DELETE")  # one file, without a log next to it
            _check_sqlite(target, str(database))
        with copy.open("rb") as source:
            shutil.copyfileobj(source, file)


def _restore_sqlite(path: Path, database: Path) -> None:
    """Replace the database in one transaction."""
    with _unpacked(path, database.parent) as source, closing(sqlite3.connect(database, timeout=PATIENCE_S)) as site:
        connection.close()
        database.chmod(0o600)
        source.backup(site)


@contextmanager
def _unpacked(path: Path, folder: Path) -> Iterator[sqlite3.Connection]:
    """Open the database of a backup, unpacked in `folder`. Raises BackupError unless it can be restored."""
    with tempfile.TemporaryDirectory(prefix="accelweb-backup-", dir=folder) as inside:
        copy = Path(inside) / "database.sqlite3"
        with _content(path) as packed, copy.open("wb") as file:
            shutil.copyfileobj(packed, file)
        with closing(sqlite3.connect(copy)) as source:
            _check_sqlite(source, str(path))
            tables = source.execute("SELECT name FROM sqlite_master WHERE name = 'django_migrations'").fetchall()
            _refuse_other_releases(source.execute("SELECT app, name FROM django_migrations") if tables else ())
            yield source


def _check_sqlite(database: sqlite3.Connection, name: str) -> None:
    try:
        [(outcome,)] = database.execute("PRAGMA quick_check(1)").fetchall()
    except sqlite3.DatabaseError as error:
        outcome = str(error)
    if outcome != "ok":
        raise BackupError(f"{name} is damaged: {outcome}")


# --- PostgreSQL ---


def _dump_postgres(file: gzip.GzipFile) -> None:
    tables = [f"--table={name}" for name in _site_tables()]
    with _running("pg_dump", "--no-owner", "--no-privileges", *tables) as (_nothing, script):
        shutil.copyfileobj(script, file)


def _restore_postgres(path: Path) -> None:
    """Drop the site's tables and run the script, in one transaction that is committed only after the whole script."""
    tables = ", ".join(_site_tables())
    with (
        _content(path) as script,
        _running("psql", *PSQL_OPTIONS) as (psql, _nothing),
        suppress(BrokenPipeError),  # it has ended: its status and last words say why
    ):
        psql.write(b"BEGIN; SET client_min_messages = warning; SET statement_timeout = 0;\n")
        if tables:
            psql.write(f"DROP TABLE {tables} CASCADE;\n".encode())
        shutil.copyfileobj(script, psql)
        psql.write(b"COMMIT;\n")


def _site_tables() -> list[str]:
    """Names of the site's tables in this database; also those of earlier migrations, where later ones are missing."""
    loader = MigrationLoader(connection)
    state = loader.project_state([node for node in loader.applied_migrations if node in loader.graph.nodes])
    options = [model._meta for model in state.apps.get_models(include_auto_created=True)]  # noqa: SLF001
    names = [model.db_table for model in options if model.managed] + ["django_migrations"]
    with connection.cursor() as cursor:
        cursor.execute(SITE_TABLES, {"names": names})
        return [name for (name,) in cursor.fetchall()]


def _migrations_of_script(path: Path) -> list[tuple[str, str]]:
    """Read all of the script -> app and name of each migration that was applied."""
    migrations: list[tuple[str, str]] = []
    is_inside = False
    with _content(path) as script:
        for line in script:
            if is_inside and line == b"\\.\n":
                is_inside = False
            elif is_inside:
                _id, app, name, _applied = line.decode().split("\t")
                migrations.append((app, name))
            elif line.startswith(b"COPY "):
                is_inside = b".django_migrations (id, app, name, applied) " in line
    return migrations


@contextmanager
def _running(name: str, *arguments: str) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """Run a program of PostgreSQL on the site's database -> its input and output. Raises BackupError if it fails."""
    _refuse_other_versions(name)
    login = connection.connection.info  # opened by that check
    if "sslpassword" in login.get_parameters():
        raise BackupError("sslpassword would be in the list of processes for all to see: use a key without one")
    command = [name, "--dbname", login.dsn, *arguments]
    env = {**os.environ, "PGPASSWORD": login.password} if login.password else None
    connection.close()  # nothing of ours waits for what the program locks
    with tempfile.TemporaryFile() as printed:
        process = subprocess.Popen(  # noqa: S603 - pg_dump or psql, with our own arguments
            command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=printed
        )
        with suppress(BrokenPipeError), process:
            assert process.stdin is not None  # noqa: S101 - for types
            assert process.stdout is not None  # noqa: S101 - for types
            yield process.stdin, process.stdout
        if process.returncode:
            printed.seek(0)
            raise BackupError(f"{name} failed: {printed.read().decode(errors='replace').strip()}")


def _refuse_other_versions(name: str) -> None:
    """Raise BackupError unless a program of the server's version is there: others write what the server cannot run."""
    with connection.cursor() as cursor:
        cursor.execute("SHOW server_version_num")
        server = int(cursor.fetchone()[0]) // 10_000
    package = f"Install the package postgresql-client-{server}"
    if shutil.which(name) is None:
        raise BackupError(f"{name} is not installed. {package}")
    command = [name, "--version"]
    version = subprocess.run(command, capture_output=True, text=True, check=False).stdout  # noqa: S603 - our own command
    if (major := re.search(r"\d+", version)) is None or int(major[0]) != server:
        raise BackupError(f"{version.strip() or name} does not fit the server, which is PostgreSQL {server}. {package}")
