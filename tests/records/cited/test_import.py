"""Tables of cited results in the admin: every difference is shown first, what is wrong is named by row and field, all or
nothing is written, and twice the same changes nothing.
"""

import csv
import io

import openpyxl
import pytest
from django.contrib.auth.models import Permission, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext

from stackviz.records.catalog.models import Source, SpecValue
from stackviz.records.catalog.table_imports import Unconfirmed, store_import
from stackviz.records.cited.doubts import ABOVE_THE_PEAK, FAR_TOO_SLOW, LOST_PARAMETER
from stackviz.records.cited.files import HEADER
from stackviz.records.cited.load import load_cited
from stackviz.records.cited.models import CitedEdition, CitedImport, CitedResult
from stackviz.records.cited.table import import_upload, plan_results
from stackviz.web.table_file import read_table
from tests.records.cited.conftest import LINE, OTHER

LIST = "/admin/cited/citedresult/"
NUMBER = "Write the number as 1234.5. Skip the row if there is none; a zero needs a doubt."
NEW = LINE | {"value": "201.5", "date": "2026-02-03", "note": "read again"}


def table(*lines: dict[str, str]) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(HEADER)
    writer.writerows([[line[name] for name in HEADER] for line in lines])
    return out.getvalue().encode()


@pytest.fixture
def mira(db) -> User:
    return User.objects.create_superuser("mira")


@pytest.fixture
def desk(client, mira):
    client.force_login(mira)
    return client


@pytest.fixture
def result(rtx_4090, folder) -> CitedResult:
    load_cited(folder())
    return CitedResult.objects.get(value="189.05")


@pytest.fixture
def stored(result, mira):
    """Stores a table, as an upload does."""

    def store(*lines: dict[str, str], benchmark: str = "llama-bench") -> CitedImport:
        rows = read_table(table(*lines), HEADER)
        about = {"file_name": "t.csv", "reason": "the board of February", "by": mira, "benchmark": benchmark}
        return store_import(CitedImport, rows, **about)

    return store


def confirm(upload: CitedImport, by: User, *, is_leaving_out: bool = False) -> dict[str, int]:
    return import_upload(upload.pk, by=by, seen=plan_results(upload).fingerprint, is_leaving_out=is_leaving_out)


def upload(client, content: bytes, name: str = "llama-bench.csv", **form: str):
    form = {"file": SimpleUploadedFile(name, content), "reason": "the board of February", "benchmark": "", **form}
    return client.post(f"{LIST}import/", form, follow=True)


def problems(plan) -> list[tuple[int, str, str]]:
    return [(row.number, field, why) for row in plan.of("refused") for field, why in row.problems]


# --- the plan ---


def test_the_preview_says_what_becomes_of_every_row(stored):
    plan = plan_results(stored(NEW, LINE | {"value": "190"}, OTHER, LINE | {"unit": "GB/s"}))
    assert [(row.number, row.kind) for row in plan.rows] == [(2, "new"), (3, "changed"), (4, "same"), (5, "refused")]
    new, changed, _same, _refused = plan.rows
    assert (new.device, new.field, new.figure) == (
        "NVIDIA GeForce RTX 4090", "tg128 · Llama 2 7B · Q4_0", "201.5 token/s",
    )  # fmt: skip
    assert [(item.name, item.new) for item in new.differences] == [
        ("accelerator", "NVIDIA GeForce RTX 4090"), ("state", "public"), ("source", "A scoreboard"), ("note", "read again"),
    ]  # fmt: skip
    assert [(item.name, item.old, item.new) for item in changed.differences] == [
        ("value", "189.05 token/s", "190 token/s")
    ]
    assert problems(plan) == [(5, "unit", "GB/s does not belong to llama-bench: token/s — Write one of: token/s.")]


def test_a_plan_writes_nothing(stored):
    made, edition = stored(NEW, LINE | {"value": "190"}), CitedEdition.current()
    plan_results(made)
    assert (CitedResult.objects.count(), CitedResult.history.count(), CitedEdition.current()) == (2, 0, edition)


