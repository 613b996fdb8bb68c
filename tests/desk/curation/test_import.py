"""Tables in and out: every difference is shown first, what is wrong is named by row and column, half a table never lands."""

import csv
import io
import re
import struct
import tracemalloc
import zipfile
import zlib
from contextlib import nullcontext
from datetime import date

import openpyxl
import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from stackviz.desk.curation import import_plan
from stackviz.desk.curation.decide_proposals import approve
from stackviz.desk.curation.import_rows import COLUMNS
from stackviz.records.catalog.models import Proposal, Source, SpecValue, ValueImport, Vendor
from stackviz.records.catalog.table_imports import Unconfirmed, store_import
from stackviz.web import table_file as reading
from stackviz.web.table_file import Table, TableError
from tests.responses import words_of

HEADER = ",".join(COLUMNS)
SAME = "acme-one,memory_bandwidth_gb_s,3350,GB/s,,published,public,acme-sheet,"
CHANGED = "acme-one,memory_bandwidth_gb_s,3352,GB/s,,published,public,acme-sheet,2619 MHz"
NEW = "acme-one,tdp_w,700,W,,published,public,acme-sheet,"
BAD = "acme-one,tdp_w,700,GB/s,scope=board,published,public,acme-sheet,"


def read_table(content: bytes) -> Table:
    return reading.read_table(content, COLUMNS)


def table(*lines: str) -> bytes:
    return "\r\n".join([HEADER, *lines, ""]).encode()


def workbook(rows, **sheets) -> bytes:
    book = openpyxl.Workbook()
    for name, content in {"values": rows, **sheets}.items():
        sheet = book.create_sheet(name)
        for row in content:
            sheet.append(row)
    del book["Sheet"]
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def cells(line: str) -> list[str]:
    return next(csv.reader([line]))


@pytest.fixture
def mira(db) -> User:
    return User.objects.create_superuser("mira")


@pytest.fixture
def kept(bandwidth, mira):
    """Keeps a table, as an upload does."""

    def keep(content: bytes) -> ValueImport:
        table = read_table(content)
        return store_import(ValueImport, table, file_name="t.csv", reason="data sheet of May", by=mira)

    return keep


@pytest.fixture
def desk(client, mira):
    client.force_login(mira)
    return client


def upload(client, content: bytes, name: str = "values.csv", reason: str = "data sheet of May"):
    form = {"file": SimpleUploadedFile(name, content), "reason": reason}
    return client.post(reverse("admin:catalog_specvalue_import"), form, follow=True)


def problems(plan) -> list[tuple[int, str, str]]:
    return [(row.number, column, why) for row in plan.of("refused") for column, why in row.problems]


def tdp(value="700", unit="W", condition="", basis="published", status="public", source="acme-sheet", note="") -> str:
    """A line about the TDP of Acme One."""
    return f"acme-one,tdp_w,{value},{unit},{condition},{basis},{status},{source},{note}"


def bandwidth_line(value="3350", status="public", source="acme-sheet") -> str:
    return f"acme-one,memory_bandwidth_gb_s,{value},GB/s,,published,{status},{source},"


def confirm(made: ValueImport, by: User, seen: str = "", *, is_leaving_out: bool = False) -> ValueImport:
    """Confirm an import as it was seen, by default as it is now."""
    seen = seen or import_plan.plan_upload(made).fingerprint
    return import_plan.confirm(made.pk, by=by, seen=seen, is_leaving_out=is_leaving_out)


def exported(client, kind: str, query: str = ""):
    return client.get(reverse("admin:catalog_specvalue_export", args=[kind]) + query)


# --- the plan ---


def test_preview_classifies_every_row(kept):
    plan = import_plan.plan_upload(kept(table(NEW, CHANGED, BAD)))
    assert [(row.number, row.kind) for row in plan.rows] == [(2, "new"), (3, "changed"), (4, "refused")]
    assert [(item.label, item.old, item.new) for item in plan.rows[1].differences] == [
        ("Value", "3350 GB/s", "3352 GB/s"),
        ("Note", "", "2619 MHz"),
    ]
    assert problems(plan) == [(4, "unit", "tdp_w is measured in W, not in 'GB/s'.")]
    assert [row.kind for row in import_plan.plan_upload(kept(table(SAME))).rows] == ["same"]


