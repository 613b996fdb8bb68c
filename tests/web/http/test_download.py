"""Views as files: no cell is a formula, numbers stay numbers, JSON is JSON."""

import csv
import io
import json
import math
from datetime import UTC, datetime

import pytest
from django.utils.translation import gettext_lazy

from stackviz.web.http.download import (
    attributes,
    csv_response,
    json_response,
    of_part,
    safe_cell,
    table_file,
    unsafe_text,
)


@pytest.mark.parametrize(
    "text",
    ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1+1", "＝1", '=HYPERLINK("http://x","y")', "\x00=1"],
)
def test_spreadsheet_formula_is_marked_as_text(text):
    assert safe_cell(text) == "'" + text.replace("\x00", "")


@pytest.mark.parametrize("cell", [-3, -3.5, 0, 1e18, True, None, "H100 SXM", "5-10", "a=b", "", "'quoted"])
def test_numbers_and_plain_texts_stay_as_they_are(cell):
    assert safe_cell(cell) == cell
    assert type(safe_cell(cell)) is type(cell)


@pytest.mark.parametrize("text", ["=1+1", " =1+1", "-1", "H100 SXM", "", "'quoted"])
def test_a_text_made_safe_is_read_back_as_it_was(text):
    assert unsafe_text(safe_cell(text)) == text


def test_words_to_be_translated_are_text():
    assert safe_cell(gettext_lazy("=name")) == "'=name"


def test_a_csv_file_reads_back_as_written():
    response = csv_response("accelerators", ["name", "=head"], [['comma, "quote"\nline', -1.5], [None, "@x"]])
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert response["Content-Disposition"] == 'attachment; filename="accelerators.csv"'
    read = list(csv.reader(io.StringIO(response.content.decode(), newline="")))
    assert read == [["name", "'=head"], ['comma, "quote"\nline', "-1.5"], ["", "'@x"]]


def test_a_table_has_the_same_columns_as_csv_and_json():
    columns = {**attributes("real"), **of_part(lambda row: row or None, {"=twice": lambda row: row.real * 2})}
    assert table_file("t", columns, [0, 3]).content.decode().splitlines() == ["real,'=twice", "0,", "3,6"]
    wrapped = table_file("t", columns, [0, 3], "json", document=lambda rows: {"rows": rows})
    assert json.loads(wrapped.content) == {"rows": [{"real": 0, "=twice": None}, {"real": 3, "=twice": 6}]}
    assert table_file("t", columns, []).content.decode().strip() == "real,'=twice"


def test_a_row_of_another_length_is_a_mistake_of_ours():
    with pytest.raises(ValueError, match="a row of 1 cells under a header of 2"):
        csv_response("x", ["a", "b"], [["only"]])


def test_a_json_file_is_utf8_and_knows_moments():
    response = json_response("ladder", {"name": "昇腾 910B", "at": datetime(2026, 11, 20, tzinfo=UTC), "n": -1})
    assert response["Content-Type"] == "application/json"
    assert response["Content-Disposition"] == 'attachment; filename="ladder.json"'
    assert "昇腾" in response.content.decode()
    assert json.loads(response.content) == {"name": "昇腾 910B", "at": "2026-11-20T00:00:00Z", "n": -1}


def test_a_json_file_has_no_nan():
    with pytest.raises(ValueError):
        json_response("x", [math.nan])


def test_a_file_name_cannot_break_out_of_its_header():
    response = json_response('a"; filename=evil.exe\r\nSet-Cookie: x=1', {})
    assert response["Content-Disposition"] == 'attachment; filename="a-filenameevilexe-set-cookie-x1.json"'