@pytest.mark.parametrize("count", [1, 300])
def test_a_preview_costs_the_same_queries_for_any_number_of_rows(desk, stored, django_assert_max_num_queries, count):
    names = ["NVIDIA GeForce RTX 4090", "H900"]
    lines = [
        NEW | {"value": str(100 + n), "accelerator": "", "reported_name": names[n % 2], "note": str(n)}
        for n in range(count)
    ]
    made = stored(*lines)
    with django_assert_max_num_queries(18):
        page = desk.get(f"{LIST}import/{made.pk}/")
    assert page.context["plan"].counts["new"] == count


def test_a_row_without_a_sheet_says_why_and_is_stored_unmatched(stored, mira):
    made = stored(NEW | {"accelerator": "", "reported_name": "RTX 4090 Laptop"})
    (row,) = plan_results(made).rows
    shown = {item.name: item.new for item in row.differences}
    assert shown["accelerator"] == "none: “RTX 4090 Laptop” alone decides for no single sheet"
    assert shown["state"] == "no sheet matches"
    confirm(made, mira)
    assert CitedResult.objects.get(value="201.5").state == "unmatched"


def test_a_row_whose_name_decides_for_one_sheet_is_matched(stored, mira, rtx_4090):
    confirm(stored(NEW | {"accelerator": "", "reported_name": "NVIDIA GeForce RTX 4090"}), mira)
    assert CitedResult.objects.get(value="201.5").accelerator == rtx_4090


@pytest.fixture
def bandwidth(rtx_4090) -> SpecValue:
    source = Source.objects.create(key="sheet", title="Sheet", url="https://example.org/")
    return SpecValue.objects.create(
        accelerator=rtx_4090,
        field="memory_bandwidth_gb_s",
        value="1008",
        unit="GB/s",
        status="public",
        is_preferred=True,
        source=source,
    )


def test_row_above_peak_is_flagged_and_not_charted(stored, mira, bandwidth):
    line = {"params": "kernel=copy", "unit": "GB/s", "software": ""}
    made = stored(NEW | line | {"value": "1009"}, NEW | line | {"value": "900"}, benchmark="babelstream")
    states = [{item.name: item.new for item in row.differences}["state"] for row in plan_results(made).rows]
    assert states == ["doubtful: above the published peak", "public"]
    confirm(made, mira)
    assert CitedResult.objects.get(value="1009").state == "doubtful"


@pytest.mark.parametrize(
    ("lines", "doubted", "reason"),
    [
        ([NEW | {"value": "20"}], {"20"}, FAR_TOO_SLOW),  # against the stored result of this accelerator
        ([LINE, LINE | {"value": "100"}], {"189.05", "100"}, LOST_PARAMETER),
        ([NEW | {"value": "9000"}], {"9000"}, ABOVE_THE_PEAK),
        ([NEW], set(), ""),
    ],
)
def test_a_table_and_a_file_doubt_the_same_lines(stored, mira, bandwidth, folder, lines, doubted, reason):
    confirm(stored(*lines), mira)
    doubtful = CitedResult.objects.filter(state="doubtful")
    by_table = dict(doubtful.values_list("value", "reason"))
    CitedResult.objects.all()._raw_delete("default")  # without a trace that somebody deleted them
    load_cited(folder([LINE, OTHER, *(line for line in lines if line != LINE)]), force=True)
    assert by_table == dict(doubtful.values_list("value", "reason")) == dict.fromkeys(doubted, reason)


