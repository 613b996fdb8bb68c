"""Memory models as pictures: every part and every way is in them, copies stand out, no text leaves its place."""

import re

import pytest
from django.template.loader import render_to_string

from stackviz.diagrams.memory import Limit, MemoryModel, Move, Pool, Unit, draw_memory
from tests.diagrams.test_svg import PROBLEMS
from tests.diagrams.test_template import EVIL

DISCRETE = MemoryModel(
    "discrete",
    "A card with its own memory",
    "Two memories.",
    (Pool("host", "Main memory", "DDR", "2 TB", place="Host"), Pool("device", "Device memory", "HBM", place="Card")),
    (Unit("cpu", "Processor", "host", "Host"), Unit("gpu", "GPU", "device", "Card")),
    (
        Move("host", "device", "copy to the card", "over PCIe", "tensor.to('cuda')"),
        Move("device", "host", "copy back", "over PCIe", "tensor.cpu()"),
        Move("gpu", "device", "reads and writes", is_explicit=False),
        Move("gpu", "nowhere", "goes astray"),
    ),
    (Limit("device", "All but what the driver takes."), Limit("nowhere", "Nothing.")),
    ("A batch is read.",),
)
UNIFIED = MemoryModel(
    "unified",
    "One memory for all",
    "One pool.",
    (Pool("unified", "Unified memory", place="Package"),),
    (Unit("cpu", "Processor", "unified", "Package"), Unit("gpu", "GPU", "unified", "Package")),
    (Move("cpu", "unified", "reads and writes", is_explicit=False),),
)


def test_every_part_and_way_is_in_the_picture():
    text = " ".join(re.findall(r">([^<]+)</text>", draw_memory(DISCRETE).svg))
    for word in (
        "Host",
        "Card",
        "Processor",
        "GPU",
        "Main memory",
        "HBM",
        "copy to the card",
        "over PCIe",
        "copy back",
    ):
        assert word in text


def test_copies_that_a_program_asks_for_are_dashed_and_say_so():
    discrete, unified = draw_memory(DISCRETE).svg, draw_memory(UNIFIED).svg
    assert discrete.count("stroke-dasharray") == 2
    assert "a copy the program" in discrete
    assert "stroke-dasharray" not in unified


def test_what_leads_nowhere_is_left_out():
    drawing = draw_memory(DISCRETE)
    assert len(drawing.moves) == 3
    assert len(drawing.limits) == 1
    assert "astray" not in drawing.svg


def test_the_words_beside_it_say_the_same():
    html = render_to_string("diagrams/_memory.html", {"drawing": draw_memory(DISCRETE)})
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html.split("<figcaption>")[1]))
    for word in (
        "Two memories.",
        "A batch is read.",
        "Main memory → Device memory",
        "copy to the card",
        "All but what",
    ):
        assert word in text
    assert re.search(r'<svg [^>]*aria-hidden="true">', html)  # the picture: the words are read instead


def test_hostile_text_stays_text():
    evil = MemoryModel("x", EVIL, EVIL, (Pool("p", EVIL, EVIL, EVIL, EVIL, place=EVIL),), (Unit("u", EVIL, "p", EVIL),))
    html = render_to_string("diagrams/_memory.html", {"drawing": draw_memory(evil)})
    assert "<script" not in html
    assert "<img" not in html


@pytest.mark.parametrize("model", [DISCRETE, UNIFIED, MemoryModel("x", "T", "S", (), ())])
def test_no_text_lies_on_another(browser_page, tmp_path, model):
    path = tmp_path / "memory.svg"
    path.write_text(draw_memory(model).file, encoding="utf-8")
    browser_page.goto(path.as_uri())
    assert browser_page.evaluate(PROBLEMS) == []
