"""The spec table as a file is exactly the table of the page: same rows, same columns, conditions and sources with it."""

import csv
import io
import json

import pytest

from stackviz.pages.compare.export import plain
from stackviz.pages.compare.spec_table import SheetCell
from stackviz.records.catalog.models import Accelerator
from tests.pages.machines.factories import DGX_FACTS, gemm, h100, make_lab, make_machine, make_report

URL = "/compare/?a=nvidia-h100-sxm5-80gb&a=apple-m3-max-40&a=nvidia-geforce-rtx-4090"


@pytest.fixture(scope="module")
def curated(small_catalogue):
    """A dozen sheets are enough here, for the fixtures of this folder too."""


def csv_rows(response) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(response.content.decode())))


@pytest.mark.parametrize("further", ["", "&only=differences", "&base=apple-m3-max-40"])
def test_csv_json_and_markdown_have_the_rows_of_the_page(client, curated, db, further):
    sheets = client.get(URL + further).context["comparison"].sheets
    shown = [(line.row.field, line.row.condition) for group in sheets.groups for line in group.rows]
    data = json.loads(client.get(f"{URL}{further}&format=json").content)
    assert [(row["field"], row["condition"]) for row in data["rows"]] == shown
    rows = csv_rows(client.get(f"{URL}{further}&format=csv"))
    of_sheets = [row for row in rows if row["kind"] in ("published", "derived")]
    assert [(row["field"], row["condition"]) for row in of_sheets] == shown
    markdown = client.get(f"{URL}{further}&format=md").content.decode()
    tables = [line for line in markdown.partition("## Stack")[0].splitlines() if line.startswith("| ")]
    assert len(tables) == len(shown) + 2 * len(sheets.groups)


def test_csv_cell_has_condition_source_and_factor(client, curated, db):
    (row,) = [row for row in csv_rows(client.get(URL + "&format=csv")) if row["field"] == "memory_bandwidth_gb_s"]
    assert (row["H100 SXM5 80GB"], row["unit"]) == ("3350.0", "GB/s")
    assert row["GeForce RTX 4090 factor"] == "0.3"
    assert row["H100 SXM5 80GB better"] == "yes"
    assert row["H100 SXM5 80GB source address"].startswith("http")


def test_file_marks_missing_and_other_conditions(client, curated, db):
    rows = {(row["field"], row["condition"]): row for row in csv_rows(client.get(URL + "&format=csv"))}
    fp16 = rows["fp16_tensor_tflops", "dense, fp16 accumulate"]
    assert (fp16["H100 SXM5 80GB"], fp16["H100 SXM5 80GB condition"]) == ("989.4", "dense, fp32 accumulate")
    assert fp16["H100 SXM5 80GB factor"] == ""
    assert rows["fp64_tflops", "dense"]["M3 Max (40-core GPU)"] == "Metal has no fp64"
    assert rows["pcie", ""]["M3 Max (40-core GPU) source address"].startswith("http")
    assert rows["mig_instances", ""]["M3 Max (40-core GPU)"] == "does not apply"
    data = client.get(URL + "&format=json").json()
    cells = {(row["field"], row["condition"]): row["cells"] for row in data["rows"]}
    (first, *_others) = cells["fp16_tensor_tflops", "dense, fp16 accumulate"]
    assert first["under_another_condition"]["condition"] == "dense, fp32 accumulate"
    assert "factor" not in first
    assert cells["interconnect", ""][1] == {
        "subject": "apple-m3-max-40", "missing": "not_published", "says": "not published",
        "under_another_condition": None, "stands_in": None, "source": None,
    }  # fmt: skip


def test_every_file_figure_has_kind_and_source(client, curated, db):
    data = json.loads(client.get(URL + "&format=json").content)
    assert {row["kind"] for row in data["rows"]} == {"published", "derived"}
    cells = [cell for row in data["rows"] if row["kind"] == "published" for cell in row["cells"]]
    cells = [cell.get("stands_in") or cell for cell in cells]
    cells = [cell for cell in cells if "value" in cell]
    assert len(cells) > 100
    assert all(cell["source"]["url"].startswith("http") for cell in cells)
    assert data["baseline"] == "nvidia-h100-sxm5-80gb"


