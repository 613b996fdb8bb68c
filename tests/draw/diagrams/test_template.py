"""The diagram as HTML: words beside shapes, nothing executes, a table says the same, folding works without a script."""

import re

import pytest
from django.utils import translation

from stackviz.draw.diagrams.boxes import Box, BoxCounterpart, BoxNote, SourceLink, StackColumn
from stackviz.draw.diagrams.layers import Layer, State
from stackviz.draw.diagrams.stack import draw_columns
from stackviz.web.parts import render_part

EVIL = """"><script>alert(1)</script><img src=x onerror=alert(2)>'{{ 7|add:7 }}"""
LONGEST = "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition"


def column(title: str, *boxes: Box, url: str = "/s/") -> StackColumn:
    return StackColumn(key=f"stack:{title}", title=title, subtitle="", url=url, boxes=boxes)


def cudnn(**changes) -> Box:
    return Box(component="cudnn", role="kernels", layer=Layer.LIBRARY, name="cuDNN", **changes)


def render(*columns: StackColumn, **context) -> str:
    return render_part("diagrams/_stack.jinja", drawing=draw_columns(columns), **context)


def words(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))


def test_hostile_text_in_every_place_stays_text():
    evil = Box(
        component=EVIL, role=EVIL, layer=Layer.LIBRARY, name=EVIL, version=EVIL, state=State.BROKEN, summary=EVIL, url="/c/", notes=(BoxNote(State.BROKEN, EVIL),), calls=(EVIL,), see_version=EVIL, source=SourceLink(EVIL, "javascript:alert(1)"),
        counterparts=(BoxCounterpart("b", EVIL, EVIL, SourceLink(EVIL, "javascript:alert(1)")),),
    )  # fmt: skip
    other = Box(component="b", role=EVIL, layer=Layer.LIBRARY, name=EVIL)
    html = render(StackColumn(key=EVIL, title=EVIL, subtitle=EVIL, url="/s/", boxes=(evil,)), column("b", other))
    assert "<script" not in html
    assert "<img" not in html
    assert "javascript:" not in re.sub(r">[^<]*<", "><", html)
    assert "{{ 7|add:7 }}" in html


def test_every_state_has_its_word():
    states = (State.FITS, State.WARNING, State.BROKEN, State.UNKNOWN)
    html = words(render(column("a", *(cudnn(state=state) for state in states)), column("b")))
    for word in ("fits", "warning", "broken", "not reported", "not described"):
        assert word in html


def test_a_box_opens_without_a_script():
    html = render(column("a", cudnn(summary="Kernels of NVIDIA.", calls=("cuBLAS",), see_version="nvcc --version")))
    assert re.search(r"<details\s+class=\"box\"\s*>\s*<summary[^>]*>\s*<b>cuDNN</b>", html)
    assert "Kernels of NVIDIA." in html
    assert "<code>nvcc --version</code>" in html
    assert not re.search(r"\son\w+=", html)


def test_the_longest_names_are_written_in_full():
    card = Box(component="g", role="accelerator", layer=Layer.HARDWARE, name=LONGEST, version="GB202 · sm_120")
    html = render(*(column(LONGEST, card) for _ in range(6)))
    assert html.count(LONGEST) >= 18  # six heads, six boxes, and both again in the table


def test_the_table_says_all_that_the_boxes_say():
    fits = cudnn(version="9.10.2", state=State.FITS, notes=(BoxNote(State.WARNING, "ends soon"),))
    table = words(render(column("a", fits), column("b")).split("<table", 1)[1])
    assert "cuDNN 9.10.2 (fits); ends soon (warning)" in table
    assert "not described" in table


def test_only_differences_folds_equal_rows_and_names_them():
    same, other = (
        Box(component="python", role="interpreter", layer=Layer.APPLICATION, name="Python"),
        Box(component="x", role="kernels", layer=Layer.LIBRARY, name="oneDNN"),
    )
    html = render(column("a", same, cudnn()), column("b", same, other), only_differences=True, toggle_url="?all")
    grid = html.split("<table", 1)[0]
    assert "the same in all columns: Python" in grid
    assert "<b>Python</b>" not in grid
    assert "<b>cuDNN</b>" in grid
    assert '<a class="chip" href="?all">All layers</a>' in html
    assert "Only differences" not in render(column("a", cudnn()), toggle_url="?only=differences")


@pytest.mark.parametrize("language", ["en", "zh-hans", "de"])
def test_the_diagram_renders_in_every_language(language):
    with translation.override(language):
        html = render(column("Left", cudnn()), column("Right"))
    assert "cuDNN" in html
    assert 'style="--n:2;--c1:var(--other);--c2:var(--other);--h1' in html  # numbers without a comma
    # each cell names its column, by a style that diagram.css writes before it
    assert html.count("--h1:&#39;Left&#39;;--h2:&#39;Right&#39;") == 1
    assert not re.search(r"<th[^>]*>\s*</th>", html)
