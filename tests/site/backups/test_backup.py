"""Backups of real sites, taken while reports arrive and restored into empty ones; and what is refused."""

import gzip
import json
import queue
import sqlite3
import zipfile
from contextlib import closing, suppress
from pathlib import Path

import pytest

from stackviz.site.backups import backup
from stackviz.site.backups.backup import BackupError, check_backup, restore_backup, take_backup
from stackviz.site.up import var_folder
from stackviz.site.up.var_folder import AlreadyRunning
from tests.intake.ingest.senders import Sender, box_of
from tests.live import Site

ACCEPTED = 6  # before any backup
READ_ALL = """
from stackviz.intake.ingest.interpret import interpret_all
from stackviz.records.labs.models import Lab, Membership, Report
interpret_all([str(pk) for pk in Report.objects.filter(status="received").values_list("pk", flat=True)])
"""
PRIVATE = """
from django.contrib.auth.models import User
user, _ = User.objects.get_or_create(username="ada")
Membership.objects.get_or_create(lab=Lab.objects.get(slug="hidden"), user=user, defaults={"role": "owner"})
"""
# Of a stranger and of a member of the private lab; machines by the addresses that the lists name.
ANSWERS = """
import hashlib, json, re
from django.contrib.auth.models import User
from django.test import Client
stranger, member = Client(), Client()
member.force_login(User.objects.get(username="ada"))
paths = ["/api/v1/accelerators/?limit=100", "/api/v1/stacks/", "/api/v1/cited/", "/api/v1/machines/", "/machines/"]
answers = {}
for who, client in (("stranger", stranger), ("member", member)):
    for path in paths:
        answer = client.get(path, HTTP_HOST="127.0.0.1")
        text = re.sub(rb'csrf[^>]*>', b'', answer.content)
        answers[who + " " + path] = [answer.status_code, len(text), hashlib.sha256(text).hexdigest()]
        if path == "/api/v1/machines/":
            listed = sorted(set(re.findall(r'/machines/([a-z0-9-]+/[a-z0-9-]+)/', answer.content.decode())))
            paths += [p for p in (f"/api/v1/machines/{name}/" for name in listed) if p not in paths]
print(json.dumps(answers))
"""


@pytest.fixture(params=["sqlite", "postgresql"])
def databases(request) -> tuple[str, str]:
    """Addresses of two databases: one with tables, one without. Empty: SQLite."""
    if request.param == "sqlite":
        return "", ""
    return request.getfixturevalue("migrated_postgres"), request.getfixturevalue("postgres_url")


@pytest.fixture
def filled(databases, new_site) -> Site:
    """With a public and a private lab, reports that were read and, on SQLite, the catalogue."""
    site = new_site(loaded=not databases[0], database_url=databases[0], UPLOADS_PER_MINUTE="100000", LOG_LEVEL="ERROR")
    site.start_web(workers=1)
    for key in (site.new_key("lab"), site.new_key("hidden", public=False)):
        sender = Sender(site, key, box_of(ACCEPTED // 2, 3))
        sender.start()
        sender.join(120)
        assert sender.answers == [202] * (ACCEPTED // 2)
    site.shell(READ_ALL + PRIVATE)
    return site


def backup_while_uploads_arrive(site: Site, file: Path) -> int:
    """Return how many reports were accepted meanwhile, before the backup's moment and after it."""
    box = box_of(5_000, 3)
    sender = Sender(site, site.new_key("lab"), box, 0.01)
    sender.start()
    site.manage("backup", str(file))
    before = len(sender.answers)
    site.wait_until(lambda: len(sender.answers) > before + 5, "uploads go on")
    with suppress(queue.Empty):
        while True:
            box.get_nowait()
    sender.join(60)
    assert set(sender.answers) == {202}
    return len(sender.answers)


def test_restored_site_answers_byte_for_byte(filled, databases, site_without_tables, tmp_path):
    file, under_load, empty = tmp_path / "site.backup", tmp_path / "load.backup", site_without_tables(databases[1])
    total = ACCEPTED + backup_while_uploads_arrive(filled, under_load)
    filled.shell(READ_ALL)

    assert "SECRET_KEY" in filled.manage("backup", str(file))
    assert file.stat().st_mode & 0o777 == 0o600
    before = json.loads(filled.shell(ANSWERS).splitlines()[-1])
    assert len(before) > 10
    assert {status for status, _size, _digest in before.values()} == {200}
    empty.manage("restore", str(file))
    assert json.loads(empty.shell(ANSWERS).splitlines()[-1]) == before
    empty.new_key("new")  # new rows get keys that no restored row has

    with pytest.raises(AssertionError, match=f"this database is in use: 1 users, 3 labs, {total} reports"):
        empty.manage("restore", str(under_load))
    empty.manage("restore", "--replace", str(under_load))
    [(reports,)] = empty.rows("SELECT count(*) FROM labs_report")
    assert ACCEPTED < reports < total
    empty.shell(READ_ALL)
    assert empty.rows("SELECT count(*) FROM labs_snapshot") == [(reports,)]
    assert empty.rows("SELECT count(*) FROM labs_lab") == [(2,)]


# --- refusals ---


def packed(path: Path, content: bytes) -> Path:
    path.write_bytes(gzip.compress(content))
    return path


def database_with(folder: Path, *migrations: tuple[str, str]) -> bytes:
    path = folder / "made.sqlite3"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE django_migrations (app, name)")
        database.executemany("INSERT INTO django_migrations VALUES (?, ?)", migrations)
    return path.read_bytes()


NEWEST = ("labs", "0001_squashed_0010_read_keys")
SCRIPT = (
    "--\n-- PostgreSQL database dump\n--\nCOPY public.django_migrations (id, app, name, applied) FROM stdin;\n{}\\.\n"
)


def test_a_whole_backup_is_complete(db, tmp_path):
    assert check_backup(packed(tmp_path / "a", database_with(tmp_path, NEWEST))) == "sqlite"
    script = SCRIPT.format("1\tlabs\t0001_squashed_0010_read_keys\t2026-11-28\n").encode()
    assert check_backup(packed(tmp_path / "b", script)) == "postgresql"


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"no database", "not a backup of accelweb"),
        (b"SQLite format 3\0" + b"not quite" * 100, "is damaged"),
        (b"SQLite format 3\0", "is damaged"),
        (SCRIPT.format("").encode(), "no tables of accelweb"),
        (SCRIPT.format("1\tlabs\t0099_later\t2030-01-01\n").encode(), "does not know labs.0099_later. Upgrade"),
        (SCRIPT.format("1\tlabs\t0001_initial\t2026-11-01\n").encode(), r"taken before 0.1.0: labs lacks .*8695c0f7"),
    ],
)
def test_hollow_or_foreign_backups_are_refused(db, tmp_path, content, why):
    with pytest.raises(BackupError, match=why):
        check_backup(packed(tmp_path / "site.backup", content))