def test_a_doubt_goes_when_a_table_mends_its_cause(stored, mira, folder):
    load_cited(folder([LINE, LINE | {"value": "100"}, OTHER]), force=True)
    assert set(CitedResult.objects.filter(state="doubtful").values_list("value", flat=True)) == {"189.05", "100"}
    confirm(stored(LINE, LINE | {"value": "190"}), mira)
    assert not CitedResult.objects.filter(state="doubtful").exists()


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"value": "NaN"}, "value", "must be finite and not negative, not 'NaN'"),
        ({"value": "inf"}, "value", "must be finite and not negative, not 'inf'"),
        ({"value": "-1"}, "value", "must be finite and not negative, not '-1'"),
        ({"value": "1e300"}, "value", "must be at most 1e+24 token/s, not '1e300'"),
        ({"value": "1_000"}, "value", "'1_000' is not a number"),
        ({"value": "１２"}, "value", "'１２' is not a number"),
        ({"value": ""}, "value", "'' is not a number"),
        ({"value": "1,234"}, "value", f"'1,234' is not a number — {NUMBER}"),
        ({"value": "0"}, "value", "a result of zero needs a doubt"),
        ({"value": "=cmd|'/c calc'!A0"}, "value", "formulas are not evaluated, write the value itself"),
        ({"note": "=HYPERLINK()"}, "note", "formulas are not evaluated"),
        ({"note": "a \x08\x0bctl"}, "note", "control characters"),
        ({"note": "n" * 601}, "note", "longer than 600 characters — Write shorter text"),
        ({"unit": "furlong"}, "unit", "unknown 'furlong' — Write one of: token/s."),
        ({"unit": "GB/s"}, "unit", "GB/s does not belong to llama-bench: token/s — Write one of: token/s"),
        ({"source": ""}, "source", "missing — Write the key of a source of cited results"),
        ({"source": "hearsay"}, "source", "unknown 'hearsay' — Write the key of a source of cited results; add"),
        ({"accelerator": "nvidia-h900"}, "accelerator", "unknown 'nvidia-h900' — Write the slug of a spec sheet"),
        ({"reported_name": ""}, "reported_name", "missing — Write the name as the source prints it"),
        ({"count": "0"}, "count", "must be a whole number from 1 to 100,000, not '0'"),
        ({"date": "3000-01-01"}, "date", "is in the future"),
        ({"date": "20260101"}, "date", "must be like 2026-11-20"),
        ({"date": "2026-02-30"}, "date", "there is no day 2026-02-30: year, month, day"),
        ({"params": '{"model": {"deep": [1]}}'}, "params", "is not name=value — Write name=value"),
        (
            {"params": "colour=red"},
            "params",
            "no parameter 'colour' — Write name=value; name=value, sorted by name, with some of: backend,",
        ),
        ({"params": "depth=" + "9" * 200}, "params", "depth must be a whole number"),
        ({"params": "model=" + "x" * 300}, "params", "longer than 240 characters"),
        ({"software": "cuda"}, "software", "'cuda' is not name=value"),
    ],
)
def test_wrong_row_is_named_and_others_are_kept(stored, changes, field, words):
    plan = plan_results(stored(NEW, LINE | changes, OTHER))
    assert [(row.number, row.kind) for row in plan.rows] == [(2, "new"), (3, "refused"), (4, "same")]
    ((number, named, why),) = problems(plan)
    assert (number, named) == (3, field)
    assert words in why


def test_a_row_with_too_few_cells_is_refused(desk, result):
    page = upload(desk, table(NEW) + b"a,b\r\n").content.decode()
    assert "The row has 2 cells, not 11. Quote cells that contain the separator of cells." in page


def test_repeated_row_is_refused_with_the_first_number(stored):
    plan = plan_results(stored(NEW, OTHER, NEW, NEW | {"note": "another run"}))
    assert [(row.number, row.kind) for row in plan.rows] == [(2, "new"), (3, "same"), (4, "refused"), (5, "new")]
    why = "Equal to row 2 in every cell. Remove it, or write in the note what is different."
    assert problems(plan) == [(4, "", why)]


# --- confirming ---


def test_confirmed_rows_are_written_with_who_and_why(stored, mira, result):
    counts = confirm(stored(NEW, LINE | {"value": "190"}, OTHER), mira)
    assert counts == {"added": 1, "changed": 1}
    result.refresh_from_db()
    assert (result.value, result.amount, result.is_corrected_here) == ("190", 190.0, True)
    new = CitedResult.objects.get(value="201.5")
    assert (new.data_key, new.state, new.params_key) == (None, "public", result.params_key)
    for row in (new, result):
        latest = row.history.first()
        assert (latest.history_user, latest.history_change_reason) == (mira, "the board of February")
    assert [record.value for record in result.history.all()] == ["190", "189.05"]


