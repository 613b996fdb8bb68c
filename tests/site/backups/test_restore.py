"""Backups of real sites, taken while reports arrive, restored into empty ones: every answer of the API is the same."""

import json
import queue
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from stackviz.site.backups.archive import Archive
from tests.intake.ingest.senders import Sender, box_of
from tests.live import Site

ACCEPTED = 12  # before any backup
READ_ALL = """
from stackviz.intake.ingest.interpret import interpret_all
from stackviz.records.labs.models import Report
interpret_all([str(pk) for pk in Report.objects.filter(status="received").values_list("pk", flat=True)])
"""
PRIVATE = """
from django.contrib.auth.models import User
from stackviz.records.labs.models import Lab, Membership
user, _ = User.objects.get_or_create(username="ada")
Membership.objects.get_or_create(lab=Lab.objects.get(slug="hidden"), user=user, defaults={"role": "owner"})
"""
# Of a stranger and of a member of the private lab; machines and their reports by the addresses that the lists name.
ANSWERS = """
import hashlib, json, re
from django.contrib.auth.models import User
from django.test import Client
stranger, member = Client(), Client()
member.force_login(User.objects.get(username="ada"))
paths = ["/api/v1/accelerators/?limit=100", "/api/v1/values/?limit=100", "/api/v1/stacks/", "/api/v1/fields/", "/api/v1/machines/",
         "/api/v1/freshness/", "/api/v1/cited/", "/machines/", "/accelerators/"]
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
def databases(request):
    """Addresses of two databases: one with tables, one without. Empty: SQLite."""
    if request.param == "sqlite":
        return "", ""
    return request.getfixturevalue("migrated_postgres"), request.getfixturevalue("postgres_url")


@pytest.fixture
def filled(databases, new_site, redis_server) -> Site:
    """With the catalogue (on SQLite: loading it takes a minute), a public and a private lab, and reports that were read."""
    site = new_site(
        loaded=not databases[0],
        database_url=databases[0],
        redis_url=redis_server.url,
        UPLOADS_PER_MINUTE="100000",
        LOG_LEVEL="ERROR",
    )
    site.start_web(workers=1)
    for key in (site.new_key("lab"), site.new_key("hidden", public=False)):
        send(site, key, ACCEPTED // 2)
    site.shell(READ_ALL + PRIVATE)
    return site


@pytest.fixture
def empty(databases, tmp_path) -> Iterator[Site]:
    """A site without tables."""
    folder = tmp_path / "empty"
    folder.mkdir()
    site = Site(folder, database_url=databases[1])
    yield site
    site.stop()


@pytest.fixture
def empty_postgres(postgres_url, tmp_path) -> Iterator[Site]:
    """A site on PostgreSQL, without tables."""
    folder = tmp_path / "empty-postgres"
    folder.mkdir()
    site = Site(folder, database_url=postgres_url)
    yield site
    site.stop()


def send(site: Site, key: str, reports: int) -> Sender:
    sender = Sender(site, key, box_of(reports, 3), 0)
    sender.start()
    sender.join(120)
    assert sender.answers == [202] * reports
    return sender


def backup_while_uploads_arrive(site: Site, file: Path) -> int:
    """How many reports were accepted meanwhile, before the backup's moment and after it."""
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


def test_restored_site_answers_byte_for_byte(filled, empty, tmp_path):
    file = tmp_path / "site.backup"
    under_load = tmp_path / "under-load.backup"
    total = ACCEPTED + backup_while_uploads_arrive(filled, under_load)
    filled.shell(READ_ALL)

    printed = filled.manage("backup", str(file))
    assert "SECRET_KEY" in printed
    before = json.loads(filled.shell(ANSWERS).splitlines()[-1])
    assert len(before) > 20
    assert {status for status, _size, _digest in before.values()} == {200}
    empty.manage("restore", str(file))
    assert json.loads(empty.shell(ANSWERS).splitlines()[-1]) == before

    # It has what an upload needs: new rows get keys of their own.
    empty.shell(
        "from stackviz.records.labs.models import Lab\nLab.objects.create(slug='new', name='New', is_public=True)"
    )

    with pytest.raises(AssertionError, match=f"this database is in use: 1 users, 3 labs, {total} reports"):
        empty.manage("restore", str(under_load))
    empty.manage("restore", "--replace", str(under_load))
    [(reports,)] = empty.rows("SELECT count(*) FROM labs_report")
    assert ACCEPTED < reports < total
    empty.shell(READ_ALL)
    assert empty.rows("SELECT count(*) FROM labs_snapshot") == [(reports,)]
    assert empty.rows("SELECT count(*) FROM labs_lab") == [(2,)]


def test_backup_of_another_database_or_a_newer_release_is_refused(new_site, tmp_path):
    site = new_site()
    file = tmp_path / "site.backup"
    site.manage("backup", str(file))
    with pytest.raises(AssertionError, match="exists; choose another name"):
        site.manage("backup", str(file))
    assert "is complete" in site.manage("restore", "--check", str(file))
    with closing(sqlite3.connect(site.folder / "accelweb.sqlite3")) as database, database:
        database.execute(
            "INSERT INTO django_migrations (app, name, applied) VALUES ('labs', '0099_later', '2030-01-01')"
        )
    site.manage("backup", str(tmp_path / "newer.backup"))
    for arguments in ((), ("--check",)):
        with pytest.raises(AssertionError, match=re.escape("does not know labs.0099_later. Upgrade the site")):
            site.manage("restore", *arguments, str(tmp_path / "newer.backup"))


