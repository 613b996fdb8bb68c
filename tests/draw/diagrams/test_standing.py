"""A component in its stack as a picture: it is marked, its neighbours are signed links, nothing leaves its place."""

import re

from stackviz.draw.diagrams.boxes import Box, StackColumn
from stackviz.draw.diagrams.layers import Layer, State
from stackviz.draw.diagrams.standing import WIDTH, draw_standing
from tests.draw.diagrams.test_template import EVIL


def box(name: str, layer: Layer = Layer.LIBRARY, **fields) -> Box:
    return Box(component=name.casefold(), role="any", layer=layer, name=name, url=f"/components/{name}/", **fields)


COLUMN = StackColumn(
    key="stack:one",
    title="One",
    subtitle="",
    url="/stacks/one/",
    boxes=(
        box("Torch", Layer.FRAMEWORK),
        box("Blas"),
        box("Nothing", state=State.ABSENT),
        box("A name that is far too long to fit into a chip of this picture, whatever the font"),
        *(box(f"Library number {number}") for number in range(12)),
        box("Kernel driver", Layer.DRIVER),
    ),
)


def test_it_is_marked_and_its_neighbours_are_signed_links():
    svg = draw_standing(COLUMN, "blas", {"/components/Torch/"}, {"/components/Kernel driver/"})
    assert svg.count('fill="var(--ink)" stroke') == 1
    links = re.findall(r'<a href="([^"]*)" tabindex="-1">.*?<text[^>]*>([^<]*)</text></a>', svg)
    assert links == [("/components/Torch/", "↓ Torch"), ("/components/Kernel driver/", "↳ Kernel driver")]
    assert "<script" not in svg
    assert "Nothing" not in svg


def test_all_layers_are_drawn_and_calls_both_ways_signed():
    svg = draw_standing(COLUMN, "blas", (), ())
    titles = [layer.label for layer in Layer]
    assert [text for text in re.findall(r">([^<>]+)</text>", svg) if text in titles] == titles
    both = {"/components/Torch/"}
    assert ">↕ Torch<" in draw_standing(COLUMN, "blas", both, both)
    assert draw_standing(COLUMN, "elsewhere", {"/components/other/"}, ()) is None


def test_no_chip_leaves_the_picture_or_covers_another():
    svg = draw_standing(COLUMN, "blas", (), ())
    chips = [tuple(map(float, found)) for found in re.findall(r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)"', svg)]
    chips = [(x, y, width) for x, y, width in chips if x > 0]
    assert len(chips) == 16
    for x, y, width in chips:
        assert x + width <= WIDTH
        beside = [other for other in chips if other[1] == y and other[0] > x]
        assert all(other[0] >= x + width for other in beside)


def test_hostile_names_and_addresses_stay_text():
    evil = Box(component="a", role="r", layer=Layer.OS, name=EVIL, url='/"onload=x')
    hostile = StackColumn(key="k", title="t", subtitle="", url="", boxes=(evil,))
    svg = draw_standing(hostile, "b", {'/"onload=x'}, ())
    assert EVIL not in svg
    assert 'href="/&quot;onload=x"' in svg