def test_the_same_table_again_changes_nothing(stored, mira):
    lines = [NEW, NEW | {"value": "202"}, LINE | {"value": "190"}, OTHER]
    confirm(stored(*lines), mira)
    again = stored(*reversed(lines))
    assert plan_results(again).counts == {"new": 0, "changed": 0, "same": 4, "refused": 0}
    with pytest.raises(Unconfirmed, match="no new or changed"):
        confirm(again, mira)


def test_a_later_load_of_the_files_leaves_what_was_imported(stored, mira, result, folder):
    confirm(stored(NEW, LINE | {"value": "190"}), mira)
    load_cited(folder([LINE | {"value": "170"}, OTHER]), force=True)
    assert set(CitedResult.objects.values_list("value", flat=True)) == {"190", "201.5", OTHER["value"]}


def test_decisions_of_people_stay(stored, mira, result):
    other = CitedResult.objects.get(value=OTHER["value"])
    for row, state, reason in ((result, "withdrawn", "taken back"), (other, "public", "it ran above its clock")):
        row.state, row.reason = state, reason
        row.save()
    confirm(stored(LINE | {"note": "x"}, OTHER | {"doubt": "above the published peak", "note": "y"}), mira)
    result.refresh_from_db()
    other.refresh_from_db()
    assert (result.state, result.reason, result.note) == ("withdrawn", "taken back", "x")
    assert (other.state, other.reason, other.note) == ("public", "it ran above its clock", "y")


def test_an_accepted_figure_that_changes_is_judged_anew(stored, mira, result):
    result.reason = "it ran above its clock"
    result.save()
    confirm(stored(LINE | {"value": "999", "doubt": "printed twice"}), mira)
    result.refresh_from_db()
    assert (result.state, result.reason) == ("doubtful", "printed twice")


def test_refused_rows_stop_the_import_unless_skipped(stored, mira):
    made = stored(NEW, LINE | {"value": "nan"})
    with pytest.raises(Unconfirmed, match="choose to skip these rows"):
        confirm(made, mira)
    assert CitedResult.objects.count() == 2
    confirm(made, mira, is_leaving_out=True)
    made.refresh_from_db()
    assert made.left_out == [[3, "value", f"must be finite and not negative, not 'nan' — {NUMBER}"]]
    assert (made.table, made.counts) == ([], {"added": 1, "changed": 0})
    with pytest.raises(Unconfirmed, match="already been imported"):
        import_upload(made.pk, by=mira, seen="", is_leaving_out=True)


def test_a_changed_database_renews_the_preview(stored, mira, result):
    made = stored(LINE | {"value": "190"})
    seen = plan_results(made).fingerprint
    result.value = "188"
    result.save()
    with pytest.raises(Unconfirmed, match="has changed since this preview"):
        import_upload(made.pk, by=mira, seen=seen, is_leaving_out=False)
    result.refresh_from_db()
    assert result.value == "188"