def test_backups_of_other_releases_or_databases_are_refused(db, tmp_path, settings):
    settings.VAR_DIR = tmp_path
    file = packed(tmp_path / "site.backup", database_with(tmp_path, NEWEST, ("labs", "0099_later")))
    with pytest.raises(BackupError, match=r"does not know labs.0099_later. Upgrade"):
        check_backup(file)
    with pytest.raises(BackupError, match="a backup of postgresql, and the site's database is sqlite"):
        restore_backup(packed(tmp_path / "site.backup", SCRIPT.format("").encode()), replace=True)
    with zipfile.ZipFile(tmp_path / "site.backup", "w") as archive:
        archive.writestr("manifest.json", "{}")
    with pytest.raises(BackupError, match=r"restore it with 0\.1\.0, then upgrade"):
        check_backup(tmp_path / "site.backup")


def test_damaged_or_half_written_file_is_refused(db, tmp_path):
    file = packed(tmp_path / "site.backup", database_with(tmp_path, NEWEST))
    whole = file.read_bytes()
    changed = bytearray(whole)
    changed[-6] ^= 0xFF  # of the checksum
    for content in (b"", whole[:10], whole[: len(whole) // 2], whole[:-1], bytes(changed)):
        file.write_bytes(content)
        with pytest.raises(BackupError, match=r"not a (complete )?backup"):
            check_backup(file)


def test_running_sites_and_files_are_not_replaced(db, tmp_path, settings):
    settings.VAR_DIR, file = tmp_path / "var", tmp_path / "site.backup"
    (tmp_path / "var").mkdir()
    with var_folder.held(tmp_path / "var" / "up.lock"), pytest.raises(AlreadyRunning):
        restore_backup(file, replace=True)
    file.write_text("mine")
    with pytest.raises(BackupError, match="exists"):
        take_backup(file)
    assert file.read_text() == "mine"


def test_failed_backup_leaves_no_file(db, tmp_path, monkeypatch):
    def fail(_database, file):
        file.write(b"half")
        raise OSError("no space left on device")

    monkeypatch.setattr(backup, "_copy_sqlite", fail)
    with pytest.raises(OSError, match="no space"):
        take_backup(tmp_path / "site.backup")
    assert list(tmp_path.iterdir()) == []


# --- PostgreSQL alone ---

# Of another program in the same schema: a table with a sequence, and a foreign key to a table of the site.
STRAY_TABLES = """
from django.db import connection
cursor = connection.cursor()
cursor.execute("CREATE TABLE notes (id serial PRIMARY KEY, lab bigint REFERENCES labs_lab (id), secret text)")
cursor.execute("INSERT INTO notes (lab, secret) SELECT id, 'not of the site' FROM labs_lab")
"""


def test_postgres_tables_of_others_stay(migrated_postgres, new_site, site_without_tables, postgres_url, tmp_path):
    site, file = new_site(database_url=migrated_postgres), tmp_path / "site.backup"
    site.new_key("lab")
    site.shell(STRAY_TABLES)
    site.manage("backup", str(file))
    script = gzip.decompress(file.read_bytes()).decode()
    assert "labs_lab_id_seq" in script
    assert "notes" not in script
    site.manage("restore", "--replace", str(file))
    assert site.rows("SELECT secret FROM notes") == [("not of the site",)]
    # A view of somebody's own has the name of a table of the backup: nothing is changed.
    other = site_without_tables(postgres_url)
    other.shell(
        "from django.db import connection\nconnection.cursor().execute('CREATE VIEW labs_lab AS SELECT 1 AS a')"
    )
    with pytest.raises(AssertionError, match='relation "labs_lab" already exists'):
        other.manage("restore", "--replace", str(file))
    assert other.rows("SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace") == [("labs_lab",)]


def test_postgres_program_missing_or_too_old_is_named(on_postgres, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BackupError, match=r"pg_dump is not installed.*postgresql-client-\d\d"):
        take_backup(tmp_path / "site.backup")
    (tmp_path / "pg_dump").write_text("#!/bin/sh\necho 'pg_dump (PostgreSQL) 9.6.24'\n")
    (tmp_path / "pg_dump").chmod(0o755)
    with pytest.raises(BackupError, match=r"9\.6\.24 does not fit"):
        take_backup(tmp_path / "site.backup")
    assert not (tmp_path / "site.backup").exists()
