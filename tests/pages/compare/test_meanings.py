"""One row for one meaning, whatever vendors call it; what only one side has is folded; what cannot be says why."""

import re

import pytest
from django.core.cache import cache

from tests.responses import words_of

M4_5090 = "/compare/?a=nvidia-geforce-rtx-5090&a=apple-m4-max-40"
H100_M3 = "/compare/?a=nvidia-h100-sxm5-80gb&a=apple-m3-max-40"
MI300_B200 = "/compare/?a=amd-mi300x&a=nvidia-b200-hgx"


def sheets_at(client, url):
    return client.get(url).context["comparison"].sheets


def row_of(sheets, field, condition=None):
    lines = [line for line in sheets.rows if line.row.field == field and condition in {None, line.row.condition}]
    return lines[0]


def shown(line):
    return [(cell.text, cell.label or cell.condition, cell.factor) for cell in line.cells]


def tile(client, url, title):
    cache.clear()
    return {tile.title: tile for tile in client.get(url).context["comparison"].tiles}[title]


def answer(client, url, title, name):
    """(figure, note) of one subject in a tile."""
    (line,) = [line for line in tile(client, url, title).lines if line.name == name]
    return line.figure, line.note


# --- one row for one meaning ---


@pytest.mark.parametrize("url", [M4_5090, H100_M3, MI300_B200])
def test_many_rows_have_figures_on_both_sides_of_a_small_page(client, curated, db, url):
    cache.clear()
    response = client.get(url)
    both = [line for group in response.context["comparison"].sheets.shared for line in group.rows]
    assert len(both) >= 20
    assert all(cell.text for line in both for cell in line.cells)
    assert len(response.content) < 80_000


def test_units_of_vendors_share_a_row_and_only_one_kind_a_factor(client, curated, db):
    sheets, other = sheets_at(client, M4_5090), sheets_at(client, H100_M3)
    line = row_of(sheets, "sm_count")
    assert (line.row.title, shown(line)) == ("Compute units", [("170", "SM", ""), ("40", "GPU cores", "")])
    assert "gpu_cores" not in {other.row.field for other in sheets.rows}
    clock = row_of(sheets, "boost_clock_mhz")
    assert shown(clock) == [("2,407", "boost clock", ""), ("1,578", "GPU clock", "")]
    assert shown(row_of(sheets, "cuda_cores"))[1] == ("5,120", "GPU lanes", "0.24×")
    price = row_of(sheets, "launch_price_usd")
    assert shown(price) == [
        ("1,999", "card, 2025-01-30", ""),
        ("2,499 / 2,699 / 3,499", "whole machine, 2025-03-12", ""),
    ]
    assert price.cells[1].why == "sold in Macs, not by itself"
    assert shown(row_of(other, "l2_cache_mb")) == [("50", "L2", ""), ("48", "system level cache", "")]
    assert shown(row_of(other, "tdp_w")) == [("700", "board", ""), ("60", "observed, GPU alone", "")]
    # a second figure of a meaning keeps its row
    assert [line.cells[0].text for line in other.rows if line.row.joined == "clock"] == ["1,830", "1,980"]


def test_the_last_cache_of_each_stands_in_one_row(client, curated, db):
    caches = [
        line
        for line in sheets_at(client, "/compare/?a=nvidia-h100-sxm5-80gb&a=amd-mi300x").rows
        if line.row.joined == "last-level-cache"
    ]
    assert [line.row.title for line in caches] == ["Last-level cache", "Last shared cache of the GPU (L2)"]
    assert shown(caches[0]) == [("50", "L2", ""), ("256", "Infinity Cache", "")]
    assert shown(caches[1]) == [("50", "L2", ""), ("32", "L2", "0.64×")]


def test_two_of_one_vendor_compare_in_a_row_of_several(client, curated, db):
    sheets = sheets_at(client, H100_M3 + "&a=apple-m4-max-32&base=apple-m3-max-40")
    (line,) = [line for line in sheets.rows if line.row.joined == "compute-units"]
    assert shown(line) == [("132", "SM", ""), ("40", "GPU cores", ""), ("32", "GPU cores", "0.8×")]


def test_only_differences_shows_what_differs_under_one_meaning(client, curated, db):
    sheets = sheets_at(client, M4_5090 + "&only=differences")
    fields = {line.row.field for group in sheets.shared for line in group.rows}
    assert {"sm_count", "boost_clock_mhz", "cuda_cores"} <= fields
    assert sheets.folded == ()


# --- what one side alone has ---


