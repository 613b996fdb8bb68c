"""The file of a backup: whole or refused, and its owner's alone."""

import json
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from stackviz.site.backups.archive import Archive, writing
from stackviz.site.backups.errors import BackupError
from stackviz.site.backups.restore import check_backup

FIELDS = {
    "taken_at": "2026-11-27T12:00:00+00:00",
    "site_version": "0.1.0",
    "database": "sqlite",
    "migrations": [["labs", "0001_squashed_0010_read_keys"]],
}


def write(path: Path, **parts: list[bytes]) -> None:
    with writing(path) as archive:
        for name, blocks in parts.items():
            archive.add(name, blocks)
        archive.finish(FIELDS)


@pytest.fixture
def backup(tmp_path) -> Path:
    write(tmp_path / "site.backup", one=[b"a" * 3_000_000, b"b"], two=[])
    return tmp_path / "site.backup"


def rewritten(path: Path, change) -> None:
    """The same zip with its members as `change` leaves them."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def test_what_was_written_is_read(backup):
    archive = Archive(backup)
    assert archive.manifest.migrations == [["labs", "0001_squashed_0010_read_keys"]]
    assert b"".join(archive.blocks("one")) == b"a" * 3_000_000 + b"b"
    assert b"".join(archive.blocks("two")) == b""


def test_only_its_owner_reads_it(backup):
    assert backup.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in backup.parent.iterdir()] == ["site.backup"]


def test_failure_leaves_nothing(tmp_path):
    def fails():
        yield b"a"
        raise OSError("no space left on device")

    with pytest.raises(OSError, match="no space"):
        write(tmp_path / "site.backup", one=fails())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda members: members.update(one=b"a" * 3_000_001), "one is not what was written"),
        (lambda members: members.pop("two"), "its parts are not those"),
        (lambda members: members.update(three=b""), "its parts are not those"),
        (lambda members: members.pop("manifest.json"), "has no manifest"),
        (lambda members: members.update({"manifest.json": b"[]"}), "has no manifest"),
        (lambda members: members.update({"manifest.json": b'{"format": 2}'}), "has format 2"),
        (lambda members: members.update({"manifest.json": b'{"format": 1, "x": 1}'}), "has no manifest"),
        (lambda members: members.update({"manifest.json": b"x" * 5_000_000}), "manifest is too large"),
    ],
)
def test_changed_file_is_refused(backup, change, why):
    rewritten(backup, change)
    with pytest.raises(BackupError, match=why):
        Archive(backup)


def test_half_a_file_is_refused(backup):
    content = backup.read_bytes()
    for size in (0, 10, len(content) // 2, len(content) - 1):
        backup.write_bytes(content[:size])
        with pytest.raises(BackupError, match="not a complete backup"):
            Archive(backup)


def test_single_wrong_byte_is_found(backup):
    content = bytearray(backup.read_bytes())
    for position in (60, 2_000, len(content) // 2):
        changed = content.copy()
        changed[position] ^= 0xFF
        backup.write_bytes(changed)
        with pytest.raises(BackupError):
            Archive(backup)


@pytest.mark.parametrize(
    "change",
    [
        {"migrations": 5},
        {"migrations": []},
        {"migrations": [["labs"]]},
        {"extra": []},
        {"database": 7},
        {"migrations": "[" * 100_000},
    ],
    ids=str,
)
def test_a_manifest_of_another_kind_is_refused(backup, change):
    def put(members):
        text = json.dumps({**json.loads(members["manifest.json"]), **change})
        members["manifest.json"] = text.replace('"' + "[" * 100_000 + '"', "[" * 100_000).encode()

    rewritten(backup, put)
    with pytest.raises(BackupError, match="not a complete backup"):
        Archive(backup)


def database_of(folder: Path, *migrations: tuple[str, str]) -> bytes:
    path = folder / "copy.sqlite3"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE django_migrations (app, name)")
        connection.executemany("INSERT INTO django_migrations VALUES (?, ?)", migrations)
    return path.read_bytes()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("content", "why"),
    [
        (None, "lacks database.sqlite3"),
        (b"", "not the one that its manifest describes"),
        (b"no database" * 100, "is damaged"),
    ],
)
def test_a_hollow_backup_is_refused_when_it_is_checked(tmp_path, content, why):
    parts = {} if content is None else {"database.sqlite3": [content]}
    write(tmp_path / "site.backup", **parts)
    with pytest.raises(BackupError, match=why):
        check_backup(tmp_path / "site.backup")


@pytest.mark.django_db
def test_a_whole_backup_passes(tmp_path):
    write(
        tmp_path / "site.backup",
        **{"database.sqlite3": [database_of(tmp_path, ("labs", "0001_squashed_0010_read_keys"))]},
    )
    assert check_backup(tmp_path / "site.backup").database == "sqlite"


@pytest.mark.django_db
@pytest.mark.parametrize(
    "extra", [{}, {"columns": {"labs_lab": ["id"]}, "sequences": {}, "months": []}], ids=["none", "no part"]
)
def test_a_postgresql_backup_without_what_a_restore_needs_is_refused(tmp_path, extra):
    with writing(tmp_path / "site.backup") as archive:
        archive.finish({**FIELDS, "database": "postgresql", "extra": extra})
    with pytest.raises(BackupError, match="incomplete"):
        check_backup(tmp_path / "site.backup")
