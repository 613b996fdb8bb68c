"""`/compare/` answers with one page of columns, for any address, at a fixed number of queries."""

import html
import re

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache

from stackviz.records.catalog.models import Accelerator, SpecValue
from tests.pages.machines.factories import DGX_FACTS, START, days, gemm, h100, make_lab, make_machine, make_report
from tests.responses import words_of

THREE = "/compare/?a=nvidia-h100-sxm5-80gb&a=apple-m3-max-40&a=machine:north/dgx-07"
LAYERS = [
    "Application",
    "Framework",
    "Compiler",
    "Libraries",
    "Compute platform",
    "Driver",
    "Operating system",
    "Hardware",
]


def without_token(response) -> str:
    return re.sub(r'name="csrfmiddlewaretoken" value="[^"]+"', "", response.content.decode())


def test_sheets_and_machine_are_three_columns(client, dgx):
    response = client.get(THREE)
    comparison = response.context["comparison"]
    assert [head.title for head in comparison.heads] == ["H100 SXM5 80GB", "M3 Max (40-core GPU)", "dgx-07"]
    assert [layer.title for layer in comparison.stacks.drawing.layers] == LAYERS
    assert all(len(row.cells) == 3 for layer in comparison.stacks.drawing.layers for row in layer.rows)


def test_figures_compare_with_factor_condition_and_source(client, dgx, curated):
    response = client.get(THREE)
    rows = {(line.row.field, line.row.condition): line.cells for line in response.context["comparison"].sheets.rows}
    h100, max40 = rows["memory_bandwidth_gb_s", ""]
    assert (h100.text, max40.text) == ("3,350", "400")
    assert (h100.factor, max40.factor) == ("", "0.12×")
    assert (h100.is_best, max40.is_best) == (True, False)
    assert h100.source
    assert rows["bf16_tensor_tflops", "dense"][0].text == "989.4"
    assert rows["bf16_tensor_tflops", "dense"][1].missing == "no matrix units in the GPU before A19 and M5"
    assert "not published" in words_of(response)
    rows = response.context["comparison"].sheets.rows
    by_condition = {line.row.condition: line.cells[0].text for line in rows if line.row.field == "fp16_tensor_tflops"}
    assert by_condition == {"dense": "989.4", "with 2:4 sparsity": "1,978.9"}
    sheets = client.get("/compare/?a=nvidia-h100-sxm5-80gb&a=apple-m3-max-40").context["comparison"].sheets
    cells = [cell for line in sheets.rows if not line.is_derived for cell in line.cells]
    assert all(cell.source for cell in cells if cell.text)
    assert all(source.url.startswith("http") for source in sheets.sources)


def test_machine_shares_the_column_of_its_accelerator(client, dgx):
    sheets = client.get(THREE).context["comparison"].sheets
    assert [head.title for head in sheets.heads] == ["H100 SXM5 80GB", "M3 Max (40-core GPU)"]
    assert [head.title for head in sheets.also[0]] == ["dgx-07"]
    assert "H100 SXM5 80GB and each card of dgx-07" in words_of(client.get(THREE))
    response = client.get(f"{THREE}&base=machine:north/dgx-07")
    assert response.context["comparison"].sheets.base.title == "H100 SXM5 80GB"
    [bandwidth] = [
        line for line in response.context["comparison"].sheets.rows if line.row.field == "memory_bandwidth_gb_s"
    ]
    assert [cell.factor for cell in bandwidth.cells] == ["", "0.12×"]


def test_machine_results_are_bars_under_what_holds_for_all(client, dgx):
    response = client.get(THREE)
    measured, page = response.context["comparison"].measured, response.content.decode()
    (row,) = measured.rows
    assert row.cells[0].label == "780 TFLOP/s"
    assert row.cells[0].peak == "79 %"
    assert float(row.cells[0].meter.p) == pytest.approx(78.8, abs=0.1)
    [kind] = measured.kinds
    assert kind.matrices[0][0].formula == "2·m·n·k / s"
    assert [(head.name, head.words) for head in kind.heads] == [
        ("dgx-07", ("cuda:0, NVIDIA H100 80GB HBM3", "torch 2.8.0+cu128", "8 samples each"))
    ]
    assert page.count("/receipts/") == 1
    assert "<small><span>79 %</span> <span>±0 %</span></small> 780" in re.sub(r"\s+", " ", page)


def test_each_chart_is_drawn_and_fetches_its_figure(client, dgx):
    sizes = [gemm("bf16", [0.001 * side] * 8, side=side) for side in (1024, 2048, 4096)]
    make_report(dgx, at=START + days(1), facts=DGX_FACTS, results=sizes)
    page = client.get(THREE).content.decode()
    [(name, url)] = re.findall(r'data-chart="(chart-\S+)" data-chart-url="([^"]+)"', page)
    figures = client.get("/compare/" + html.unescape(url)).json()
    assert list(figures) == [name]
    assert figures[name]["data"][0]["name"] == "dgx-07"
    assert f"--h:{figures[name]['layout']['height']}" in page
    assert re.search(r'<svg class="plot".*<path d="M0 [^"]+L100 [^"]+"', page, re.DOTALL)