def test_backup_of_sqlite_is_not_restored_into_postgres(new_site, postgres_url, tmp_path):
    site = new_site()
    site.manage("backup", str(tmp_path / "site.backup"))
    other = Site(tmp_path, database_url=postgres_url)
    with pytest.raises(AssertionError, match="a backup of sqlite, and the site's database is postgresql"):
        other.manage("restore", str(tmp_path / "site.backup"))
    assert other.rows("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == [(0,)]


def test_database_in_use_by_make_run_is_not_replaced(new_site, tmp_path):
    from stackviz.site.up import lock

    site = new_site()
    site.manage("backup", str(tmp_path / "site.backup"))
    with lock.held(site.folder / "up.lock"), pytest.raises(AssertionError, match="already running"):
        site.manage("restore", str(tmp_path / "site.backup"))


OLD_MONTH = """
from datetime import date
from stackviz.records.series.partitions import make_months
make_months(date(2025, 1, 1), date(2025, 1, 1))
"""
# As releases took it that left nothing out.
EARLIER_BACKUP = """
from pathlib import Path
from unittest.mock import patch
from stackviz.site.backups import postgres_copy, take
every = {name for (name,) in postgres_copy._rows(postgres_copy._TABLES)}
with patch.object(postgres_copy, "own_tables", lambda: every):
    take.take_backup(Path(FILE))
"""
# Of another program in the same schema: a table with a sequence, and one with a foreign key to a table of the site.
STRAY_TABLES = """
from django.db import connection
cursor = connection.cursor()
cursor.execute("CREATE TABLE notes (id serial PRIMARY KEY, lab bigint REFERENCES labs_lab (id), secret text)")
cursor.execute("INSERT INTO notes (lab, secret) SELECT id, 'not of the site' FROM labs_lab")
"""


@pytest.fixture
def on_postgres_site(migrated_postgres, tmp_path) -> Iterator[Site]:
    """A lab, and January 2025 as a partition of results."""
    folder = tmp_path / "postgres"
    folder.mkdir()
    site = Site(folder, database_url=migrated_postgres)
    site.new_key("lab")
    site.shell(OLD_MONTH)
    yield site
    site.stop()


def labs_and_old_month(site: Site) -> list[tuple]:
    return site.rows("SELECT (SELECT count(*) FROM labs_lab), to_regclass('benchmarks_result_2025_01') IS NOT NULL")


def test_backup_after_a_month_was_taken_out_is_restored_on_postgres(on_postgres_site, empty_postgres, tmp_path):
    site, file, earlier = on_postgres_site, tmp_path / "site.backup", tmp_path / "earlier.backup"
    site.manage("result_partitions", "--detach-before", "2025-02")
    site.manage("backup", str(file))
    site.shell(f"FILE = {str(earlier)!r}\n{EARLIER_BACKUP}")
    site.shell(
        "from stackviz.records.labs.models import Lab\nLab.objects.create(slug='new', name='New', is_public=True)"
    )
    for backup in (file, earlier):
        site.manage("restore", "--replace", str(backup))
        assert labs_and_old_month(site) == [(1, True)]
    empty_postgres.manage("restore", str(file))
    assert labs_and_old_month(empty_postgres) == [(1, False)]


def test_tables_of_others_are_in_no_backup_and_stay_in_a_restore_on_postgres(
    on_postgres_site, empty_postgres, tmp_path
):
    site, file = on_postgres_site, tmp_path / "site.backup"
    site.shell(STRAY_TABLES)
    site.manage("backup", str(file))
    archive = Archive(file)
    assert "tables/labs_lab" in archive.manifest.parts
    assert "tables/notes" not in archive.manifest.parts
    assert "labs_lab_id_seq" in archive.manifest.extra["sequences"]
    assert "notes_id_seq" not in archive.manifest.extra["sequences"]
    site.manage("restore", "--replace", str(file))
    assert site.rows("SELECT secret FROM notes") == [("not of the site",)]
    assert labs_and_old_month(site) == [(1, True)]
    empty_postgres.manage("restore", str(file))
    assert labs_and_old_month(empty_postgres) == [(1, True)]


def test_refused_restore_changes_nothing_on_postgres(on_postgres_site, tmp_path):
    site, file, stray = on_postgres_site, tmp_path / "site.backup", tmp_path / "stray.backup"
    site.manage("backup", str(file))
    site.shell(STRAY_TABLES)
    site.shell(f"FILE = {str(stray)!r}\n{EARLIER_BACKUP}")
    with pytest.raises(AssertionError, match="other tables or columns than its migrations make: notes"):
        site.manage("restore", "--replace", str(stray))
    assert labs_and_old_month(site) == [(1, True)]

    site.manage("result_partitions", "--detach-before", "2025-02")
    with pytest.raises(AssertionError, match="taken out of this database: benchmarks_result_2025_01"):
        site.manage("restore", "--replace", str(file))
    assert labs_and_old_month(site) == [(1, True)]


def test_error_of_the_database_in_a_restore_is_said_and_changes_nothing_on_postgres(on_postgres_site, tmp_path):
    site, file = on_postgres_site, tmp_path / "site.backup"
    site.manage("backup", str(file))
    # A view of somebody's own has the name of a table that the migrations make.
    site.shell(
        "from django.db import connection\n"
        "connection.cursor().execute('ALTER TABLE labs_agentheartbeat RENAME TO moved')\n"
        "connection.cursor().execute('CREATE VIEW labs_agentheartbeat AS SELECT 1 AS one')"
    )
    with pytest.raises(AssertionError, match='relation "labs_agentheartbeat" already exists'):
        site.manage("restore", "--replace", str(file))
    assert labs_and_old_month(site) == [(1, True)]