@pytest.fixture
def five_sources(bandwidth):
    """The preferred value, and four more sources that state the same figure."""
    for number in range(4):
        source = Source.objects.create(
            key=f"sheet-{number}", title=f"Sheet {number}", url="https://acme.example/more", kind="press"
        )
        SpecValue.objects.create(
            accelerator=bandwidth.accelerator, field=bandwidth.field, value="3350", unit="GB/s", source=source,
            status="public",
        )  # fmt: skip
    return Source.objects.create(key="acme-new", title="Acme press", url="https://acme.example/new", kind="press")


@pytest.mark.parametrize(
    ("line", "kind", "differences"),
    [
        (
            bandwidth_line("3400", source="acme-new"), "changed",
            [("Value", "3400 GB/s"), ("Source", "Acme press"), ("Preferred", "yes"),
             ("takes the preferred mark from", "3350 GB/s (Acme data sheet + 4)")],
        ),
        (
            bandwidth_line(source="sheet-0"), "changed",
            [("Preferred", "yes"), ("takes the preferred mark from", "3350 GB/s (Acme data sheet + 3)")],
        ),
        (
            bandwidth_line("3400", "alternative", "acme-new"), "new",
            [("Source", "Acme press"), ("Preferred", "no")],
        ),
    ],
)  # fmt: skip
def test_rows_say_from_which_value_they_take_the_mark(kept, desk, five_sources, line, kind, differences):
    (row,) = import_plan.plan_upload(kept(table(line))).rows
    assert (row.kind, [(item.label, item.new) for item in row.differences]) == (kind, differences)
    if kind == "changed":
        assert " ".join(differences[-1]) in words_of(upload(desk, table(line)))


@pytest.mark.parametrize("count", [1, 200])
def test_a_plan_costs_the_same_queries_and_writes_nothing(kept, django_assert_num_queries, count):
    made = kept(table(*(tdp(100 + n, condition=f"machine=M{n}") for n in range(count))))
    with django_assert_num_queries(13) as asked:
        assert import_plan.plan_upload(made).counts["new"] == count
    assert [query["sql"] for query in asked if not query["sql"].startswith(("SELECT", "SAVEPOINT", "R"))] == []


@pytest.mark.parametrize(
    ("line", "column", "words"),
    [
        ("nobody,tdp_w,700,W,,published,public,acme-sheet,", "device", "Unknown accelerator 'nobody'."),
        ("acme-one,colour,red,,,published,public,acme-sheet,", "field", "not in the field registry"),
        (tdp("hot"), "value", "is a number, not 'hot'"),
        (tdp("9e9"), "value", "lies between 1 and 30000 W"),
        (tdp(""), "value", ""),
        (tdp("１２"), "value", "is a number, not '１２'"),
        (tdp("7_00"), "value", "is a number, not '7_00'"),
        (tdp(note="a \x08\x0bctl"), "note", "control characters"),
        ("acme-one,chip,GA\x9b1,,,published,public,acme-sheet,", "value", "control characters"),
        (tdp("nan"), "value", "not a finite quantity"),
        (tdp(unit=""), "unit", "is measured in W"),
        (tdp(unit="furlong"), "unit", "is measured in W, not in 'furlong'"),
        ("acme-one,chip,GA1,W,,published,public,acme-sheet,", "unit", "is text and has no unit"),
        (tdp(condition="colour=red"), "condition", "unknown key 'colour'"),
        (tdp(condition="scope=moon"), "condition", "scope is one of"),
        (tdp(basis="guessed"), "basis", "The basis must be one of published"),
        (tdp(status="secret"), "status", "The status must be one of public"),
        (tdp(status="unreviewed"), "status", "The status must be public, alternative or retired"),
        (tdp(status="retired"), "status", "No matching value to retire"),
        (tdp(source="hearsay"), "source", "Unknown source 'hearsay'"),
        (tdp(source=""), "source", "needs a source"),
        (tdp("=1+1"), "value", "formulas are not evaluated"),
        (tdp(note="=HYPERLINK()"), "note", "formulas are not evaluated"),
        ("acme-one,tdp_w,700,W", "", "The row has 4 cells, not 9."),
        (tdp(note="a,b"), "", "The row has 10 cells, not 9."),
        (tdp(note="n" * 601), "note", "Longer than 600 characters."),
        (f"{SAME}\n{CHANGED}", "", "Row 2 already has this value."),
        (f"{SAME}\n{bandwidth_line('3300', source='other')}", "status", "Row 2 is already the preferred value"),
        (bandwidth_line(status="alternative"), "status", "To change the preferred"),
    ],
)
def test_what_is_wrong_is_named_by_row_and_column(kept, line, column, words):
    Source.objects.create(key="other", title="Other", url="https://other.example")
    plan = import_plan.plan_upload(kept(table(*line.split("\n"))))
    assert [number for number, _column, _why in problems(plan)] == [len(line.split("\n")) + 1]
    assert [(named, True) for _n, named, why in problems(plan) if words in why] == [(column, True)]


