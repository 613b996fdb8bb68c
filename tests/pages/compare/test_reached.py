"""Tiles of what was measured here or by others: marked by kind, private labs nowhere, never mixed with peaks."""

import csv
import html
import io
import re

import pytest
from django.core.cache import cache
from django.utils.html import strip_tags

from stackviz.records.catalog.models import Accelerator, SpecValue
from stackviz.records.labs.models import Lab
from tests.pages.machines.factories import DGX_FACTS, gemm, h100, make_lab, make_machine, make_report

pytestmark = [pytest.mark.usefixtures("cited"), pytest.mark.django_db]
M4_4090 = "/compare/?a=apple-m4-max-40&a=nvidia-geforce-rtx-4090"
M4_5090 = "/compare/?a=apple-m4-max-40&a=nvidia-geforce-rtx-5090"
M4_GB200 = "/compare/?a=apple-m4-max-40&a=nvidia-gb200"
H100_M3 = "/compare/?a=nvidia-h100-sxm5-80gb&a=apple-m3-max-40"
MI300_B200 = "/compare/?a=amd-mi300x&a=nvidia-b200-hgx"
DECODE = "Decode rate"
CITED = "Cited results, like for like"
MEASURED = "Measured, like for like"


def tiles(client, url):
    cache.clear()
    found = client.get(url).context["comparison"].tiles
    return {tile.title.partition(",")[0] if DECODE in tile.title else tile.title: tile for tile in found}


def decode(rate, spread=0.1):
    samples = [rate - spread, rate, rate + spread] * 3
    params = {"test": "tg128", "model": "Llama 2 7B", "quant": "Q4_0", "backend": "CUDA"}
    return {
        "benchmark": "llama-bench", "device": "CUDA0", "card": 0, "params": params, "unit": "token/s", "samples": samples,
    }  # fmt: skip


def lines(tile):
    return [(line.name, line.figure, line.note) for line in tile.lines]


def test_decode_rates_stand_like_for_like_with_their_setting(client):
    tile = tiles(client, M4_4090)[DECODE]
    assert tile.title == "Decode rate, cited"
    assert tile.setting == "llama-bench: tg128 · Llama 2 7B · Q4_0"
    assert lines(tile) == [("M4 Max (40-core GPU)", "83.1 tokens/s", ""), ("GeForce RTX 4090", "188 tokens/s", "")]
    assert tile.lead == "GeForce RTX 4090 has 2.3× the decode rate of M4 Max (40-core GPU)"
    assert client.get(tile.url).status_code == 200


@pytest.mark.parametrize("url", [M4_5090, H100_M3, MI300_B200])
def test_every_tile_has_a_figure_or_a_reason(client, url):
    for tile in tiles(client, url).values():
        assert tile.lead or tile.lines
        assert tile.lines or tile.rest or tile.is_known
        assert all(line.figure or line.note for line in tile.lines)


def test_what_has_no_decode_rate_or_shared_result_says_so(client):
    line = tiles(client, M4_GB200)[DECODE].lines[1]
    assert (line.figure, line.note) == ("", "no result in this setting; what to expect is below")
    tile = tiles(client, MI300_B200)[DECODE]
    assert (tile.lead, tile.is_known) == ("cannot tell", False)
    assert "what to expect is below" in tile.rest
    tile = tiles(client, "/compare/?a=apple-m4-max-40&a=hailo-8")[CITED]
    assert tile.rest == "no cited result has equal parameters on both"


def test_each_kind_of_work_has_a_factor(client):
    tile = tiles(client, "/compare/?a=nvidia-geforce-rtx-4090&a=apple-m3-max-40")[CITED]
    assert re.fullmatch(
        r"GeForce RTX 4090 generates tokens 2\.\d×, reads prompts 1\d× as fast as M3 Max \(40-core GPU\)", tile.lead
    )
    products = [f"multiplies matrices in {dtype}" for dtype in ("bf16", "fp16", "fp32")]
    assert [line.name for line in tile.lines] == [
        "generates tokens", "reads prompts", "runs single operators", *products, "moves memory",
    ]  # fmt: skip
    generates, reads, *_others = tile.lines
    assert re.fullmatch(r"9 settings: llama-bench 2\.\d×, LocalScore 2\.\d×", generates.note)
    assert re.search(r"; single settings 8\.?\d?× to 18×$", reads.note)
    rows = list(csv.DictReader(io.StringIO(client.get(f"{tile.url}&format=csv").content.decode("utf-8-sig"))))
    assert len([row for row in rows if row["work"] == "generates tokens"]) == 9
    assert client.get(tile.url).status_code == 200


def test_one_benchmark_alone_leads_with_no_factor(client):
    tile = tiles(client, H100_M3)[CITED]
    assert (tile.lead, [line.note for line in tile.lines]) == (
        "",
        [
            "3 settings of LocalScore alone; single settings 4.3× to 8.6×; H100 SXM5 80GB is ahead",
            *["1 setting of Matrix product alone; H100 SXM5 80GB is ahead"] * 3,
        ],
    )


