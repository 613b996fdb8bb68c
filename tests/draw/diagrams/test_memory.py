"""Memory models as pictures: every part and every way is in them, copies stand out, no text leaves its place."""

import re

import pytest

from stackviz.draw.diagrams.memory import ComputeUnit, Limit, MemoryModel, Move, Pool, draw_memory
from stackviz.web.parts import render_part
from tests.draw.diagrams.test_svg import PROBLEMS
from tests.draw.diagrams.test_template import EVIL

DISCRETE = MemoryModel(
    key="discrete",
    title="A card with its own memory",
    summary="Two memories.",
    pools=(
        Pool(key="host", name="Main memory", what="DDR", size="2 TB", enclosure="Host"),
        Pool(key="device", name="Device memory", what="HBM", enclosure="Card"),
    ),
    units=(ComputeUnit("cpu", "Processor", "host", "Host"), ComputeUnit("gpu", "GPU", "device", "Card")),
    moves=(
        Move(start="host", end="device", name="copy to the card", how="over PCIe", call="tensor.to('cuda')"),
        Move(start="device", end="host", name="copy back", how="over PCIe", call="tensor.cpu()"),
        Move(start="gpu", end="device", name="reads and writes", is_explicit=False),
        Move(start="gpu", end="nowhere", name="goes astray"),
    ),
    limits=(Limit("device", "All but what the driver takes."), Limit("nowhere", "Nothing.")),
    steps=("A batch is read.",),
)
UNIFIED = MemoryModel(
    key="unified",
    title="One memory for all",
    summary="One pool.",
    pools=(Pool(key="unified", name="Unified memory", enclosure="Package"),),
    units=(ComputeUnit("cpu", "Processor", "unified", "Package"), ComputeUnit("gpu", "GPU", "unified", "Package")),
    moves=(Move(start="cpu", end="unified", name="reads and writes", is_explicit=False),),
)


def test_every_part_is_drawn_copies_dashed_and_strays_left_out():
    text = " ".join(re.findall(r">([^<]+)</text>", draw_memory(DISCRETE).svg))
    ways = ("copy to the card", "over PCIe", "copy back")
    for word in ("Host", "Card", "Processor", "GPU", "Main memory", "HBM", *ways):
        assert word in text
    discrete, unified = draw_memory(DISCRETE).svg, draw_memory(UNIFIED).svg
    assert discrete.count("stroke-dasharray") == 2
    assert "explicit copy" in discrete
    assert "stroke-dasharray" not in unified
    drawing = draw_memory(DISCRETE)
    assert len(drawing.moves) == 3
    assert len(drawing.limits) == 1
    assert "astray" not in drawing.svg


def test_the_words_beside_it_say_the_same():
    html = render_part("diagrams/_memory.jinja", drawing=draw_memory(DISCRETE))
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html.split("<figcaption>")[1]))
    for word in ("Two memories.", "A batch is read.", "Main memory → Device memory", "copy to the card", "All but"):
        assert word in text
    assert re.search(r'<svg [^>]*aria-hidden="true">', html)  # the picture: the words are read instead


def test_hostile_text_stays_text():
    pool = Pool(key="p", name=EVIL, what=EVIL, size=EVIL, note=EVIL, enclosure=EVIL)
    unit = ComputeUnit("u", EVIL, "p", EVIL)
    evil = MemoryModel(key="x", title=EVIL, summary=EVIL, pools=(pool,), units=(unit,))
    html = render_part("diagrams/_memory.jinja", drawing=draw_memory(evil))
    assert "<script" not in html
    assert "<img" not in html


@pytest.mark.parametrize("model", [DISCRETE, UNIFIED, MemoryModel(key="x", title="T", summary="S", pools=(), units=())])
def test_no_text_lies_on_another(browser_page, tmp_path, model):
    path = tmp_path / "memory.svg"
    path.write_text(draw_memory(model).file, encoding="utf-8")
    browser_page.goto(path.as_uri())
    assert browser_page.evaluate(PROBLEMS) == []
