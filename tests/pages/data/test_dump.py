"""The dump is whole, the same in three formats, holds what is public and nothing else, and survives who writes it."""

import hashlib
import json
import os
import subprocess
import sys
import time

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pyarrow import parquet

from stackviz.pages.data import dump as dumping
from stackviz.pages.data import formats, stored_dumps, tables
from stackviz.pages.data.dump import AlreadyWriting, is_due, write_dump
from stackviz.pages.data.formats import FORMATS
from stackviz.pages.data.schema import FINGERPRINTS, SCHEMA_VERSION, TABLES, TYPES, schema_fingerprint
from stackviz.pages.data.tables import ROWS
from stackviz.pages.data.tasks import write_dump_if_due
from stackviz.records.catalog.models import Accelerator, Alias, CatalogueEdition, Source, SpecValue
from stackviz.records.hosts.models import Host
from stackviz.records.labs.models import Lab, Machine, Report
from tests.pages.data.conftest import SECRET
from tests.pages.data.readers import read
from tests.pages.machines.factories import gemm, make_machine, make_report
from tests.records.hosts.factories import SOURCE

BY_NAME = {table.name: table for table in TABLES}


def rows_of(dump, name: str) -> list[dict]:
    return read("jsonl", BY_NAME[name], dump.folder)


# --- what is in it ---


def test_all_three_formats_hold_the_same_rows(labs):
    dump = write_dump()
    for table in TABLES:
        lines = read("jsonl", table, dump.folder)
        assert lines == read("csv", table, dump.folder) == read("parquet", table, dump.folder), table.name
        assert lines, f"{table.name} is empty: nothing was compared"


def test_a_site_without_pyarrow_writes_the_other_formats(labs, monkeypatch):
    monkeypatch.setattr(formats, "find_spec", lambda _name: None)
    dump = write_dump()
    manifest = json.loads((dump.folder / "manifest.json").read_text())
    assert manifest["formats"] == {"jsonl": "JSON Lines", "csv": "CSV"}
    assert {path.suffix for path in dump.folder.iterdir()} >= {".jsonl", ".csv"}
    assert list(dump.folder.glob("*.parquet")) == []


def test_every_row_has_the_columns_and_types_the_schema_says(labs):
    python = {"text": str, "integer": int, "number": float, "truth": bool, "moment": str, "json": (dict, list)}
    dump = write_dump()
    for table in TABLES:
        assert parquet.read_schema(dump.folder / f"{table.name}.parquet").names == [
            column.name for column in table.columns
        ]
        for row in rows_of(dump, table.name):
            for column in table.columns:
                value = row[column.name]
                assert value != "", (table.name, column.name)
                if value is None:
                    assert column.may_be_null, (table.name, column.name)
                else:
                    assert isinstance(value, python[column.type]), (table.name, column.name, value)


def test_dump_keys_are_unique_and_resolve(labs):
    dump = write_dump()
    rows = {table.name: rows_of(dump, table.name) for table in TABLES}
    for table in TABLES:
        keys = [tuple(row[column] for column in table.key) for row in rows[table.name]]
        assert not table.key or len(keys) == len(set(keys)), table.name
    sources = {row["key"] for row in rows["sources"]}
    sheets = {row["slug"] for row in rows["accelerators"]}
    for name in ("spec_values", "aliases", "components", "counterparts", "releases", "requirements"):
        assert {row["source"] for row in rows[name]} <= sources | {None}, name
    for name in ("spec_values", "aliases", "cards"):
        assert {row["accelerator"] for row in rows[name]} <= sheets | {None}, name
    assert {row["vendor"] for row in rows["accelerators"]} == {row["slug"] for row in rows["vendors"]}
    assert {row["field"] for row in rows["spec_values"]} <= {row["name"] for row in rows["fields"]}