def test_failed_formula_shows_its_result(kept):
    bus = "acme-one,memory_bus_bits,5120,bit,,published,public,acme-sheet,"
    kind = "acme-one,memory_type,HBM3,,,published,public,acme-sheet,"
    halved = bandwidth_line("1000")
    plan = import_plan.plan_upload(kept(table(bus, kind, halved)))
    assert [(number, column) for number, column, _why in problems(plan)] == [(4, "value")]
    assert "5120 bit × 4.8 … 6.4 Gbit/s (HBM3) / 8" in problems(plan)[0][2]
    noted = halved + "Not by formula: half of it is switched off"
    assert problems(import_plan.plan_upload(kept(table(bus, kind, noted)))) == []


def test_confirmed_rows_are_public_once_approved(kept, mira, bandwidth):
    made = kept(table(NEW, CHANGED))
    done = confirm(made, mira)
    assert (done.proposals, done.left_out) == (2, 0)
    again = import_plan.plan_upload(kept(table(NEW, CHANGED)))
    assert ["already proposed" in why for _n, _c, why in problems(again)] == [True, True]
    bandwidth.refresh_from_db()
    assert bandwidth.value == "3350"
    second = User.objects.create_superuser("second")
    for proposal in Proposal.objects.order_by("pk"):
        assert (proposal.state, proposal.batch, proposal.proposed_by) == ("review", made, mira)
        approve(proposal.pk, second)
    bandwidth.refresh_from_db()
    assert (bandwidth.value, bandwidth.history.latest().history_change_reason) == ("3352", "data sheet of May")
    assert SpecValue.objects.get(field="tdp_w").is_preferred


# --- confirming ---


def test_refused_rows_stop_import_unless_skipped(kept, mira):
    made = kept(table(NEW, CHANGED, BAD))
    seen = import_plan.plan_upload(made).fingerprint
    with pytest.raises(Unconfirmed, match="skip these rows"):
        confirm(made, mira)
    assert not Proposal.objects.exists()
    confirm(made, mira, is_leaving_out=True)
    made.refresh_from_db()
    assert made.left_out == [[4, "unit", "tdp_w is measured in W, not in 'GB/s'."]]
    with pytest.raises(Unconfirmed, match="already been imported"):
        confirm(made, mira, seen, is_leaving_out=True)
    assert Proposal.objects.count() == 2


def test_stale_broken_or_empty_imports_land_nothing(kept, mira, bandwidth, monkeypatch):
    made = kept(table(NEW, CHANGED))
    seen = import_plan.plan_upload(made).fingerprint
    with monkeypatch.context() as broken:
        broken.setattr(ValueImport, "save", lambda *_a, **_k: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            confirm(made, mira, seen)
    with pytest.raises(Unconfirmed, match="no new"):
        confirm(kept(table(SAME)), mira)
    bandwidth.value = "3360"
    bandwidth.save()
    with pytest.raises(Unconfirmed, match="has changed since"):
        confirm(made, mira, seen)
    assert not Proposal.objects.exists()


# --- reading files ---


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "The file is empty."),
        (b"\n\n", "The file is empty."),
        (HEADER.encode(), "header but no rows"),
        (b"device,value\nx,1\n", "missing: field, unit, condition, basis, status, source, note"),
        (table().replace(b"note", b"remark"), "missing: note; unknown: remark"),
        (HEADER.encode() + b",device\n", "duplicate: device"),
        (b"PK\x03\x04 and no archive", "damaged"),
        (b"\xd0\xcf\x11\xe0 old", "old or encrypted Excel"),
        (b"\x00\x01\x02", "neither CSV nor XLSX"),
        (table(NEW + "caf\xe9").decode().encode("latin-1") + NEW.replace("tdp", "caf\xe9").encode(), "mixes encodings"),
        (table(NEW + '"never closed'), "Line 2 is not CSV"),
        (table(NEW + "n" * 3000), "more than 2000 characters"),
        (b"\xff\xfea", "cannot be read as utf-16"),
    ],
)
def test_a_file_that_is_no_such_table_is_refused_in_words(content, words):
    with pytest.raises(TableError, match=words):
        read_table(content)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_spreadsheet_encodings_are_understood(encoding, delimiter):
    text = table(NEW + "Größe").decode().replace(",", delimiter)
    found = read_table(text.encode(encoding))
    assert found.rows[0].cells == tuple(cells(NEW + "Größe"))
    assert bool(found.notes) == (encoding == "cp1252")


