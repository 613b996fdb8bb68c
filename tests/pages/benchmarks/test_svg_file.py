"""`?format=svg` of a ranking is the page's drawing as a file: the same rows, dots, figures, and where they are from."""

from xml.etree import ElementTree as ET

import pytest
from django.utils import timezone

from stackviz.pages.benchmarks.benchmark_page import PER_PAGE
from stackviz.pages.benchmarks.ranking import draw_ladder, ladder_of
from stackviz.pages.benchmarks.ranking_svg import MARGIN, WIDTH
from stackviz.pages.benchmarks.selection import CitedChoice
from stackviz.records.catalog.models import Accelerator
from stackviz.records.cited.registry import CITED_BENCHMARKS
from tests.pages.benchmarks.conftest import LLAMA
from tests.pages.benchmarks.test_benchmark_page import LLAMA_QUERY

SVG = "{http://www.w3.org/2000/svg}"


def drawing(client, address):
    answer = client.get(address)
    assert answer.status_code == 200
    assert answer["Content-Type"].startswith("image/svg+xml")
    return ET.fromstring(answer.content)


def texts(root):
    return [element.text or "" for element in root.iter(f"{SVG}text")]


def test_the_file_has_the_rows_figures_and_source_of_the_page(client, make_result):
    make_result(value="999", software={"<script>": "&"})
    address = f"/benchmarks/llama-bench/?{LLAMA_QUERY}&format=svg"
    root = drawing(client, address)
    rows = draw_ladder(ladder_of(CITED_BENCHMARKS["llama-bench"], CitedChoice(chosen=LLAMA))).rows[:PER_PAGE]
    shown = texts(root)
    assert {row.text for row in rows} <= set(shown)
    assert [text for text in shown if text in {row.name for row in rows}][:3] == [row.name for row in rows[:3]]
    assert len(list(root.iter(f"{SVG}circle"))) == sum(1 + len(row.others) for row in rows)
    assert b"<script" not in client.get(address).content
    assert root.find(f"{SVG}title").text == "llama-bench"
    text = " ".join(shown)
    for part in ("tg128", "Llama 2 7B", "Cited, not measured here."):
        assert part in text
    assert "https://github.com/ggml-org/llama.cpp/discussions/15013" in text.replace(" ", "")
    assert f"As of {timezone.now().date().isoformat()}: http://testserver/benchmarks/llama-bench/?test=tg128" in text
    empty = drawing(client, "/benchmarks/llama-bench/?test=tg128&quant=F16&model=Gemma&format=svg")
    assert empty.get("width") == "1160"


def test_a_second_page_draws_its_own_rows(client, make_result):
    for number, accelerator in enumerate(Accelerator.objects.filter(is_public=True)[:130]):
        make_result(slug=accelerator.slug, value=str(50 + number))
    page = client.get(f"/benchmarks/llama-bench/?{LLAMA_QUERY}&page=2").content.decode()
    assert "format=svg&amp;page=2" in page
    root = drawing(client, f"/benchmarks/llama-bench/?{LLAMA_QUERY}&format=svg&page=2")
    drawn = draw_ladder(ladder_of(CITED_BENCHMARKS["llama-bench"], CitedChoice(chosen=LLAMA)))
    shown = texts(root)
    assert drawn.rows[0].name not in shown
    assert drawn.rows[PER_PAGE + 5].name in shown


@pytest.mark.parametrize("key", ["gemm", "operator-time", "mlperf-inference", "attention"])
def test_everything_stays_inside_the_paper(client, key):
    root = drawing(client, f"/benchmarks/{key}/?format=svg")
    height = float(root.get("height"))
    texts, circles = list(root.iter(f"{SVG}text")), list(root.iter(f"{SVG}circle"))
    assert texts
    assert circles
    for element in texts:
        assert MARGIN <= float(element.get("x")) <= WIDTH - 8
        assert 0 < float(element.get("y")) < height
    for element in circles:
        assert MARGIN < float(element.get("cx")) < WIDTH - MARGIN