def test_requested_rows_have_unit_rate_state_and_source(labs):
    dump = write_dump()
    values = rows_of(dump, "spec_values")
    (value,) = [
        row
        for row in values
        if (row["accelerator"], row["field"], row["condition"], row["status"])
        == ("nvidia-h100-sxm5-80gb", "bf16_tensor_tflops", "sparsity=dense", "preferred")
    ]
    assert (value["value"], value["unit"], value["amount"], value["amount_unit"]) == (
        "989.4",
        "TFLOPS",
        989.4e12,
        "FLOP/s",
    )
    assert "alternative" in {row["status"] for row in values}
    rows = rows_of(dump, "results")
    assert {row["machine"] for row in rows} == {"dgx-07"}
    by_state = {(row["state"], row["params"].get("dtype")): row for row in rows}
    assert by_state["ok", "bf16"]["rate"] == pytest.approx(2 * 8192**3 / 0.00141)
    assert by_state["ok", "bf16"]["rate_unit"] == "FLOP/s"
    assert (by_state["failed", "fp8"]["reason"], by_state["failed", "fp8"]["median"]) == ("no kernel", None)
    rows = {row["state"]: row for row in rows_of(dump, "cited_results")}
    assert set(rows) == {"public", "unmatched", "doubtful"}
    assert (rows["public"]["amount"], rows["public"]["amount_unit"]) == (612.5e12, "FLOP/s")
    assert rows["public"]["accelerator"] == "nvidia-h100-sxm5-80gb"
    assert rows["unmatched"]["accelerator"] is None
    assert rows["doubtful"]["reason"] == "above the published peak"
    assert [row["key"] for row in rows_of(dump, "cited_sources")] == [rows["public"]["source"]]


def test_public_hosts_have_cards_software_and_source(labs):
    dump = write_dump()
    (host,) = rows_of(dump, "hosts")
    assert (host["host"], host["vendor"], host["form"], host["seen_on"]) == (
        "h100-server",
        "nvidia",
        "server",
        "2026-07-01",
    )
    assert (host["system"], host["is_month_only"], host["source_url"]) == (None, False, SOURCE)
    (card,) = rows_of(dump, "host_cards")
    assert (card["host"], card["accelerator"]) == ("h100-server", "nvidia-h100-sxm5-80gb")
    assert (card["power_limit_w"], card["pcie_lanes"]) == (700.0, None)
    assert [(row["name"], row["value"], row["state"]) for row in rows_of(dump, "host_components")] == [
        ("pytorch", "2.10.0+cu128", "installed"),
        ("triton", None, "absent"),
    ]


def test_of_each_setting_only_the_newest_result_is_there(labs):
    machine = Machine.objects.get(slug="dgx-07")
    make_report(machine, at=timezone.now(), results=[gemm("bf16", [0.002] * 8)])
    rows = [row for row in rows_of(write_dump(), "results") if row["params"].get("dtype") == "bf16"]
    assert [row["median"] for row in rows] == [0.002]


# --- what is not ---


def test_nothing_of_a_private_lab_is_in_any_byte_of_any_file(labs):
    assert Machine.objects.filter(name__contains=SECRET).exists()
    reports = [str(pk) for pk in Report.objects.filter(machine__lab__is_public=False).values_list("pk", flat=True)]
    dump = write_dump()
    told = [dump.name]
    for path in dump.folder.iterdir():
        content = path.read_bytes()
        if path.suffix == ".parquet":  # compressed: read what it says
            content += json.dumps(parquet.read_table(path).to_pylist(), default=str).encode()
        told.append(path.name)
        for secret in (SECRET, *reports):
            assert secret.encode() not in content, path.name
    assert len(told) > 3 * len(TABLES)


def test_drafts_and_authors_stay_private(labs):
    h100 = Accelerator.objects.get(slug="nvidia-h100-sxm5-80gb")
    source = Source.objects.create(key="secret-source", title="secret-title", url="https://example.org/secret")
    secret = {"field": "chip", "source": source, "said_by": "secret-voice"}
    for status in ("draft", "unreviewed", "retired"):
        SpecValue.objects.create(accelerator=h100, value=f"secret-{status}", status=status, **secret)
    checked = {"checked_by": User.objects.create_user("secret-curator"), "checked_at": timezone.now()}
    chip = SpecValue.objects.filter(accelerator=h100, field="chip", is_preferred=True)
    chip.update(said_by="secret-voice", **checked)
    Alias.objects.create(accelerator=h100, name="secret-name-of-a-private-card")
    hidden = Accelerator.objects.create(
        slug="secret-card", name="secret-card", vendor=h100.vendor, kind="gpu", is_public=False
    )
    SpecValue.objects.create(accelerator=hidden, value="x", status="public", is_preferred=True, **secret)
    dump = write_dump()
    files = list(dump.folder.glob("*.jsonl"))
    assert len(files) == len(TABLES)
    for path in files:
        assert "secret" not in path.read_text(encoding="utf-8"), path.name
    checked = [row for row in rows_of(dump, "spec_values") if row["checked_at"]]
    assert (checked[0]["accelerator"], checked[0]["field"]) == ("nvidia-h100-sxm5-80gb", "chip")