def test_column_order_and_empty_lines_are_free():
    order = list(reversed(COLUMNS))
    text = f"{','.join(order).upper()}\n\n{','.join(reversed(cells(NEW)))}\n"
    found = read_table(text.encode())
    assert (found.rows[0].number, found.rows[0].cells) == (3, tuple(cells(NEW)))


def test_large_tables_are_refused_unread(desk, bandwidth):
    content = table(*[NEW] * 100_000)
    assert len(content) < reading.MOST_BYTES
    with pytest.raises(TableError, match="more than 20000 rows"):
        read_table(content)
    for wrong, words in ((b"x" * (reading.MOST_BYTES + 1), "the limit is 10.0"), (b"a,b\n1,2\n", "missing: device")):
        assert words in upload(desk, wrong).content.decode()
    assert not ValueImport.objects.exists()


def test_a_workbook_is_read_with_its_numbers_and_dates_as_text():
    row = ["acme-one", "release_date", date(2024, 5, 1), None, None, "published", "public", "acme-sheet"]
    number = ["acme-one", "tdp_w", 700.0, "W", "", "published", "public", "acme-sheet", 989.4]
    found = read_table(
        workbook([list(COLUMNS), row, [], number], Tabelle2=[])
    )  # sheets without content are passed over
    cells_read = [(row.number, row.cells[2], row.cells[8]) for row in found.rows]
    assert cells_read == [(2, "2024-05-01", ""), (4, "700", "989.4")]


def test_workbook_formula_refuses_its_row(kept):
    row = cells(NEW)
    row[2] = "=350*2"
    ((number, column, why),) = problems(import_plan.plan_upload(kept(workbook([list(COLUMNS), row]))))
    assert (number, column, "formulas are not evaluated" in why) == (2, "value", True)


def with_part(content: bytes, name: str, change) -> bytes:
    """The workbook with one part of the archive changed, or added."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for part in old.namelist():
            text = old.read(part)
            new.writestr(part, change(text) if part == name else text)
        if name not in old.namelist():
            new.writestr(name, change(b""))
    return out.getvalue()


def merged() -> bytes:
    book = openpyxl.load_workbook(io.BytesIO(workbook([list(COLUMNS), cells(NEW)])))
    book["values"].merge_cells("A2:B2")
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def in_utf_16(text: bytes, encoding: str = "utf-16") -> bytes:
    return re.sub(rb"<\?xml.*?\?>", b"", text).decode().encode(encoding)


DECLARED = b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
EMPTY_ROWS = b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>%s</sheetData></worksheet>'


def archive_with(kind: int = zipfile.ZIP_STORED, base: bytes = b"", **parts: bytes) -> bytes:
    """An archive, or `base` with more parts; "__" in a name is a slash."""
    out = io.BytesIO(base)
    with zipfile.ZipFile(out, "a", kind) as archive:
        for name, content in parts.items():
            archive.writestr(name.replace("__", "/"), content)
    return out.getvalue()


SHEET, BOOK, BOMB = "xl/worksheets/sheet1.xml", "xl/workbook.xml", "xl/media/bomb.bin"
PLAIN = workbook([list(COLUMNS), cells(NEW)])


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (merged(), "merged cells"),
        (workbook([list(COLUMNS), cells(NEW)], more=[["x"]]), "2 sheets with content"),
        (workbook([]), "The file is empty"),
        (with_part(PLAIN, BOMB, lambda _: b"0" * (reading.MOST_UNPACKED + 1)), "too large when unpacked"),
        (with_part(PLAIN, SHEET, lambda text: b'<!DOCTYPE x [<!ENTITY a "b">]>' + text), "declares XML entities"),
        (with_part(PLAIN, SHEET, lambda _: b"<worksheet>" + b"<row/>" * reading.MOST_TAGS), "too many elements"),
        (with_part(PLAIN, SHEET, lambda text: text[:200]), "damaged"),
        (with_part(PLAIN, BOOK, lambda _: b"<workbook/>"), "damaged|empty"),
        (with_part(PLAIN, "[Content_Types].xml", lambda _: b"<a/>"), "damaged"),
        (with_part(PLAIN, BOOK, lambda text: in_utf_16(DECLARED + text)), "declares XML entities"),
        (with_part(PLAIN, BOOK, lambda text: in_utf_16(DECLARED + text, "utf-16-be")), "declares XML entities"),
        (with_part(PLAIN, "xl/sheet.png", lambda _: DECLARED), "declares XML entities"),
        (with_part(PLAIN, SHEET, lambda _: EMPTY_ROWS % (b"<row/>" * 60_000)), "more than 20000 rows"),
        (with_part(PLAIN, SHEET, lambda _: EMPTY_ROWS % (b"<row><c/></row>" * 60_000)), "more than 20000 rows"),
        (PLAIN[: len(PLAIN) // 2], "damaged"),
        (with_part(PLAIN, SHEET, lambda text: text.replace(b'r="2"', b'r="1048576"')), "more than 20000 rows"),
        (archive_with(zipfile.ZIP_BZIP2, PLAIN, xl__media__other=bytes(1_000)), "damaged"),
        (archive_with(zipfile.ZIP_LZMA, PLAIN, xl__media__other=bytes(1_000)), "damaged"),
        (archive_with(base=PLAIN, **{f"m{n}": b"" for n in range(reading.MOST_PARTS + 1)}), "too large when unpacked"),
        (archive_with(readme=b"x"), "not an XLSX workbook"),
    ],
)
def test_a_workbook_that_hides_something_is_refused_in_words(content, words):
    with pytest.raises(TableError, match=words):
        read_table(content)


def lying(content: bytes, name: str, declared: int) -> bytes:
    """The archive, one part of which declares another size than it unpacks to."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        part = archive.getinfo(name)
    size = struct.pack("<L", part.file_size)
    assert content.count(size) >= 2  # beside the part, and in the list at the end
    return content.replace(size, struct.pack("<L", declared))