def test_a_failure_halfway_writes_nothing(stored, mira, monkeypatch):
    made = stored(NEW, LINE | {"value": "190"})
    monkeypatch.setattr(CitedImport, "save", lambda *_a, **_k: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        confirm(made, mira)
    assert (CitedResult.objects.count(), CitedResult.history.count()) == (2, 0)


def test_writing_costs_a_few_queries_for_each_batch(desk, stored):
    def queries(count: int) -> int:
        made = stored(*(NEW | {"value": str(count * 1000 + n)} for n in range(count)))
        seen = plan_results(made).fingerprint
        with CaptureQueriesContext(connection) as captured:
            assert desk.post(f"{LIST}import/{made.pk}/", {"seen": seen}).status_code == 302
        return len(captured)

    few = queries(20)
    assert queries(200) - few <= 12
    assert CitedResult.objects.count() == 202


# --- the pages ---


def test_a_table_is_uploaded_looked_at_and_confirmed(desk, result):
    assert f"{LIST}import/" in desk.get(LIST).content.decode()
    assert "What the file looks like" in desk.get(f"{LIST}import/").content.decode()
    answer = upload(desk, table(NEW, LINE | {"value": "190"}, LINE | {"value": "nan"}))
    page = answer.content.decode()
    assert "<del>189.05 token/s</del>" in page
    assert "<code>value</code>: must be finite" in page
    assert "Skip the refused row" in page
    assert "Import 2 results" in page
    assert CitedResult.objects.count() == 2
    address, seen = answer.redirect_chain[-1][0], answer.context["plan"].fingerprint
    assert "choose to skip" in desk.post(address, {"seen": seen}).content.decode()
    done = desk.post(address, {"seen": seen, "leave_out": "on"}, follow=True).content.decode()
    assert "Imported: 1 results added, 1 changed." in done
    assert "<code>value</code>" in done
    assert "the board of February" in desk.get("/changes/?field=cited").content.decode()


@pytest.mark.parametrize(
    ("content", "name", "words"),
    [
        (table(NEW), "guesses.csv", "No cited benchmark is named &#x27;guesses&#x27;, as the file is"),
        (b"a,b\n1,2\n", "llama-bench.csv", "missing: accelerator, reported_name"),
        (b"", "llama-bench.csv", "empty"),
        (b"PK\x03\x04 and no archive", "llama-bench.csv", "The XLSX file is damaged"),
        (table(NEW).replace(b"RTX", b"R\xe9X") + "é".encode(), "llama-bench.csv", "mixes encodings"),
        (table(*[NEW] * 20_001), "llama-bench.csv", "more than 20000 rows"),
        (
            table(NEW | {"params": "model=" + "x" * 4000}),
            "llama-bench.csv",
            "Line 2 has more than 2000 characters in column 4",
        ),
        (table(NEW) + b'a,"b\n', "llama-bench.csv", "Line 3 is not CSV: unexpected end of data. Check its quotation"),
        (b"\xff\xfea", "llama-bench.csv", "cannot be read as utf-16"),
    ],
)
def test_a_wrong_file_is_answered_beside_the_input(desk, result, content, name, words):
    assert words in upload(desk, content, name).content.decode()
    assert not CitedImport.objects.exists()


def test_a_million_rows_are_refused_unread(desk, result):
    content = table(NEW) * 1
    content += content.splitlines(keepends=True)[1] * 1_000_000
    assert "the limit is 10.0" in upload(desk, content).content.decode()


def test_workbook_named_csv_is_read_as_a_workbook(desk, result):
    book = openpyxl.Workbook()
    book.active.append(HEADER)
    book.active.append([NEW[name] for name in HEADER])
    out = io.BytesIO()
    book.save(out)
    assert upload(desk, out.getvalue()).context["plan"].counts["new"] == 1


def test_the_benchmark_can_be_chosen(desk, result):
    assert upload(desk, table(NEW), "may.csv", benchmark="llama-bench").context["plan"].counts["new"] == 1
    assert "Select a valid choice" in upload(desk, table(NEW), benchmark="guesses").content.decode()


def test_only_who_may_add_and_change_results_may_import(client, stored):
    made = stored(NEW)
    address = f"{LIST}import/{made.pk}/"
    assert client.get(address).status_code == 302
    ada = User.objects.create_user("ada", is_staff=True)
    client.force_login(ada)
    assert client.get(address).status_code == 403
    ada.user_permissions.add(Permission.objects.get(codename="change_citedresult"))
    assert client.get(f"{LIST}import/").status_code == 403
    ada.user_permissions.add(Permission.objects.get(codename="add_citedresult"))
    assert client.get(f"{LIST}import/").status_code == 200
    assert client.get(address).status_code == 404  # a preview is private to its author


def test_html_in_a_table_is_shown_as_text(desk, result):
    hostile = "<script>window.pwned=1</script>"
    page = upload(desk, table(dict.fromkeys(HEADER, hostile), NEW | {"note": hostile})).content.decode()
    assert hostile not in page
    assert "&lt;script&gt;" in page