def test_who_is_ahead_in_something_else_is_named(client):
    tile = tiles(client, "/compare/?a=nvidia-h100-sxm5-80gb&a=amd-mi300x")[CITED]
    [memory] = [line for line in tile.lines if line.name == "moves memory"]
    assert (memory.slot, memory.note) == (1, "3 settings of FluidX3D alone; Instinct MI300X is ahead")


def test_several_are_compared_with_the_baseline(client):
    base, m3, b200 = lines(tiles(client, H100_M3 + "&a=nvidia-b200-hgx")[CITED])
    assert base == ("H100 SXM5 80GB", "", "what the others are compared with")
    assert re.fullmatch(r"reads prompts 0\.15× \(LocalScore\), multiplies matrices in bf16 0\.014× .+", m3[2])
    assert re.fullmatch(r"trains 2\.\d×", b200[1])


def test_a_reached_rate_is_not_compared_with_a_peak(client):
    for value in SpecValue.objects.filter(accelerator__slug="nvidia-dgx-spark-gb10", field="bf16_tensor_tflops"):
        value.delete()  # as a sheet without the peak
    tile = tiles(client, "/compare/?a=nvidia-h100-sxm5-80gb&a=nvidia-dgx-spark-gb10")["bf16 matrix product"]
    assert (tile.lead, tile.is_known) == ("not like for like", False)
    line = tile.lines[1]
    assert (line.figure, line.note, line.is_beside) == ("102 TFLOP/s", "matrix product, cited", True)


# --- what machines measured ---


@pytest.fixture
def rtx(curated):
    return Accelerator.objects.get(slug="nvidia-geforce-rtx-5090")


def report_of(lab, name, sheet, *results):
    machine = make_machine(lab, name)
    make_report(machine, facts=DGX_FACTS, cards=[h100(0, sheet)], results=[*results])
    return machine


def test_public_measurements_come_before_cited_results(client, rtx):
    lab = make_lab("north")
    report_of(lab, "desk", rtx, decode(250.0))
    tile = tiles(client, M4_5090)[DECODE]
    cited, measured = lines(tile)
    assert cited == ("M4 Max (40-core GPU)", "83.1 tokens/s", "cited")
    assert measured == ("GeForce RTX 5090", "250 tokens/s", "measured")
    assert client.get(tile.url).status_code == 200
    Lab.objects.filter(pk=lab.pk).update(is_public=False)
    assert "250 tokens/s" not in client.get(M4_5090).content.decode()  # what was drawn before is not shown again


def test_a_machine_is_shown_by_its_own_result(client, rtx):
    lab = make_lab("north")
    report_of(lab, "desk", rtx, decode(200.0))
    report_of(lab, "rack", rtx, decode(250.0))
    tile = tiles(client, "/compare/?a=machine:north/desk&a=machine:north/rack&a=apple-m4-max-40")[DECODE]
    assert MEASURED not in tiles(client, "/compare/?a=machine:north/desk&a=apple-m4-max-40")
    assert [(line.rank, line.name, line.figure) for line in tile.lines] == [
        (1, "rack", "250 tokens/s"),
        (2, "desk", "200 tokens/s"),
        (3, "M4 Max (40-core GPU)", "83.1 tokens/s"),
    ]


def test_two_machines_are_compared_over_all_they_share(client):
    lab, sheet = make_lab("north"), Accelerator.objects.get(slug="nvidia-h100-sxm5-80gb")
    fast = [gemm("bf16", [0.0019, 0.002, 0.0021] * 4), gemm("fp16", [0.002, 0.0021] * 6), decode(250.0)]
    slow = [gemm("bf16", [0.0038, 0.004, 0.0042] * 4), gemm("fp16", [0.002, 0.0021] * 6), decode(125.0)]
    report_of(lab, "rack", sheet, *fast)
    report_of(lab, "desk", sheet, *slow)
    tile = tiles(client, "/compare/?a=machine:north/desk&a=machine:north/rack")[MEASURED]
    assert tile.lead == "rack is faster than desk: Matrix product bf16 2×, llama-bench 2×"
    assert tile.rest == "means of 3 settings, by benchmark and data type"
    by_name = {line.name: line for line in tile.lines}
    assert by_name["Matrix product bf16 8192³"].figure == "1.8× to 2.2×"
    assert by_name["Matrix product fp16 8192³"].note.startswith("cannot tell")


# --- ways on ---


def test_a_comparison_leads_to_models_roofline_and_scaling(client, rtx):
    report_of(make_lab("north"), "desk", rtx)
    page = client.get(H100_M3 + "&a=machine:north/desk").content.decode()
    [url] = re.findall(r'hx-get="(/fit/compared/[^"]+)"', page)
    assert html.unescape(url) == ("/fit/compared/?a=nvidia-h100-sxm5-80gb&a=apple-m3-max-40&a=nvidia-geforce-rtx-5090")
    assert f'<a href="{url}">' in page
    table = strip_tags(client.get(html.unescape(url), headers={"HX-Request": "true"}).content.decode())
    assert "NVIDIA GeForce RTX 5090" in table
    page = html.unescape(client.get(H100_M3).content.decode())
    for path in ("/roofline/", "/scaling/"):
        assert f'href="{path}?a=nvidia-h100-sxm5-80gb&a=apple-m3-max-40"' in page