def test_words_and_boxes_are_parts_for_htmx_and_else_pages(client, dgx, curated):
    link = re.search(r'hx-trigger="intersect once"><p><a href="([^"]+)">', client.get(THREE).content.decode())
    url = "/compare/" + html.unescape(link[1])
    page, part = (client.get(url, headers=headers).content.decode() for headers in ({}, {"HX-Request": "true"}))
    assert "H100 SXM5 80GB: PyTorch" in part
    assert 'scope="rowgroup"' in part
    assert "<h1>" not in part
    assert part.strip() in page
    url = "/compare/?a=stack:nvidia-cuda&a=stack:apple-metal&format=boxes"
    part = client.get(url, headers={"HX-Request": "true"}).content.decode()
    assert part.startswith('<div class="stack-frame')
    assert "<details" in part
    assert b"<html" in client.get(url).content
    page = client.get(THREE).content.decode()
    assert 'hx-get="?a=stack:nvidia-cuda&amp;a=stack:apple-metal&amp;format=boxes"' in page


def test_verdict_names_factor_and_gaps(client, dgx):
    tiles = {tile.title: tile for tile in client.get(THREE).context["comparison"].tiles}
    lead = "H100 SXM5 80GB has 8.4× the memory bandwidth of M3 Max (40-core GPU)"
    assert tiles["Memory bandwidth"].lead == lead
    [line] = tiles["Measured: Matrix product bf16 8192³"].lines
    assert (line.figure, line.note) == ("780 TFLOP/s", "cuda:0, ±0 %, 79 % of its published peak")
    lead = "M3 Max (40-core GPU), in one framework only: collectives (MLX), sparse matrices (PyTorch)"
    assert tiles["Missing in software"].lead == lead


def test_only_differences_folds_what_is_equal(client, dgx):
    url = "/compare/?a=machine:north/dgx-07&a=nvidia-h100-sxm5-80gb"
    folded, whole = client.get(url + "&only=differences"), client.get(url)
    assert b">Memory bandwidth, GB/s" in whole.content
    assert b">Memory bandwidth, GB/s" not in folded.content
    assert folded.context["toggle_url"] == "?a=machine:north/dgx-07&a=nvidia-h100-sxm5-80gb"


@pytest.mark.parametrize("count", [2, 6])
def test_compare_page_query_count_is_constant(client, dgx, lab, count, django_assert_num_queries):
    for number in range(1, count):
        other = make_machine(lab, f"box-{number}")
        for _report in range(number * 3):
            make_report(other, facts=DGX_FACTS, cards=[h100(0)], results=[gemm("bf16", [0.002] * 8)])
    url = "/compare/?a=nvidia-h100-sxm5-80gb&" + "&".join(f"a=machine:north/box-{n}" for n in range(1, count))
    client.get(url)  # what is public and the described stacks are read from now on
    # editions, public measurements, machines, cards, findings; snapshots of several machines
    with django_assert_num_queries(5 if count == 2 else 6):
        assert client.get(url).status_code == 200
    cache.clear()
    # again, then: series, results; cards and torch of the newest report are read already
    with django_assert_num_queries(7 if count == 2 else 8):
        assert client.get(url).status_code == 200


def test_reports_and_corrections_show_at_once(client, dgx):
    client.get(THREE)
    make_report(dgx, at=START + days(1), facts=DGX_FACTS | {"python.version": "3.14.9"})
    assert "3.14.9" in client.get(THREE).content.decode()
    client.get(THREE)
    value = SpecValue.objects.get(accelerator__slug="apple-m3-max-40", field="memory_bandwidth_gb_s", is_preferred=True)
    value.value = "411"
    value.save()
    assert ">411<" in client.get(THREE).content.decode()


@pytest.mark.parametrize(
    ("query", "status", "says"),
    [
        ("", 200, "side by side"),
        ("a=nvidia-h100-sxm5-80gb", 200, "Compare with another"),
        ("a=no-such-card", 404, "Unknown subject"),
        ("a=no-such-card&a=nvidia-h100-sxm5-80gb", 200, "Unknown subject"),
        ("a=nvidia-h100-sxm5-80gb&a=nvidia-h100-sxm5-80gb&a=apple-m3-max-40", 200, "it is shown once"),
        ("a=machine:north/dgx-99", 404, "Unknown subject"),
        ("a=stack:nope", 404, "Unknown subject"),
        ("a=" + "x" * 5000, 404, "does not name a subject"),
        ("a=%00%ff&a=..%2F..%2Fetc", 404, "does not name a subject"),
        ("&".join(f"a=gpu-{n}" for n in range(50)), 404, "50 in all"),
    ],
)
def test_a_bad_address_is_answered_with_what_is_wrong(client, lab, query, status, says):
    response = client.get(f"/compare/?{query}")
    assert response.status_code == status
    assert says in words_of(response)