def test_a_card_does_not_name_a_sheet_that_is_not_public(labs):
    Accelerator.objects.filter(slug="nvidia-h100-sxm5-80gb").update(is_public=False)
    dump = write_dump()
    for name in ("cards", "host_cards"):
        assert {row["accelerator"] for row in rows_of(dump, name)} == {None}, name


# --- the manifest ---


def test_manifest_has_sizes_and_checksums(labs):
    dump = write_dump()
    manifest = json.loads((dump.folder / "manifest.json").read_text())
    sums = dict(reversed(line.split("  ")) for line in (dump.folder / "SHA256SUMS").read_text().splitlines())
    assert manifest["schema_version"] == SCHEMA_VERSION
    assert "source named" in manifest["licence"]["text"]
    assert (manifest["licence"]["spdx"], manifest["licence"]["url"]) == ("LicenseRef-accelweb-data", "/data/#terms")
    assert CatalogueEdition.current() in manifest["edition"]
    for table in manifest["tables"]:
        assert table["rows"] == len(rows_of(dump, table["name"]))
        for file in table["files"]:
            content = (dump.folder / file["name"]).read_bytes()
            assert (len(content), hashlib.sha256(content).hexdigest()) == (file["bytes"], file["sha256"])
            assert sums[file["name"]] == file["sha256"]
    assert len(sums) == len(TABLES) * len(FORMATS) + 1
    assert sums["manifest.json"] == hashlib.sha256((dump.folder / "manifest.json").read_bytes()).hexdigest()


def test_tables_types_and_versions_of_the_schema_are_complete():
    assert FINGERPRINTS[SCHEMA_VERSION] == schema_fingerprint(), (
        "tables or columns changed: raise SCHEMA_VERSION and add its fingerprint, keep those of older versions"
    )
    assert schema_fingerprint(TABLES[1:]) != schema_fingerprint()
    assert list(ROWS) == [table.name for table in TABLES]
    assert {column.type for table in TABLES for column in table.columns} <= set(TYPES)
    assert all(column.meaning for table in TABLES for column in table.columns)


# --- writing ---


def test_the_number_of_queries_does_not_grow_with_the_rows(labs, settings):
    settings.DATA_KEEP = 1

    def write() -> int:
        with CaptureQueriesContext(connection) as queries:
            write_dump()
        return len(queries)

    before = write()
    for number in range(5):
        machine = make_machine(Lab.objects.get(slug="empty"), f"box-{number}")
        make_report(machine, results=[gemm("bf16", [0.002] * 8, side=side) for side in (512, 1024, 2048)])
    assert write() == before < 2 * len(TABLES)


def test_rows_are_never_held_all_at_once(labs, monkeypatch):
    sizes = []
    monkeypatch.setattr(tables, "CHUNK", 100)
    chunks = dumping.in_chunks
    monkeypatch.setattr(
        dumping, "in_chunks", lambda rows: (sizes.append(len(chunk)) or chunk for chunk in chunks(rows))
    )
    dump = write_dump()
    assert max(sizes) == 100
    assert sum(sizes) == sum(table.rows for table in dump.tables)


def test_failed_writer_leaves_newest_dump(labs, data_dir, monkeypatch):
    whole = write_dump()

    def broken():
        yield ("acme", "Acme")
        raise OSError("the disk is full")

    monkeypatch.setitem(ROWS, "vendors", broken)
    with pytest.raises(OSError, match="disk is full"):
        write_dump()
    assert stored_dumps.newest() == whole
    assert list(data_dir.glob(".writing-*")) == []
    with pytest.raises(CommandError, match="DATA_DIR"):
        call_command("write_dump")