def test_rows_of_one_side_are_folded_and_counted(client, curated, db):
    sheets = sheets_at(client, M4_5090)
    titles = ["GeForce RTX 5090", "M4 Max (40-core GPU)"]
    assert [alone.head.title for alone in sheets.folded] == titles
    response = client.get(M4_5090)
    page = words_of(response)
    assert len(re.findall(r'<details class="more alone"><summary>', response.content.decode())) == 2
    for alone, title in zip(sheets.folded, titles, strict=True):
        assert f"Only on {title}: {alone.count} rows" in page
    rows = sum(alone.count for alone in sheets.folded) + sum(len(group.rows) for group in sheets.shared)
    assert rows == len(sheets.rows)
    assert all(group.rows for alone in sheets.folded for group in alone.groups)
    of_one = sheets_at(client, "/compare/?a=apple-m4-max-40")
    assert (of_one.folded, of_one.shared) == ((), of_one.groups)
    of_vendor = row_of(sheets_at(client, "/compare/?a=apple-m3-max-40&a=apple-m4-max-40"), "gpu_cores")
    assert (of_vendor.row.title, of_vendor.row.joined, of_vendor.cells[0].is_published) == ("GPU cores", "", True)


# --- what cannot be ---


def test_what_cannot_be_names_its_reason_and_source(client, curated, db):
    sheets = sheets_at(client, M4_5090)
    sparse = row_of(sheets, "bf16_tensor_tflops", "with 2:4 sparsity").cells[1]
    assert (sparse.missing, sparse.text) == ("no matrix units in the GPU before A19 and M5", "")
    assert sheets.sources[sparse.source - 1].url.startswith("https://www.fonearena.com/")
    sheets = sheets_at(client, H100_M3)
    bound = row_of(sheets, "bf16_tensor_tflops", "dense").cells[1]
    assert (bound.text, bound.basis, bound.factor) == ("14.131", "derived", "")
    assert bound.condition == "at most, on the ordinary cores"
    assert bound.why == "no matrix units in the GPU before A19 and M5"
    assert row_of(sheets, "int8_tensor_tops", "dense").cells[1].text == ""
    sheets = sheets_at(client, "/compare/?a=nvidia-h100-sxm5-80gb&a=apple-m5-max-40")
    assert row_of(sheets, "bf16_tensor_tflops", "dense").cells[1].missing == "not published"
    sheets = sheets_at(client, "/compare/?a=nvidia-h100-sxm5-80gb&a=nvidia-v100-sxm2")
    bf16 = row_of(sheets, "bf16_tensor_tflops", "dense").cells[1]
    assert bf16.missing == "needs compute capability 8.0, this is 7.0"
    assert "docs.nvidia.com" in sheets.sources[bf16.source - 1].url


# --- the questions at the top ---


def test_a_mac_answers_for_bf16_power_and_price(client, curated, db):
    m3, m4 = "M3 Max (40-core GPU)", "M4 Max (40-core GPU)"
    bf16 = tile(client, H100_M3, "bf16 matrix product")
    assert bf16.lead == f"H100 SXM5 80GB has at least 70× the bf16 matrix rate of {m3}"
    assert answer(client, H100_M3, "bf16 matrix product", m3) == (
        "≤ 14.131 TFLOPS",
        "at most, on the ordinary cores, derived; no matrix units in the GPU before A19 and M5",
    )
    assert answer(client, H100_M3, "Power", m3) == ("60 W", "observed, GPU alone")
    beside_a_card = "/compare/?a=apple-m3-max-40&a=nvidia-geforce-rtx-4090"
    assert answer(client, beside_a_card, "Price", m3) == ("", "sold in Macs, not by itself")
    assert answer(client, M4_5090, "Power", m4) == ("145 W", "observed, whole machine, at the wall, inferred")
    price = tile(client, M4_5090, "Price")
    assert (price.lead, price.is_known) == ("not like for like", False)
    assert [(line.figure, line.is_beside) for line in price.lines] == [
        ("1,999 USD", True),
        ("2,499 USD", True),
    ]


def test_another_rate_answers_where_no_bf16_rate_is_published(client, curated, db):
    url = "/compare/?a=nvidia-h100-sxm5-80gb&a=apple-m5-max-40"
    assert answer(client, url, "bf16 matrix product", "M5 Max (40-core GPU)") == (
        "16.589 TFLOPS",
        "fp32, dense, derived",
    )
    assert tile(client, url, "bf16 matrix product").lead == "not like for like"


# --- files ---


def test_files_name_the_field_that_stands_in(client, curated, db):
    rows = {(row["field"], row["condition"]): row for row in client.get(M4_5090 + "&format=json").json()["rows"]}
    units = rows["sm_count", ""]
    assert (units["joined"], units["only_on"]) == ("compute-units", None)
    stands_in = units["cells"][1]["stands_in"]
    assert (stands_in["field"], stands_in["value"], stands_in["name"]) == ("gpu_cores", 40.0, "GPU cores")
    assert (units["cells"][1]["missing"], units["cells"][1]["under_another_condition"]) == ("does_not_apply", None)
    assert rows["die_area_mm2", ""]["only_on"] == "nvidia-geforce-rtx-5090"
    markdown = client.get(M4_5090 + "&format=md").content.decode()
    assert "170 (SM)" in markdown
    assert "40 (GPU cores: not comparable)" in markdown
    assert "5,120 (GPU lanes) 0.24×" in markdown