def test_a_file_names_the_frozen_address_that_shows_it_again(client, curated, db):
    data = json.loads(client.get(URL + "&format=json").content)
    again = json.loads(client.get(data["frozen_address"] + "&format=json").content)
    # The tables of drivers keep no past.
    assert again["rows"] == [row for row in data["rows"] if row["field"] != "nvidia_driver"]
    assert again["at"] == data["at"]


def test_formula_or_markup_names_stay_text(client, curated, db):
    machine = make_machine(make_lab("north"), "box")
    machine.name = "=cmd|' /C calc'!A0 | <b>"
    machine.save()
    sheet = Accelerator.objects.get(slug="nvidia-h100-sxm5-80gb")
    make_report(machine, facts=DGX_FACTS, cards=[h100(0, sheet)])
    url = "/compare/?a=machine:north/box&a=apple-m3-max-40&format="
    header = next(csv.reader(io.StringIO(client.get(url + "csv").content.decode())))
    assert header[6].startswith("'=cmd")
    lines = client.get(url + "md").content.decode().splitlines()
    assert all("<b>" not in line for line in lines)
    counts = {line.replace("\\|", "").count("|") for line in lines if line.startswith("| ")}
    assert counts == {3, 4}  # tables of facts have a column for the machine alone


def test_a_private_machine_is_in_no_file_of_somebody_else(client, curated, db):
    make_report(make_machine(make_lab("south", is_public=False), "sealed"), facts=DGX_FACTS)
    response = client.get("/compare/?a=machine:south/sealed&a=apple-m3-max-40&format=json")
    data = json.loads(response.content)
    assert [subject["subject"] for subject in data["subjects"]] == ["apple-m3-max-40"]
    assert "sealed" not in response.content.decode()


def test_several_variants_stay_a_text():
    assert plain(SheetCell(text="48 / 64", amount=64e9)) == "48 / 64"
    assert plain(SheetCell(text="1,978.9", amount=1.9e15)) == 1978.9


MACHINES = "/compare/?a=machine:north/dgx-07&a=machine:north/box&a=apple-m3-max-40"


@pytest.fixture
def two_machines(dgx, lab):
    """One with a sheet, one whose card no sheet matches and whose run failed."""
    card = h100(0) | {"reported_name": "Engineering Sample"}
    failed = gemm("bf16", [], state="failed", reason="out of memory")
    make_report(make_machine(lab, "box"), facts=DGX_FACTS, cards=[card], results=[failed, gemm("fp32", [0.01] * 8)])


def test_json_has_every_result_and_fact_and_the_stacks(client, two_machines):
    data = json.loads(client.get(MACHINES + "&format=json").content)
    rows = {row["setting"]: row for row in data["measured"]}
    assert list(rows) == ["bf16 8192³", "fp32 8192³"]
    first, second = rows["bf16 8192³"]["cells"]
    assert first["rate_si"] == pytest.approx(2 * 8192**3 / 0.00141)
    assert (first["samples"], first["unit_si"], first["share_of_peak"]) == (
        8,
        "FLOP/s",
        pytest.approx(0.788, abs=0.001),
    )
    assert (second["missing"], second["state"]) == ("out of memory", "failed")
    assert rows["fp32 8192³"]["cells"][0] == {"subject": "machine:north/dgx-07", "missing": "not measured"}
    receipt = first["receipt"].removeprefix("http://testserver")
    assert client.get(receipt).status_code == 200
    torch = next(row for row in data["reported"] if row["title"] == "PyTorch")
    assert [cell["text"] for cell in torch["cells"]] == ["2.8.0+cu128", "2.8.0+cu128"]
    assert [layer["layer"] for layer in data["stacks"]][:2] == ["application", "framework"]
    assert data["left_out"] == ["what others measured: see /benchmarks/"]


def test_csv_has_every_result_and_fact_with_their_kind(client, two_machines):
    rows = csv_rows(client.get(MACHINES + "&format=csv"))
    assert {row["kind"] for row in rows} == {"published", "derived", "probed", "measured", "stack", "left-out"}
    measured = {row["figure"]: row for row in rows if row["kind"] == "measured"}
    row = measured["Matrix product bf16 8192³"]
    assert (row["field"], row["unit"], row["condition"]) == ("gemm", "TFLOP/s", "accelerator")
    assert (row["dgx-07"], row["dgx-07 condition"], row["box"]) == ("779.795", "cuda:0", "out of memory")
    assert row["M3 Max (40-core GPU)"] == ""
    torch = next(row for row in rows if row["figure"] == "PyTorch")
    assert (torch["dgx-07"], torch["box"]) == ("2.8.0+cu128", "2.8.0+cu128")
    assert not any(None in row or None in row.values() for row in rows)


