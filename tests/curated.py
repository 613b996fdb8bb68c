"""Databases that many tests start from, made once per machine and content and copied from then on.

`migrated_file()` has the site's tables, `curated_file()` the curated accelerators and stacks as well, histories and
editions included. They are made by the site's own commands, in processes of their own, and lie in a folder named for
a digest of everything those commands read (`inputs`): a copy can be absent, but not out of date. That the digest
covers every file is held by tests/architecture/test_curated.py.
"""

import fcntl
import hashlib
import os
import shutil
import sqlite3
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from functools import cache
from pathlib import Path

from django.db import connection

from tests.imports import files_imported
from tests.live import ROOT, Site

UNUSED_S = 7 * 24 * 3600  # copies that no run asked for in this time are deleted
MIGRATED, CURATED = "migrated.sqlite3", "curated.sqlite3"


def migrated_file() -> Path:
    """A SQLite file with all tables, and nothing in them but what migrations leave."""
    return _folder() / MIGRATED


def curated_file() -> Path:
    """A SQLite file with the curated accelerators, stacks and cited results, as the load commands leave them."""
    return _folder() / CURATED


def copy_curated(*tables: str) -> None:
    """Put the curated accelerators and stacks into the empty tables of the test's SQLite, in its transaction.

    `tables`: how the names of the tables begin that are filled, if not all of both; `cited_` for cited results, which
    bring the hosts that they refer to.
    """
    starts = tables or ("catalog_", "stacks_")
    if "cited_" in starts:
        starts = (*starts, "hosts_")
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pragma_database_list WHERE name = 'curated'")
        if not cursor.fetchone():
            cursor.execute("ATTACH %s AS curated", [f"file:{curated_file()}?mode=ro&immutable=1"])
        for table in connection.introspection.table_names(cursor):
            if table.startswith(starts):
                cursor.execute(f'DELETE FROM main."{table}"')
                cursor.execute(f'INSERT INTO main."{table}" SELECT * FROM curated."{table}"')


# Of each kind and maker one at least; cards that differ in one thing only, a chip without its card, a predecessor.
FEW = (
    "nvidia-h100-sxm5-80gb", "nvidia-a100-sxm4-80gb", "nvidia-b200-hgx", "nvidia-geforce-rtx-4090", "nvidia-geforce-rtx-5090", "nvidia-t4",
    "apple-m3-max-40", "apple-m3-max-30", "apple-m4-max-40", "amd-mi300x", "intel-gaudi3", "google-tpu-v5p", "hailo-8",
)  # fmt: skip


def copy_few() -> None:
    """The same with the sheets of these accelerators only, their histories, and everything else."""
    copy_curated()
    with connection.cursor() as cursor:
        slugs = ", ".join(f"'{slug}'" for slug in FEW)
        kept = f"(SELECT id FROM curated.catalog_accelerator WHERE slug IN ({slugs}))"
        for table in connection.introspection.table_names(cursor):
            if table.startswith("catalog_"):
                columns = {column.name for column in connection.introspection.get_table_description(cursor, table)}
                if table in {"catalog_accelerator", "catalog_historicalaccelerator"}:
                    cursor.execute(f'DELETE FROM main."{table}" WHERE id NOT IN {kept}')
                elif "accelerator_id" in columns:
                    cursor.execute(f'DELETE FROM main."{table}" WHERE accelerator_id NOT IN {kept}')


# --- the files, by digest ---


@cache
def _folder() -> Path:
    """The folder with both files. Of processes that ask at once, one makes them and the others wait."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "accelweb-tests"
    home.mkdir(parents=True, exist_ok=True)
    folder = home / _digest()
    with (home / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            _delete_unused(home)
            with tempfile.TemporaryDirectory(dir=home) as made:
                _make(Path(made))
                (Path(made) / "copies").rename(folder)
        os.utime(folder)
    return folder


def _make(folder: Path) -> None:
    site, copies = Site(folder), folder / "copies"
    copies.mkdir()
    site.manage("migrate", "-v", "0")
    _copy(folder / "accelweb.sqlite3", copies / MIGRATED)
    loads = ("load_catalogue", "load_stacks", "load_hosts", "load_cited")
    site.shell(f"from django.core.management import call_command\nfor load in {loads}: call_command(load)")
    site.stop()
    _copy(folder / "accelweb.sqlite3", copies / CURATED)


def _copy(file: Path, target: Path) -> None:
    """One file without a journal beside it."""
    with closing(sqlite3.connect(file)) as source:
        source.execute("VACUUM INTO ?", [str(target)])


def _delete_unused(home: Path) -> None:
    for folder in home.iterdir():
        if folder.is_dir() and folder.stat().st_mtime < time.time() - UNUSED_S:
            shutil.rmtree(folder)


def _digest() -> str:
    digest = hashlib.sha256(f"{sys.version} {sqlite3.sqlite_version}".encode())
    digest.update("\n".join(sorted(path.name for path in _packages())).encode())
    for file in sorted(inputs()):
        content = file.read_bytes()
        digest.update(f"\n{file.relative_to(ROOT)} {len(content)}\n".encode() + content)
    return digest.hexdigest()[:32]


def _packages() -> Iterator[Path]:
    """What is installed: these folders are named for a package and its version."""
    return Path(sysconfig.get_path("purelib")).glob("*.dist-info")


def inputs() -> set[Path]:
    """Files of ours that decide what the copies hold: every data file, and the code that migrates and loads."""
    rooms = ROOT / "stackviz"
    data = {file for file in rooms.rglob("*") if file.is_file() and file.suffix not in (".py", ".pyc")}
    roots = [
        rooms / "records/catalog/load.py",
        rooms / "records/stacks/load.py",
        rooms / "records/hosts/load.py",
        rooms / "records/cited/load.py",
        ROOT / "tests/curated.py",
        ROOT / "tests/settings.py",
    ]
    commands = ("**/management/**/__init__.py", "**/management/commands/load_*.py")
    for pattern in ("**/models.py", "**/apps.py", "**/migrations/*.py", *commands):
        roots += rooms.glob(pattern)
    return data | files_imported(roots)
