"""The drawing as a file: well-formed, escaped, complete; and in a real browser no text leaves its box."""

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from stackviz.draw.diagrams.boxes import Box, RequirementLink, StackColumn
from stackviz.draw.diagrams.layers import Layer, State
from stackviz.draw.diagrams.stack import draw_columns
from stackviz.draw.diagrams.svg import svg_of
from tests.draw.diagrams.test_layout import LONGEST, longest_column
from tests.draw.diagrams.test_template import EVIL

SVG = "{http://www.w3.org/2000/svg}"

# Of every text: does it leave the page, or lie on another one? Of every two boxes: do they overlap?
PROBLEMS = """() => {
  const found = [], page = document.documentElement.viewBox.baseVal;
  const texts = [...document.querySelectorAll('text')].map(e => [e, e.getBBox()]);
  for (const [e, b] of texts)
    if (b.x < 0 || b.x + b.width > page.width || b.y + b.height > page.height) found.push('off the page: ' + e.textContent);
  for (let i = 0; i < texts.length; i++) for (let j = i + 1; j < texts.length; j++) {
    const [e, a] = texts[i], [f, b] = texts[j];
    if (a.x < b.x + b.width - 1 && b.x < a.x + a.width - 1 && a.y < b.y + b.height - 4 && b.y < a.y + a.height - 4)
      found.push('overlap: ' + e.textContent + ' / ' + f.textContent);
  }
  const boxes = [...document.querySelectorAll('rect[rx]')].map(e => e.getBBox());
  for (const [e, t] of texts) for (const b of boxes)
    if (t.y > b.y && t.y + t.height < b.y + b.height + 2 && t.x >= b.x && t.x < b.x + b.width && t.x + t.width > b.x + b.width)
      found.push('cut by its box: ' + e.textContent);
  return found;
}"""


def box(component: str, name: str, layer: Layer = Layer.LIBRARY, **more) -> Box:
    return Box(**{"component": component, "role": component, "layer": layer, "name": name, **more})


def column(*boxes: Box, links: tuple[RequirementLink, ...] = ()) -> StackColumn:
    return StackColumn(key="a", title="A", subtitle="", url="/a/", boxes=boxes, links=links)


def words(svg: str) -> str:
    return " ".join(text.text or "" for text in ET.fromstring(svg).iter(f"{SVG}text"))


def test_svg_is_one_file_with_title_and_desc():
    root = ET.fromstring(svg_of(draw_columns([column(box("x", "cuDNN"))]), "My stack"))
    assert root.get("role") == "img"
    assert (root.findtext(f"{SVG}title"), root.get("aria-labelledby")) == ("My stack", "title description")
    assert "Libraries. cuDNN." in (root.findtext(f"{SVG}desc") or "")
    svg = svg_of(draw_columns([longest_column(0)]), "x", "https://example.org/stacks/")
    assert not re.search(r"<(image|script|style|use|a|foreignObject)\b|url\(|href", svg)  # nothing from elsewhere


def test_hostile_text_in_every_place_stays_text():
    evil = box(EVIL, EVIL, version=EVIL, state=State.BROKEN, summary=EVIL)
    links = (RequirementLink(EVIL, "y", State.BROKEN, EVIL),)
    title = f"{EVIL}\x00\x1b[31m\ud800\ufffe\u202e"
    svg = svg_of(draw_columns([column(evil, box("y", "y", Layer.OS), links=links)]), title, EVIL)
    ET.fromstring(svg)
    assert "<script" not in svg
    assert "<img" not in svg
    svg.encode("utf-8")


def test_all_that_the_page_shows_is_there():
    kernels = box("cudnn", "cuDNN", version="9.26.0.51", state=State.BROKEN)
    gap = box("", "", role="collectives", state=State.ABSENT, summary="Nothing of the kind.")
    links = (RequirementLink("cudnn", "linux", State.BROKEN, "needs a newer system"),)
    left = column(kernels, gap, box("linux", "Linux", Layer.OS), links=links)
    other = StackColumn(
        key="b", title="B", subtitle="as described", url="/b/", boxes=(box("nccl", "NCCL", role="collectives"),)
    )
    svg = svg_of(draw_columns([left, other]), "T")
    text = words(svg)
    for word in ("cuDNN", "9.26.0.51", "✕ broken", "broken: needs a newer system", "– none"):
        assert word in text
    for word in ("Nothing of the kind.", "as described", "Libraries", "Hardware"):
        assert word in text
    assert svg.count("stroke-dasharray") > 2  # the gap, the broken link


def test_only_differences_are_drawn_on_request():
    same, left = (
        Box(component="x", role="r", layer=Layer.LIBRARY, name="oneDNN"),
        Box(component="y", role="s", layer=Layer.LIBRARY, name="cuDNN"),
    )
    drawing = draw_columns([column(same, left), column(same)])
    assert "the same in all columns: oneDNN" in words(svg_of(drawing, "T", only_differences=True))
    assert "the same in all columns" not in words(svg_of(drawing, "T"))


def test_empty_columns_and_drawings_export_too():
    for drawing in (draw_columns([]), draw_columns([column()])):
        assert "not described" in svg_of(drawing, "T") or not drawing.columns


@pytest.mark.parametrize("columns", [1, 3, 6])
def test_longest_names_fit_the_drawing(browser_page, tmp_path: Path, columns):
    links = tuple(RequirementLink("pytorch", to, State.BROKEN, f"needs {LONGEST}") for to in ("linux", "h"))
    drawn = [StackColumn(**{**vars(longest_column(n)), "links": links}) for n in range(columns)]
    path = tmp_path / "stack.svg"
    path.write_text(svg_of(draw_columns(drawn), LONGEST * 3, "https://example.org/" + "x" * 300), encoding="utf-8")
    browser_page.goto(path.as_uri())
    assert browser_page.evaluate(PROBLEMS) == []