def test_the_charts_over_size_have_exactly_the_rows_of_the_file(client, lab, dgx):
    settings = [(dtype, side) for dtype in ("bf16", "fp32") for side in (2048, 4096, 8192)]
    for name, scale in (("one", 1.0), ("two", 1.34)):
        times = [scale * (1 + at / 10) * side**3 / 4e14 for at, (_dtype, side) in enumerate(settings)]
        results = [gemm(dtype, [time] * 8, side=side) for (dtype, side), time in zip(settings, times, strict=True)]
        make_report(make_machine(lab, name), facts=DGX_FACTS, cards=[h100(0)], results=results)
    address = "/compare/?a=machine:north/one&a=machine:north/two"
    measured = [row for row in csv_rows(client.get(f"{address}&format=csv")) if row["kind"] == "measured"]
    rows = {(name, float(f"{float(row[name]):.5g}")) for row in measured for name in ("one", "two")}
    figures = client.get(f"{address}&format=plotly").json().values()
    drawn = {(trace["name"], float(f"{y:.5g}")) for figure in figures for trace in figure["data"] for y in trace["y"]}
    assert len(drawn) == 12
    assert drawn == rows


def test_markdown_has_results_stacks_and_what_it_leaves_out(client, two_machines):
    text = client.get(MACHINES + "&format=md").content.decode()
    assert "| Matrix product bf16 8192³ | 780 TFLOP/s 79 % ±0 % | out of memory |" in text
    assert "## Stack: Framework" in text
    assert "Not in this file: what others measured" in text


@pytest.mark.parametrize("form", ["csv", "json", "md"])
def test_files_of_now_and_then_cost_a_fixed_number_of_queries(client, two_machines, form, django_assert_num_queries):
    at = json.loads(client.get(STACKS + "&format=json").content)["frozen_address"]
    text = client.get(f"{at}&format={form}").content.decode()
    for part in ("780" if form == "md" else "779", "2.8.0+cu128", "MPSGraph", "done by"):
        assert part in text
    # the editions; with machines these, snapshots with cards and findings, series and their results
    for address, queries in ((URL, 1), (MACHINES, 7)):
        client.get(address)
        with django_assert_num_queries(queries):
            assert client.get(f"{address}&format={form}").status_code == 200


STACKS = "/compare/?a=machine:north/dgx-07&a=stack:apple-metal&a=apple-m3-max-40&a=apple-m4-max-40"


def test_csv_has_every_stack_with_versions_states_and_sources(client, two_machines):
    rows = csv_rows(client.get(STACKS + "&format=csv"))
    data = json.loads(client.get(STACKS + "&format=json").content)
    of_stacks = [row for row in rows if row["kind"] == "stack"]
    named = [row["role"] for layer in data["stacks"] for row in layer["rows"] if row["role"]]
    assert [row["field"] for row in of_stacks] == named
    (framework,) = [row for row in of_stacks if row["field"] == "framework"]
    assert framework["group"] == "Stack: Framework"
    assert framework["dgx-07"].startswith("PyTorch 2.8.0+cu128")
    assert (framework["dgx-07 basis"], framework["Apple Metal on macOS basis"]) == ("reported", "described")
    assert framework["Apple Metal on macOS source address"].startswith("http")
    # sheets of one stack share a column of the drawing, and each has it here
    assert framework["M3 Max (40-core GPU)"] == framework["M4 Max (40-core GPU)"] == framework["Apple Metal on macOS"]
    collectives = next(row for row in of_stacks if row["dgx-07"].startswith("NCCL"))
    assert collectives["Apple Metal on macOS"].startswith("done by MLX")


def test_csv_names_what_it_leaves_out(client, curated, db):
    data = json.loads(client.get(URL + "&format=json").content)
    for address in (URL, data["frozen_address"]):
        left_out = json.loads(client.get(address + "&format=json").content)["left_out"]
        rows = csv_rows(client.get(address + "&format=csv"))
        assert [row["figure"] for row in rows if row["kind"] == "left-out"] == left_out
    assert left_out[0] == "what others measured: see /benchmarks/"
    assert "findings: the rules of today judge reports anew" in left_out