def test_hostile_subjects_are_only_ever_text(client, lab):
    page = client.get("/compare/", {"a": "<script>alert(1)</script>"}).content.decode()
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page


def test_a_private_machine_is_compared_by_members_alone(client, curated, db):
    secret = make_lab("south", is_public=False)
    make_report(make_machine(secret, "sealed"), facts=DGX_FACTS)
    there, nowhere = client.get("/compare/?a=machine:south/sealed"), client.get("/compare/?a=machine:south/absent")
    assert there.status_code == nowhere.status_code == 404
    assert without_token(there).replace("sealed", "absent") == without_token(nowhere)
    user = User.objects.create_user("ada")
    secret.memberships.create(user=user)
    client.force_login(user)
    assert client.get("/compare/?a=machine:south/sealed&a=nvidia-h100-sxm5-80gb").status_code == 200


def test_htmx_gets_a_part_and_no_page_loads_plotly(client, dgx):
    part = client.get(THREE, headers={"hx-request": "true"}).content
    whole = client.get(THREE, headers={"hx-request": "true", "hx-history-restore-request": "true"}).content
    assert b"<html" not in part
    assert b"<html" in whole
    page = client.get(THREE).content.decode()
    assert not re.search(r'<script[^>]+src="[^"]*plotly', page)
    assert 'data-plotly="' in page


def test_hidden_sheet_is_not_compared(client, dgx):
    Accelerator.objects.filter(slug="nvidia-h100-sxm5-80gb").update(is_public=False)
    page = client.get("/compare/?a=machine:north/dgx-07&a=apple-m3-max-40").content.decode()
    assert "H100 SXM5" not in page
    assert "3,350" not in page
    assert "of peak" not in page


SHARED = "shared by processor and GPU"
MORE = "H100 SXM5 80GB has 1.6× the memory of desk-mac"


@pytest.mark.parametrize(
    ("of_card", "facts", "lead", "answer"),
    [
        ({"memory_bytes": 48 * 2**30}, {}, MORE, ("48 GiB", "probed")),
        ({}, {"memory.total_bytes": 48 * 2**30, "memory.gpu_limit_bytes": 36 * 2**30}, MORE, ("48 GiB", f"{SHARED}, which may use 36 GiB, probed")),
        ({}, {"memory.total_bytes": 48 * 2**30}, MORE, ("48 GiB", f"{SHARED}, probed")),
        ({}, {}, "known only for H100 SXM5 80GB", ("", "not reported")),
    ],
)  # fmt: skip
def test_a_mac_is_compared_by_its_own_memory(client, lab, of_card, facts, lead, answer):
    """Never by the 128 GB that its chip is sold with at most."""
    sheet = Accelerator.objects.get(slug="apple-m3-max-40")
    card = {
        "vendor": "apple", "kind": "soc", "reported_name": "Apple M3 Max", "accelerator": sheet, "memory_bytes": None,
        "facts": {"gpu_cores": 40, "unified_memory": True}, "index": 0,
    }  # fmt: skip
    make_report(make_machine(lab, "desk-mac"), facts={"os.name": "macOS"} | facts, cards=[card | of_card])
    page = client.get("/compare/?a=machine:north/desk-mac&a=nvidia-h100-sxm5-80gb")
    memory = {tile.title: tile for tile in page.context["comparison"].tiles}["Memory"]
    assert memory.lead == lead
    assert (memory.lines[0].figure, memory.lines[0].note) == answer
    assert "128" not in memory.lines[0].note


def hardware_and_driver(client, *slugs) -> list[set[str]]:
    response = client.get("/compare/?" + "&".join(f"a={slug}" for slug in slugs))
    layers = response.context["comparison"].stacks.drawing.layers
    columns = zip(*(row.cells for layer in layers for row in layer.rows), strict=True)
    boxes = [[placed.box for cell in column for placed in cell.placed] for column in columns]
    return [{box.component for box in column if box.state != "absent"} for column in boxes]


def test_a_sheet_is_drawn_without_what_its_architecture_lacks(client, curated):
    max3, hopper = hardware_and_driver(client, "apple-m3-max-40", "nvidia-h100-sxm5-80gb")
    assert "neural-accelerator" not in max3
    assert {"gsp-firmware", "tensor-core"} <= hopper
    max5, pascal = hardware_and_driver(client, "apple-m5-max-40", "nvidia-geforce-gtx-1080-ti")
    assert "neural-accelerator" in max5
    assert not {"gsp-firmware", "tensor-core"} & pascal
    # in one column is what one of its sheets has
    (together,) = hardware_and_driver(client, "nvidia-geforce-gtx-1080-ti", "nvidia-h100-sxm5-80gb")
    assert {"gsp-firmware", "tensor-core"} <= together
