"""Tables in and out: every difference is shown first, what is wrong is named by row and column, half a table never lands."""

import csv
import io
import re
import struct
import tracemalloc
import zipfile
import zlib

import openpyxl
import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from stackviz.desk.curation import import_plan
from stackviz.desk.curation.decide import approve
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


def test_a_row_that_takes_the_preferred_mark_says_from_which_value(kept, desk, five_sources):
    """The case of a review: a new figure was `New … Preferred yes`, and no word of the five sources it displaced."""
    line = "acme-one,memory_bandwidth_gb_s,3400,GB/s,,published,public,acme-new,"
    (row,) = import_plan.plan_upload(kept(table(line))).rows
    assert (row.kind, row.action) == ("changed", "add")
    assert [(item.label, item.old, item.new) for item in row.differences] == [
        ("Value", "", "3400 GB/s"),
        ("Source", "", "Acme press"),
        ("Preferred", "", "yes"),
        ("takes the preferred mark from", "", "3350 GB/s (Acme data sheet + 4)"),
    ]
    assert "takes the preferred mark from 3350 GB/s (Acme data sheet + 4)" in words_of(upload(desk, table(line)))


def test_a_row_that_only_becomes_preferred_says_from_which_value(kept, five_sources):
    line = "acme-one,memory_bandwidth_gb_s,3350,GB/s,,published,public,sheet-0,"
    (row,) = import_plan.plan_upload(kept(table(line))).rows
    assert [(item.label, item.new) for item in row.differences] == [
        ("Preferred", "yes"),
        ("takes the preferred mark from", "3350 GB/s (Acme data sheet + 3)"),
    ]


def test_an_alternative_takes_no_mark(kept, five_sources):
    line = "acme-one,memory_bandwidth_gb_s,3400,GB/s,,published,alternative,acme-new,"
    (row,) = import_plan.plan_upload(kept(table(line))).rows
    assert (row.kind, [item.label for item in row.differences]) == ("new", ["Source", "Preferred"])


def test_a_plan_writes_nothing(kept, bandwidth):
    made = kept(table(NEW, CHANGED))
    with CaptureQueriesContext(
        connection,
    ) as asked:
        import_plan.plan_upload(made)
    assert [query["sql"] for query in asked if not query["sql"].startswith(("SELECT", "SAVEPOINT", "R"))] == []
    assert (Proposal.objects.count(), SpecValue.objects.count()) == (0, 1)


@pytest.mark.parametrize("count", [1, 200])
def test_a_plan_costs_the_same_queries_for_any_number_of_rows(kept, django_assert_num_queries, count):
    made = kept(table(*(f"acme-one,tdp_w,{100 + n},W,machine=M{n},published,public,acme-sheet," for n in range(count))))
    with django_assert_num_queries(13):
        assert import_plan.plan_upload(made).counts["new"] == count


