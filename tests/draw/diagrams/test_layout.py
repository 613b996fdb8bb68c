"""The diagram in a real browser: with the longest names, in any number of columns, nothing overlaps and no text is cut."""

from pathlib import Path

import pytest

from stackviz.draw.diagrams.boxes import Box, BoxNote, RequirementLink, StackColumn
from stackviz.draw.diagrams.layers import Layer, State
from stackviz.draw.diagrams.stack import draw_columns
from stackviz.web.parts import render_part

CSS = Path(__file__).resolve().parents[3] / "static" / "css"
LONGEST = "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition"
KERNEL = "Ubuntu 22.04.5 LTS · 5.15.0-1078-nvidia-lowlatency-64k"

# Of every pair of boxes and heads in the same place: do their rectangles overlap? And is anything wider than its place?
PROBLEMS = """() => {
  const found = [];
  const shown = [...document.querySelectorAll('.box, .need, .stack-head, .role, .stack-side h3')].filter(e => e.getClientRects().length);
  const rects = shown.map(e => e.getBoundingClientRect());
  for (let i = 0; i < shown.length; i++) for (let j = i + 1; j < shown.length; j++) {
    const a = rects[i], b = rects[j];
    if (shown[i].contains(shown[j]) || shown[j].contains(shown[i])) continue;
    if (a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1)
      found.push('overlap: ' + shown[i].innerText.slice(0, 30) + ' / ' + shown[j].innerText.slice(0, 30));
  }
  for (const e of document.querySelectorAll('.box, .box *, .need, .stack-head, .stack-head *, .stack-side, .stack-side *'))
    if (e.getClientRects().length && e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== 'inline' && !e.matches('.sr'))
      found.push('cut: ' + e.className + ' ' + e.innerText.slice(0, 30));
  if (document.documentElement.scrollWidth > innerWidth) found.push('the page scrolls sideways');
  return found;
}"""


LINKS = (
    RequirementLink("pytorch", "linux", State.BROKEN, f"needs {KERNEL}"),
    RequirementLink("pytorch", "h", State.FITS, f"has code for {LONGEST}"),
    RequirementLink("a", "linux", State.UNKNOWN, "cannot tell"),
    RequirementLink("linux", "h", State.WARNING, "soon no longer"),
)


def longest_column(number: int) -> StackColumn:
    notes = (
        BoxNote(State.FITS, "CUDA 13.2 needs driver 580.65.06 or newer: has 595.58.03"),
        BoxNote(State.WARNING, "x" * 80),
    )
    boxes = [
        Box(component="pytorch", role="framework", layer=Layer.FRAMEWORK, name="PyTorch", version="2.15.0.dev20261120+cu132", state=State.BROKEN, summary="S. " * 60, url="/c/", notes=notes),
        Box(component="a", role="neural-network-kernels", layer=Layer.LIBRARY, name="Metal Performance Shaders", state=State.UNKNOWN),
        Box(component="linux", role="operating-system", layer=Layer.OS, name="Linux", version=KERNEL, state=State.REPORTED),
        Box(component="h", role="accelerator", layer=Layer.HARDWARE, name=f"8 × {LONGEST}", version="96 GiB · sm_120", state=State.WARNING, summary="S.", url="/h/", notes=notes),
    ]  # fmt: skip
    absent, reported = (
        {"state": State.ABSENT, "summary": "Why not. " * 12},
        {"version": "2.27.3", "state": State.REPORTED},
    )
    nccl = absent if number % 2 else reported
    boxes.append(Box(component="n", role="collectives", layer=Layer.LIBRARY, name="NCCL", **nccl))
    title, subtitle = f"{LONGEST} {number}", "machine · reported 4 min ago · NVIDIA CUDA on Linux"
    return StackColumn(key=f"k{number}", title=title, subtitle=subtitle, url="/s/", boxes=tuple(boxes), links=LINKS)


def page_of(columns: int, *, opened: bool) -> str:
    html = render_part("diagrams/_stack.jinja", drawing=draw_columns([longest_column(n) for n in range(columns)]))
    html = html.replace('<details class="box', '<details open class="box') if opened else html
    style = "".join((CSS / f"{name}.css").read_text() for name in ("tokens", "base", "parts", "diagram"))
    return (
        f'<!doctype html><meta name="viewport" content="width=device-width"><style>{style}</style><main>{html}</main>'
    )


@pytest.mark.parametrize("columns", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("width", [360, 768, 1440])
def test_nothing_overlaps_and_nothing_is_cut(browser_page, columns, width):
    browser_page.set_viewport_size({"width": width, "height": 900})
    for opened in (False, True):
        browser_page.set_content(page_of(columns, opened=opened))
        assert browser_page.evaluate(PROBLEMS) == []


def test_on_paper_nothing_overlaps_and_the_buttons_are_gone(browser_page):
    browser_page.set_viewport_size({"width": 794, "height": 1123})
    browser_page.emulate_media(media="print")
    browser_page.set_content(page_of(3, opened=False))
    assert browser_page.evaluate(PROBLEMS) == []
    assert browser_page.locator(".stack-text:visible").count() == 0


def test_six_columns_scroll_and_boxes_open_by_key(browser_page):
    browser_page.set_viewport_size({"width": 768, "height": 900})
    browser_page.set_content(page_of(6, opened=False))
    assert browser_page.locator(".stack-scroll").evaluate("frame => frame.scrollWidth > frame.clientWidth")
    browser_page.locator("details.box > summary").first.focus()
    browser_page.keyboard.press("Enter")
    assert browser_page.locator("details.box").first.get_attribute("open") is not None


# Of every link: does it begin and end beside the title of its box, in the gutter of its own column?
LOOSE = """() => {
  const found = [], boxes = new Map([...document.querySelectorAll('[data-key]')].map(e => [e.dataset.key, e.getBoundingClientRect()]));
  for (const link of document.querySelectorAll('.link')) {
    if (!link.getClientRects().length) continue;
    const r = link.getBoundingClientRect(), [a, b] = link.dataset.ends.split(' ').map(key => boxes.get(key));
    const cell = document.querySelector(`[data-key="${link.dataset.ends.split(' ')[0]}"]`).closest('.cell').getBoundingClientRect();
    if (Math.abs(r.top - a.top - 17) > 3 || Math.abs(r.bottom - b.top - 17) > 3) found.push('loose: ' + link.dataset.ends);
    if (Math.abs(r.left - a.right) > 1 || r.right > cell.right + 1) found.push('beside its gutter: ' + link.dataset.ends);
  }
  return found;
}"""


@pytest.mark.parametrize(("columns", "width", "links"), [(1, 360, 4), (1, 1440, 4), (3, 1440, 12), (2, 360, 0)])
def test_links_end_at_open_and_closed_boxes(browser_page, columns, width, links):
    browser_page.set_viewport_size({"width": width, "height": 900})
    for opened in (False, True):
        browser_page.set_content(page_of(columns, opened=opened))
        assert browser_page.locator(".link:visible").count() == links
        assert browser_page.evaluate(LOOSE) == []
