"""All of a lab as one archive: what is in it, what is not, who gets it, and how much memory it takes."""

import csv
import gzip
import io
import json
import tracemalloc
import zipfile

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from stackviz.desk.retention.export import NOT_EXPORTED, TABLES, export_lab
from stackviz.records.audit.models import AuditEntry
from stackviz.records.labs.keys import create_key
from stackviz.records.labs.models import Membership, Report
from stackviz.records.series.models import Result, Series
from tests.pages.machines.factories import gemm, h100, make_lab, make_machine, make_report

pytestmark = pytest.mark.django_db
ADDRESS = "/labs/north/data/export.zip"


@pytest.fixture
def north():
    lab = make_lab("north", is_public=False)
    machine = make_machine(lab, "=HYPERLINK(1)", slug="dgx-07")
    for number in range(2):
        report = make_report(machine, cards=[h100(0)], results=[gemm("bf16", [0.001 * (number + 1)] * 8)])
        body, encoding = (gzip.compress(b'{"a":1}'), "gzip") if number else (b'{"b":2}', "")
        Report.objects.filter(pk=report.pk).update(body=body, encoding=encoding)
    create_key(lab=lab, name="@cron")
    Membership.objects.create(lab=lab, user=User.objects.create_user("owner"), role="owner")
    Membership.objects.create(lab=lab, user=User.objects.create_user("member"))
    make_report(make_machine(make_lab("south"), "of-others"), results=[gemm("bf16", [0.001] * 8)])
    return lab


def archive_of(lab) -> zipfile.ZipFile:
    archive = zipfile.ZipFile(io.BytesIO(b"".join(export_lab(lab))))
    assert archive.testzip() is None
    return archive


def rows_of(archive, name) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(archive.read(f"{name}.csv").decode(), newline="")))


def test_all_of_the_lab_is_in_it_and_nothing_of_others(north):
    archive = archive_of(north)
    counts = json.loads(archive.read("counts.json"))
    assert counts.pop("reports as sent") == 2
    assert {name: len(rows_of(archive, name)) for name in counts} == counts
    assert [counts[name] for name in ("machines", "reports", "results", "cards", "keys")] == [1, 2, 2, 2, 1]
    everything = b"".join(archive.read(name) for name in archive.namelist())
    assert b"of-others" not in everything
    assert json.loads(rows_of(archive, "results")[0]["samples"]) == [0.001] * 8
    for report in Report.objects.filter(machine__lab=north):
        name = f"reports/{report.pk}.json{'.gz' if report.encoding else ''}"
        assert archive.read(name) == bytes(report.body)  # as it was sent
    key = north.keys.get()
    assert key.digest.encode() not in everything
    (row,) = rows_of(archive, "keys")
    assert (row["prefix"], row["name"]) == (key.prefix, "'@cron")  # no cell is a formula
    assert rows_of(archive, "machines")[0]["name"] == "'=HYPERLINK(1)"


def test_every_table_of_a_lab_is_exported():
    """A new model with a way to its lab is added to the archive, or named here as one that holds nothing of its own."""
    from django.apps import apps

    without = {"MovedReport", "PendingReport"}
    known = {table.model for table in TABLES}
    rooms = [model for room in ("labs", "benchmarks", "notices") for model in apps.get_app_config(room).get_models()]
    names = {model.__name__ for model in rooms if "Historical" not in model.__name__ and model not in known} - without
    assert names <= {"NameDecision"}
    assert {"body", "digest", "content_digest", "nonce"} == NOT_EXPORTED


def test_memory_is_bounded(north):
    series = Series.objects.filter(machine__lab=north).first()
    one = Result.objects.filter(series=series).first()
    fields = {field.attname: getattr(one, field.attname) for field in Result._meta.concrete_fields}
    copies = [Result(**(fields | {"id": None, "position": position})) for position in range(10, 4_010)]
    Result.objects.bulk_create(copies, batch_size=500)
    tracemalloc.start()
    try:
        size = sum(map(len, export_lab(north)))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(rows_of(archive_of(north), "results")) == 4_002
    assert size > 10_000
    assert peak < 12 * 1024 * 1024


# --- who gets it ---


def download(client, name, address=ADDRESS):
    client.force_login(User.objects.get(username=name))
    return client.get(address)


def test_an_owner_gets_it_and_that_is_recorded(client, north):
    answer = download(client, "owner")
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/zip")
    assert answer["Content-Disposition"].startswith('attachment; filename="north-20')
    assert "no-store" in answer["Cache-Control"]
    archive = zipfile.ZipFile(io.BytesIO(b"".join(answer.streaming_content)))
    assert archive.testzip() is None
    entry = AuditEntry.objects.get(action="lab.exported")
    assert (entry.by, entry.subject) == (User.objects.get(username="owner").pk, f"lab {north.pk}")


@pytest.mark.parametrize(("name", "status"), [("member", 403), ("stranger", 404)])
def test_nobody_else_gets_it(client, north, name, status):
    User.objects.get_or_create(username="stranger")
    assert download(client, name).status_code == status
    client.logout()
    assert client.get(ADDRESS).status_code == 302
    assert not AuditEntry.objects.filter(action="lab.exported").exists()


def test_an_account_gets_so_many_an_hour(client, north, settings, tmp_path):
    settings.VAR_DIR, settings.EXPORTS_PER_HOUR = tmp_path, 1
    assert download(client, "owner").status_code == 200
    refused = download(client, "owner")
    assert (refused.status_code, int(refused["Retry-After"]) > 0) == (429, True)


def test_the_command_writes_it_for_its_owner_only(north, tmp_path):
    file = tmp_path / "north.zip"
    call_command("export_lab", "north", str(file))
    assert zipfile.ZipFile(file).testzip() is None
    assert file.stat().st_mode & 0o777 == 0o600
    with pytest.raises(CommandError, match="cannot be made: File exists"):
        call_command("export_lab", "north", str(file))
    with pytest.raises(CommandError, match="there is no lab 'west'"):
        call_command("export_lab", "west", str(tmp_path / "west.zip"))