@pytest.mark.parametrize("is_sum_right", [False, True])
def test_a_bomb_that_declares_little_costs_little(is_sum_right):
    """Where the sum is that of what is declared nothing tells that it is longer: no reader may unpack it either."""
    whole = bytes(50_000_017 if is_sum_right else 200_000_017)
    bomb = lying(with_part(PLAIN, BOMB, lambda _: whole), BOMB, 1_000)
    if is_sum_right:
        bomb = bomb.replace(*(struct.pack("<L", zlib.crc32(part)) for part in (whole, whole[:1_000])))
    tracemalloc.start()
    try:
        with nullcontext() if is_sum_right else pytest.raises(TableError, match="damaged"):
            assert [row.cells for row in read_table(bomb).rows] == [tuple(cells(NEW))]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 20 * 1024 * 1024


def test_two_parts_of_one_name_are_refused():
    with pytest.warns(UserWarning, match="Duplicate name"):
        twice = archive_with(base=PLAIN, **{SHEET: b"<worksheet/>"})
    with pytest.raises(TableError, match="damaged"):
        read_table(twice)


# --- the pages ---


def test_a_table_is_uploaded_looked_at_and_confirmed(desk, bandwidth):
    assert "This field is required." in upload(desk, table(NEW), reason="").content.decode()
    answer = upload(desk, table(NEW, CHANGED, BAD))
    page = answer.content.decode()
    assert "<del>3350 GB/s</del>" in page
    assert "<code>unit</code>: tdp_w is measured in W" in page
    assert not Proposal.objects.exists()
    address, seen = answer.redirect_chain[-1][0], answer.context["plan"].fingerprint
    desk.post(address, {"seen": seen})
    assert not Proposal.objects.exists()
    done = desk.post(address, {"seen": seen, "leave_out": "on"}, follow=True).content.decode()
    assert "<code>unit</code>" in done
    assert Proposal.objects.filter(state="review").count() == 2


def test_the_preview_shows_one_kind_and_pages(desk, kept):
    made = kept(table(BAD, *(tdp(100 + n, condition=f"machine=M{n}") for n in range(150))))
    address = reverse("admin:catalog_specvalue_preview", args=[made.pk])
    assert "Page 1 of 2" in desk.get(address).content.decode()
    refused = desk.get(f"{address}?show=refused").content.decode()
    assert (refused.count('<tr class="refused">'), '<tr class="new">' in refused) == (1, False)
    assert desk.get(f"{address}?show=nothing&page=99").status_code == 200


