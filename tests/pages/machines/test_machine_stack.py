"""A machine's page on a site with the curated stacks: the eight layers, in words, and what they cost."""

import re

import pytest

from stackviz.records.catalog.models import Accelerator
from tests.pages.machines.factories import START, days, gemm, h100, make_lab, make_machine, make_report, warning
from tests.pages.machines.test_machine import GEMM_S, URL, table_of, text_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("curated")]


@pytest.fixture
def machine():
    return make_machine(make_lab(), "dgx-07")


@pytest.fixture
def sheet():
    return Accelerator.objects.get(slug="nvidia-h100-sxm5-80gb")


def test_the_stack_of_the_latest_report_has_eight_layers(client, machine):
    make_report(machine, cards=[h100()])
    drawing = table_of(text_of(client), "stack")
    layers = re.findall(r'class="layer layer-(\w+)"', drawing)
    assert layers == ["application", "framework", "compiler", "library", "platform", "driver", "os", "hardware"]
    assert "2.8.0+cu128" in drawing
    assert "NVIDIA H100 80GB HBM3" in drawing


def test_machine_page_query_count_is_constant(client, machine, sheet, django_assert_num_queries):
    results = [gemm(dtype, GEMM_S, side=side) for dtype in ("bf16", "fp16") for side in (4096, 8192)]
    make_report(machine, cards=[h100(0, sheet)], results=results)
    text_of(client)  # described stacks are kept in memory after the first page
    for number in range(1, 7):
        make_report(machine, at=START + days(number), cards=[h100(0, sheet)], findings=[warning()], results=results)
        if number in (1, 6):
            with django_assert_num_queries(11):  # four for the line of the headline
                text_of(client)


def test_the_page_stays_small(client, machine, sheet):
    results = [gemm("bf16", GEMM_S, side=64 * number, conditions={"x": "y" * 200}) for number in range(1, 61)]
    make_report(machine, cards=[h100(index, sheet) for index in range(8)], results=results)
    assert len(text_of(client).encode()) < 75_000


def test_the_stack_in_words_is_one_link_away_and_a_part_for_htmx(client, machine):
    make_report(machine)
    link = re.search(r'hx-get="([^"]+)" hx-trigger="intersect once"><p><a href="([^"]+)">', text_of(client))
    assert link.groups() == ("?format=words", "?format=words")
    page, part = (
        text_of(client, URL + "?format=words"),
        text_of(client, URL + "?format=words", headers={"HX-Request": "true"}),
    )
    assert "<dt>Framework</dt>" in part
    assert 'scope="rowgroup"' in part
    assert "<h1>" not in part
    assert part.strip() in page