HOLDER = """
import fcntl, sys
with open(sys.argv[1], "w") as lock:
    fcntl.flock(lock, fcntl.LOCK_EX)
    print("held", flush=True)
    sys.stdin.read()
"""


def test_second_writer_leaves_without_harm(labs, data_dir):
    whole = write_dump()
    other = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(data_dir / ".lock")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(AlreadyWriting):
            write_dump()
        Lab.objects.filter(slug="north").update(is_public=False)  # so that one is due
        assert write_dump_if_due() == "being written"
    finally:
        other.communicate(timeout=60)
    assert stored_dumps.newest() == whole
    assert write_dump_if_due().startswith("written: ")


def test_a_change_while_it_is_written_is_in_the_dump(labs, monkeypatch):
    vendors, moved = ROWS["vendors"], []

    def while_somebody_saves():
        yield from vendors()
        if not moved:
            moved.append(SpecValue.objects.filter(field="chip", is_preferred=True).first().save())

    monkeypatch.setitem(ROWS, "vendors", while_somebody_saves)
    dump = write_dump()
    assert CatalogueEdition.current() in dump.edition


def test_old_dumps_and_leftovers_are_removed(labs, data_dir, settings):
    settings.DATA_KEEP = 2
    first, second = write_dump(), write_dump()
    (data_dir / ".writing-old").mkdir()
    os.utime(data_dir / ".writing-old", (time.time() - 2 * 86_400,) * 2)
    (data_dir / ".writing-now").mkdir()
    third = write_dump()
    assert stored_dumps.dump_names() == sorted([second.name, third.name], reverse=True)
    assert not first.folder.exists()
    assert [path.name for path in data_dir.glob(".writing-*")] == [".writing-now"]
    assert stored_dumps.newest() == third


# --- when ---


def test_it_is_due_first_of_all_once_a_night_and_after_changes(labs, monkeypatch):
    assert is_due()
    assert write_dump_if_due().startswith("written: ")
    assert write_dump_if_due() == "not due"
    assert is_due(timezone.now() + timezone.timedelta(days=1))
    write_dump()
    Lab.objects.filter(slug="north").update(is_public=False)
    write_dump()
    assert not is_due()
    monkeypatch.setattr(dumping, "SCHEMA_VERSION", "99.0")


def test_private_machines_leave_older_dumps(labs):
    older = write_dump()
    Report.objects.filter(machine__slug="dgx-07").delete()
    newest = write_dump()
    assert not (older.folder / "machines.csv").exists()
    assert (older.folder / "spec_values.csv").exists()
    assert rows_of(newest, "machines") == []


def test_withdrawn_hosts_leave_the_dumps(labs, client):
    older = write_dump()
    host = Host.objects.get(slug="h100-server")
    host.state, host.reason = Host.State.WITHDRAWN, "its owner asked"
    host.save()
    assert client.get("/data/hosts.csv").status_code == 503
    assert is_due()
    newest = write_dump()
    assert not (older.folder / "hosts.csv").exists()
    assert (older.folder / "spec_values.csv").exists()
    assert rows_of(newest, "hosts") == rows_of(newest, "host_components") == []
    assert b"h100-server" not in b"".join(client.get("/data/hosts.csv").streaming_content)


@pytest.mark.parametrize("left", ["", "nonsense", "../../etc", "20261120T020000Z", "{}"])
def test_unreadable_pointer_or_manifest_is_no_dump(labs, data_dir, left):
    dump = write_dump()
    (data_dir / "latest").write_text(left)
    assert stored_dumps.newest() is None
    assert is_due()
    (data_dir / "latest").write_text(dump.name)
    (dump.folder / "manifest.json").write_text(left)
    assert stored_dumps.newest() is None


def test_write_command_skips_a_fresh_dump(labs, capsys):
    call_command("write_dump")
    assert "22 tables" in capsys.readouterr().out
    call_command("write_dump", "--if-due")
    assert "up to date" in capsys.readouterr().out
    assert len(stored_dumps.dump_names()) == 1