def test_imports_are_private_to_their_author(client, kept, mira):
    address = reverse("admin:catalog_specvalue_preview", args=[kept(table(NEW)).pk])
    assert client.get(address).status_code == 302
    client.force_login(User.objects.create_superuser("other"))
    assert client.get(address).status_code == 404
    client.force_login(User.objects.create_user("visitor", is_staff=True))
    assert client.get(address).status_code == 403
    assert client.get(reverse("admin:catalog_specvalue_import")).status_code == 403
    assert exported(client, "csv").status_code == 404
    tokenless = Client(enforce_csrf_checks=True)
    tokenless.force_login(mira)
    assert upload(tokenless, table(NEW)).status_code == 403


def test_html_in_a_table_is_shown_as_text(desk, bandwidth):
    hostile = "<script>window.pwned=1</script>"
    page = upload(desk, table(",".join([hostile] * 9)), name="<script>.csv").content.decode()
    assert (hostile in page, "&lt;script&gt;" in page) == (False, True)


# --- out ---


def test_what_is_exported_is_imported_as_the_same(desk, bandwidth, kept):
    card, source = bandwidth.accelerator, bandwidth.source
    rows = [
        {"field": "tdp_w", "value": "700", "unit": "W", "source": source, "status": "public", "note": "=1+1"},
        {"field": "tdp_w", "value": "650", "unit": "W", "said_by": "hearsay", "condition": "scope=limit"},
        {"field": "chip", "value": "-GA1", "source": source, "status": "draft"},
        {"field": "sm_count", "value": "132", "unit": "count", "source": source, "status": "retired"},
    ]
    for row in rows:
        SpecValue.objects.create(accelerator=card, **row)
    for kind in ("csv", "xlsx"):
        content = exported(desk, kind).content
        assert import_plan.plan_upload(kept(content)).counts == {"new": 0, "changed": 0, "same": 5, "refused": 0}, kind


def test_no_exported_cell_is_a_formula_or_breaks_the_file(desk, bandwidth):
    bandwidth.note = '=HYPERLINK("https://evil.example") \x08\x0bctl \ufffe'
    bandwidth.save()
    text = exported(desk, "csv").content.decode()
    assert next(csv.DictReader(io.StringIO(text)))["note"].startswith("'=")
    sheet = openpyxl.load_workbook(io.BytesIO(exported(desk, "xlsx").content)).active
    assert [cell.data_type for row in sheet.iter_rows() for cell in row if cell.data_type == "f"] == []
    assert list(sheet.iter_rows(values_only=True))[1][COLUMNS.index("note")].endswith(") ctl ")


def test_empty_lines_of_a_workbook_are_not_read_without_end(monkeypatch):
    """Two reads at most: is there content, and which."""
    read = []
    in_rows = reading._lines_of

    def counted(*args):
        for row in in_rows(*args):
            read.append(row)
            yield row

    monkeypatch.setattr(reading, "_lines_of", counted)
    with pytest.raises(TableError):
        read_table(with_part(PLAIN, SHEET, lambda _: EMPTY_ROWS % (b"<row/>" * 500_000)))
    assert len(read) <= reading.MOST_LINES + 1
    assert reading.MOST_LINES <= 25_000


@pytest.mark.parametrize("query", ["zz=1", "accelerator__vendor__id__exact=abc", "status__exact=public&field__foo=1"])
def test_unknown_export_returns_to_the_list(desk, bandwidth, query):
    Vendor.objects.create(slug="other", name="Other")  # a filter needs two to choose from
    for kind in ("csv", "xlsx"):
        answer = exported(desk, kind, f"?{query}")
        assert (answer.status_code, answer.url) == (302, reverse("admin:catalog_specvalue_changelist") + "?e=1")


@pytest.mark.parametrize(
    ("query", "count"), [("p=-3", 2), ("p=99", 2), ("p=x", 2), ("o=77.x", 2), ("all=", 2), ("status__exact=public", 1)]
)
def test_an_export_has_every_page_of_the_filtered_list(desk, bandwidth, query, count):
    SpecValue.objects.create(accelerator=bandwidth.accelerator, field="tdp_w", value="700", unit="W")
    answer = exported(desk, "csv", f"?{query}")
    assert (answer.status_code, answer.content.count(b"acme-one")) == (200, count)


def test_control_characters_stand_in_no_reason_and_no_file_name(desk, bandwidth):
    assert "control characters" in upload(desk, table(NEW), reason="a \x08 b").content.decode()
    assert not ValueImport.objects.exists()
    upload(desk, table(NEW), name="may\x08.csv")
    assert ValueImport.objects.get().file_name == "may.csv"