@pytest.mark.parametrize(
    ("line", "column", "words"),
    [
        ("nobody,tdp_w,700,W,,published,public,acme-sheet,", "device", "Unknown accelerator 'nobody'."),
        ("acme-one,colour,red,,,published,public,acme-sheet,", "field", "not in the field registry"),
        ("acme-one,tdp_w,hot,W,,published,public,acme-sheet,", "value", "is a number, not 'hot'"),
        ("acme-one,tdp_w,9e9,W,,published,public,acme-sheet,", "value", "lies between 1 and 30000 W"),
        ("acme-one,tdp_w,,W,,published,public,acme-sheet,", "value", ""),
        ("acme-one,tdp_w,１２,W,,published,public,acme-sheet,", "value", "is a number, not '１２'"),
        ("acme-one,tdp_w,7_00,W,,published,public,acme-sheet,", "value", "is a number, not '7_00'"),
        ("acme-one,tdp_w,700,W,,published,public,acme-sheet,a \x08\x0bctl", "note", "control characters"),
        ("acme-one,chip,GA\x9b1,,,published,public,acme-sheet,", "value", "control characters"),
        ("acme-one,tdp_w,nan,W,,published,public,acme-sheet,", "value", "not a finite quantity"),
        ("acme-one,tdp_w,700,,,published,public,acme-sheet,", "unit", "is measured in W"),
        ("acme-one,tdp_w,700,furlong,,published,public,acme-sheet,", "unit", "is measured in W, not in 'furlong'"),
        ("acme-one,chip,GA1,W,,published,public,acme-sheet,", "unit", "is text and has no unit"),
        ("acme-one,tdp_w,700,W,colour=red,published,public,acme-sheet,", "condition", "unknown key 'colour'"),
        ("acme-one,tdp_w,700,W,scope=moon,published,public,acme-sheet,", "condition", "scope is one of"),
        ("acme-one,tdp_w,700,W,,guessed,public,acme-sheet,", "basis", "The basis must be one of published"),
        ("acme-one,tdp_w,700,W,,published,secret,acme-sheet,", "status", "The status must be one of public"),
        (
            "acme-one,tdp_w,700,W,,published,unreviewed,acme-sheet,",
            "status",
            "The status must be public, alternative or retired",
        ),
        ("acme-one,tdp_w,700,W,,published,retired,acme-sheet,", "status", "No matching value to retire"),
        ("acme-one,tdp_w,700,W,,published,public,hearsay,", "source", "Unknown source 'hearsay'"),
        ("acme-one,tdp_w,700,W,,published,public,,", "source", "needs a source"),
        ("acme-one,tdp_w,=1+1,W,,published,public,acme-sheet,", "value", "formulas are not evaluated"),
        ("acme-one,tdp_w,700,W,,published,public,acme-sheet,=HYPERLINK()", "note", "formulas are not evaluated"),
        ("acme-one,tdp_w,700,W", "", "The row has 4 cells, not 9."),
        ("acme-one,tdp_w,700,W,,published,public,acme-sheet,a,b", "", "The row has 10 cells, not 9."),
        ("acme-one,tdp_w,700,W,,published,public,acme-sheet," + "n" * 601, "note", "Longer than 600 characters."),
        (f"{SAME}\n{CHANGED}", "", "Row 2 already has this value."),
        (
            f"{SAME}\nacme-one,memory_bandwidth_gb_s,3300,GB/s,,published,public,other,",
            "status",
            "Row 2 is already the preferred value",
        ),
        (
            "acme-one,memory_bandwidth_gb_s,3350,GB/s,,published,alternative,acme-sheet,",
            "status",
            "To change the preferred",
        ),
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
    halved = "acme-one,memory_bandwidth_gb_s,1000,GB/s,,published,public,acme-sheet,"
    plan = import_plan.plan_upload(kept(table(bus, kind, halved)))
    assert [(number, column) for number, column, _why in problems(plan)] == [(4, "value")]
    assert "5120 bit × 4.8 … 6.4 Gbit/s (HBM3) / 8" in problems(plan)[0][2]
    assert (
        problems(import_plan.plan_upload(kept(table(bus, kind, halved + "Not by formula: half of it is switched off"))))
        == []
    )


def test_a_value_that_is_proposed_already_is_refused(kept, mira):
    made = kept(table(NEW, CHANGED))
    import_plan.confirm(made.pk, by=mira, seen=import_plan.plan_upload(made).fingerprint, is_leaving_out=False)
    again = import_plan.plan_upload(kept(table(NEW, CHANGED)))
    assert [why for _n, _c, why in problems(again)] == [
        "Another change to this value is already proposed. It must be decided first."
    ] * 2


# --- confirming ---


def test_confirmed_rows_are_public_once_approved(kept, mira, bandwidth):
    made = kept(table(NEW, CHANGED))
    done = import_plan.confirm(made.pk, by=mira, seen=import_plan.plan_upload(made).fingerprint, is_leaving_out=False)
    assert (done.proposals, done.left_out) == (2, 0)
    bandwidth.refresh_from_db()
    assert bandwidth.value == "3350"
    second = User.objects.create_superuser("second")
    for proposal in Proposal.objects.order_by("pk"):
        assert (proposal.state, proposal.batch, proposal.proposed_by) == ("review", made, mira)
        approve(proposal.pk, second)
    bandwidth.refresh_from_db()
    assert (bandwidth.value, bandwidth.history.latest().history_change_reason) == ("3352", "data sheet of May")
    assert SpecValue.objects.get(field="tdp_w").is_preferred


def test_refused_rows_stop_import_unless_skipped(kept, mira):
    made = kept(table(NEW, CHANGED, BAD))
    seen = import_plan.plan_upload(made).fingerprint
    with pytest.raises(Unconfirmed, match="choose to skip these rows"):
        import_plan.confirm(made.pk, by=mira, seen=seen, is_leaving_out=False)
    assert not Proposal.objects.exists()
    import_plan.confirm(made.pk, by=mira, seen=seen, is_leaving_out=True)
    made.refresh_from_db()
    assert Proposal.objects.count() == 2
    assert made.left_out == [[4, "unit", "tdp_w is measured in W, not in 'GB/s'."]]
    with pytest.raises(Unconfirmed, match="already been imported"):
        import_plan.confirm(made.pk, by=mira, seen=seen, is_leaving_out=True)
    assert Proposal.objects.count() == 2


def test_changed_catalogue_renews_the_preview(kept, mira, bandwidth):
    made = kept(table(CHANGED))
    seen = import_plan.plan_upload(made).fingerprint
    bandwidth.value = "3360"
    bandwidth.save()
    with pytest.raises(Unconfirmed, match="has changed since this preview"):
        import_plan.confirm(made.pk, by=mira, seen=seen, is_leaving_out=False)
    assert not Proposal.objects.exists()


def test_a_failure_halfway_lands_nothing(kept, mira, monkeypatch):
    made = kept(table(NEW, CHANGED))
    seen = import_plan.plan_upload(made).fingerprint
    monkeypatch.setattr(ValueImport, "save", lambda *_a, **_k: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        import_plan.confirm(made.pk, by=mira, seen=seen, is_leaving_out=False)
    assert not Proposal.objects.exists()


def test_a_table_without_a_difference_is_not_imported(kept, mira):
    made = kept(table(SAME))
    with pytest.raises(Unconfirmed, match="This table contains no new"):
        import_plan.confirm(made.pk, by=mira, seen=import_plan.plan_upload(made).fingerprint, is_leaving_out=False)


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


def test_table_of_100000_rows_is_refused_unread():
    content = table(*[NEW] * 100_000)
    assert len(content) < reading.MOST_BYTES
    with pytest.raises(TableError, match="more than 20000 rows"):
        read_table(content)


def test_a_file_above_the_limit_is_refused_unread(desk, bandwidth):
    page = upload(desk, b"x" * (reading.MOST_BYTES + 1)).content.decode()
    assert "the limit is 10.0" in page
    assert not ValueImport.objects.exists()


def test_a_workbook_is_read_with_its_numbers_and_dates_as_text():
    from datetime import date

    row = ["acme-one", "release_date", date(2024, 5, 1), None, None, "published", "public", "acme-sheet"]
    number = ["acme-one", "tdp_w", 700.0, "W", "", "published", "public", "acme-sheet", 989.4]
    found = read_table(workbook([list(COLUMNS), row, [], number]))
    assert [(row.number, row.cells[2], row.cells[8]) for row in found.rows] == [
        (2, "2024-05-01", ""),
        (4, "700", "989.4"),
    ]


def test_workbook_formula_refuses_its_row(kept):
    row = cells(NEW)
    row[2] = "=350*2"
    assert problems(import_plan.plan_upload(kept(workbook([list(COLUMNS), row])))) == [
        (2, "value", "Starts with “=”: formulas are not evaluated, write the value itself.")
    ]


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
SHEET = "xl/worksheets/sheet1.xml"
PLAIN = workbook([list(COLUMNS), cells(NEW)])


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (merged(), "merged cells"),
        (workbook([list(COLUMNS), cells(NEW)], more=[["x"]]), "2 sheets with content"),
        (workbook([]), "The file is empty"),
        (
            with_part(PLAIN, "xl/media/bomb.bin", lambda _: b"0" * (reading.MOST_UNPACKED + 1)),
            "too large when unpacked",
        ),
        (with_part(PLAIN, SHEET, lambda text: b'<!DOCTYPE x [<!ENTITY a "b">]>' + text), "declares XML entities"),
        (with_part(PLAIN, SHEET, lambda _: b"<worksheet>" + b"<row/>" * reading.MOST_TAGS), "too many elements"),
        (with_part(PLAIN, SHEET, lambda text: text[:200]), "damaged"),
        (with_part(PLAIN, "xl/workbook.xml", lambda _: b"<workbook/>"), "damaged|empty"),
        (with_part(PLAIN, "[Content_Types].xml", lambda _: b"<a/>"), "damaged"),
        (with_part(PLAIN, "xl/workbook.xml", lambda text: in_utf_16(DECLARED + text)), "declares XML entities"),
        (
            with_part(PLAIN, "xl/workbook.xml", lambda text: in_utf_16(DECLARED + text, "utf-16-be")),
            "declares XML entities",
        ),
        (with_part(PLAIN, "xl/sheet.png", lambda _: DECLARED), "declares XML entities"),
        (with_part(PLAIN, SHEET, lambda _: EMPTY_ROWS % (b"<row/>" * 60_000)), "more than 20000 rows"),
        (with_part(PLAIN, SHEET, lambda _: EMPTY_ROWS % (b"<row><c/></row>" * 60_000)), "more than 20000 rows"),
        (PLAIN[: len(PLAIN) // 2], "damaged"),
        (with_part(PLAIN, SHEET, lambda text: text.replace(b'r="2"', b'r="1048576"')), "more than 20000 rows"),
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


def test_a_bomb_that_declares_little_costs_little():
    bomb = lying(with_part(PLAIN, "xl/media/bomb.bin", lambda _: bytes(200_000_017)), "xl/media/bomb.bin", 1_000)
    tracemalloc.start()
    try:
        with pytest.raises(TableError, match="damaged"):
            read_table(bomb)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 20 * 1024 * 1024


def test_a_part_that_declares_little_and_has_the_sum_of_that_is_read_as_declared():
    """Nothing tells that it is longer: whoever reads it after the check must not unpack it either."""
    whole = bytes(50_000_017)
    packed = with_part(PLAIN, "xl/media/bomb.bin", lambda _: whole)
    sums = [struct.pack("<L", zlib.crc32(part)) for part in (whole, whole[:1_000])]
    bomb = lying(packed, "xl/media/bomb.bin", 1_000).replace(*sums)
    tracemalloc.start()
    try:
        assert [row.cells for row in read_table(bomb).rows] == [row.cells for row in read_table(PLAIN).rows]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 20 * 1024 * 1024


@pytest.mark.parametrize("kind", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_part_packed_in_another_way_is_refused(kind):
    out = io.BytesIO(PLAIN)
    with zipfile.ZipFile(out, "a", kind) as archive:
        archive.writestr("xl/media/other.bin", bytes(1_000))
    with pytest.raises(TableError, match="damaged"):
        read_table(out.getvalue())


def test_two_parts_of_one_name_are_refused():
    out = io.BytesIO(PLAIN)
    with zipfile.ZipFile(out, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr(SHEET, b"<worksheet/>")
    with pytest.raises(TableError, match="damaged"):
        read_table(out.getvalue())


def test_very_many_small_parts_are_not_unpacked():
    out = io.BytesIO(PLAIN)
    with zipfile.ZipFile(out, "a") as archive:
        for number in range(reading.MOST_PARTS + 1):
            archive.writestr(f"xl/media/{number}", b"")
    with pytest.raises(TableError, match="too large when unpacked"):
        read_table(out.getvalue())


def test_sheets_without_content_beside_the_one_are_passed_over():
    assert len(read_table(workbook([list(COLUMNS), cells(NEW)], Tabelle2=[])).rows) == 1


def test_an_archive_that_is_no_workbook_is_refused():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("readme.txt", "x")
    with pytest.raises(TableError, match="not an XLSX workbook"):
        read_table(out.getvalue())


# --- the pages ---


def test_a_table_is_uploaded_looked_at_and_confirmed(desk, bandwidth):
    answer = upload(desk, table(NEW, CHANGED, BAD))
    page = answer.content.decode()
    assert "<del>3350 GB/s</del>" in page
    assert "<code>unit</code>: tdp_w is measured in W" in page
    assert "Skip the refused row" in page
    assert not Proposal.objects.exists()
    address, seen = answer.redirect_chain[-1][0], answer.context["plan"].fingerprint
    stopped = desk.post(address, {"seen": seen})
    assert "Correct the file, or choose to skip these rows" in stopped.content.decode()
    done = desk.post(address, {"seen": seen, "leave_out": "on"}, follow=True).content.decode()
    assert "2 values proposed." in done
    assert "<code>unit</code>" in done
    assert Proposal.objects.filter(state="review").count() == 2


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"a,b\n1,2\n", "missing: device"), (b"", "empty"), (table(*[NEW] * 20_001), "more than 20000 rows")],
)
def test_a_wrong_file_is_answered_beside_the_input(desk, bandwidth, content, words):
    page = upload(desk, content).content.decode()
    assert words in page
    assert not ValueImport.objects.exists()


def test_a_reason_is_needed(desk, bandwidth):
    assert "This field is required." in upload(desk, table(NEW), reason="").content.decode()


def test_the_preview_shows_one_kind_and_pages(desk, kept):
    made = kept(
        table(BAD, *(f"acme-one,tdp_w,{100 + n},W,machine=M{n},published,public,acme-sheet," for n in range(150)))
    )
    address = reverse("admin:catalog_specvalue_preview", args=[made.pk])
    assert "Page 1 of 2" in desk.get(address).content.decode()
    refused = desk.get(f"{address}?show=refused").content.decode()
    assert refused.count('<tr class="refused">') == 1
    assert '<tr class="new">' not in refused
    assert desk.get(f"{address}?show=nothing&page=99").status_code == 200


def test_imports_are_private_to_their_author(client, kept):
    made = kept(table(NEW))
    address = reverse("admin:catalog_specvalue_preview", args=[made.pk])
    assert client.get(address).status_code == 302
    client.force_login(User.objects.create_superuser("other"))
    assert client.get(address).status_code == 404
    client.force_login(User.objects.create_user("visitor", is_staff=True))
    assert client.get(address).status_code == 403
    assert client.get(reverse("admin:catalog_specvalue_import")).status_code == 403
    assert client.get(reverse("admin:catalog_specvalue_export", args=["csv"])).status_code == 404


def test_an_upload_needs_a_token(mira, bandwidth):
    from django.test import Client

    client = Client(enforce_csrf_checks=True)
    client.force_login(mira)
    assert upload(client, table(NEW)).status_code == 403


def test_html_in_a_table_is_shown_as_text(desk, bandwidth):
    hostile = "<script>window.pwned=1</script>"
    line = f"{hostile},{hostile},{hostile},{hostile},{hostile},{hostile},{hostile},{hostile},{hostile}"
    page = upload(desk, table(line), name="<script>.csv").content.decode()
    assert hostile not in page
    assert "&lt;script&gt;" in page


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
        content = desk.get(reverse("admin:catalog_specvalue_export", args=[kind])).content
        assert import_plan.plan_upload(kept(content)).counts == {"new": 0, "changed": 0, "same": 5, "refused": 0}, kind


def test_no_exported_cell_is_a_formula(desk, bandwidth):
    bandwidth.note = '=HYPERLINK("https://evil.example")'
    bandwidth.save()
    text = desk.get(reverse("admin:catalog_specvalue_export", args=["csv"])).content.decode()
    assert next(csv.DictReader(io.StringIO(text)))["note"].startswith("'=")
    content = desk.get(reverse("admin:catalog_specvalue_export", args=["xlsx"])).content
    sheet = openpyxl.load_workbook(io.BytesIO(content)).active
    assert [cell.data_type for row in sheet.iter_rows() for cell in row if cell.data_type == "f"] == []


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
        answer = desk.get(reverse("admin:catalog_specvalue_export", args=[kind]) + f"?{query}")
        assert (answer.status_code, answer.url) == (302, reverse("admin:catalog_specvalue_changelist") + "?e=1")


@pytest.mark.parametrize("query", ["p=-3", "p=99", "p=x", "o=77.x", "all="])
def test_an_export_has_every_page_of_the_list(desk, bandwidth, query):
    answer = desk.get(reverse("admin:catalog_specvalue_export", args=["csv"]) + f"?{query}")
    assert (answer.status_code, answer.content.count(b"acme-one")) == (200, 1)


def test_existing_control_characters_do_not_break_export(desk, bandwidth):
    bandwidth.note = "a \x08\x0bctl \ufffe"
    bandwidth.save()
    content = desk.get(reverse("admin:catalog_specvalue_export", args=["xlsx"])).content
    rows = list(openpyxl.load_workbook(io.BytesIO(content)).active.iter_rows(values_only=True))
    assert rows[1][COLUMNS.index("note")] == "a ctl "


def test_control_characters_stand_in_no_reason_and_no_file_name(desk, bandwidth):
    assert "control characters" in upload(desk, table(NEW), reason="a \x08 b").content.decode()
    assert not ValueImport.objects.exists()
    upload(desk, table(NEW), name="may\x08.csv")
    assert ValueImport.objects.get().file_name == "may.csv"


def test_an_export_follows_the_filters_of_the_list(desk, bandwidth):
    SpecValue.objects.create(accelerator=bandwidth.accelerator, field="tdp_w", value="700", unit="W")
    address = reverse("admin:catalog_specvalue_export", args=["csv"])
    assert desk.get(f"{address}?status__exact=public").content.decode().count("acme-one") == 1
    assert desk.get(address).content.decode().count("acme-one") == 2
