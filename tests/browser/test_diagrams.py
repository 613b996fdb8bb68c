"""Stack diagrams in a browser: of a stack, of two, of a machine and a stack; by keyboard, by ear, without scripts, as a file."""

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from playwright.sync_api import expect

from tests.browser.faults import WIDTHS, faults_of

STACK = "/stacks/nvidia-cuda/"
TWO = "/compare/?a=stack:nvidia-cuda&a=stack:apple-metal"
MACHINE = "/machines/lab/rack-7/"
ALL = (STACK, TWO, MACHINE)
WAIT_MS = 60_000


@pytest.mark.parametrize("path", ALL)
def test_no_fault_is_found_with_a_box_open(visit, path):
    page = visit(path)
    page.locator("details.box > summary").nth(3).click()
    assert faults_of(page) == []


@pytest.mark.parametrize(
    ("path", "shown"), [("/components/cudnn/", ".standing svg"), ("/operators/softmax/", ".operator-figures")]
)
def test_no_fault_is_found_in_components_and_operators(visit, path, shown):
    page = visit(path)
    expect(page.locator(shown).first).to_be_visible(timeout=WAIT_MS)
    assert faults_of(page) == []


@pytest.mark.parametrize("path", ALL)
def test_no_box_cuts_its_text(visit, path):
    page = visit(path)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        cut = page.locator(".stack .box, .stack .need").evaluate_all(
            "boxes => boxes.filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.innerText)"
        )
        assert cut == [], width


def test_box_opens_by_keyboard_and_highlights_links(visit):
    page = visit(STACK)
    box = page.locator("details.box", has=page.locator("b", has_text=re.compile("^PyTorch$"))).first
    box.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(box).to_have_attribute("open", "", timeout=WAIT_MS)
    expect(box.get_by_role("table", name=re.compile("^PyTorch .* newest release known"))).to_be_visible()
    expect(page.locator(".link.lit").first).to_be_attached(timeout=WAIT_MS)
    lit = page.locator(".box.lit b").all_inner_texts()
    assert {"PyTorch", "NVIDIA GPU"} <= set(lit)


def test_read_aloud_the_diagram_makes_sense(visit):
    page = visit(TWO)
    page.get_by_text("The same in words").click()
    page.locator(".spoken").wait_for(timeout=WAIT_MS)
    said = page.locator(".spoken div", has=page.get_by_text("Libraries", exact=True)).locator("dd").all_inner_texts()
    assert re.match(r"NVIDIA CUDA on Linux: cuDNN.*cuBLAS.*NCCL.*\.$", said[0])
    assert any(
        re.match(r"Apple Metal on macOS: MPSGraph.*collectives: done by MLX.*\.$", sentence) for sentence in said
    )
    heard = page.locator(".stack").aria_snapshot()
    layers = [f'heading "{name}" [level=3]' for name in ("Framework", "Libraries", "Driver", "Hardware")]
    assert [heard.index(layer) for layer in layers] == sorted(heard.index(layer) for layer in layers)
    assert "img" not in heard  # brackets and arrows are told in words


def test_without_scripts_boxes_open_and_links_are_drawn(site, browser_page):
    context = browser_page.context.browser.new_context(java_script_enabled=False)
    try:
        page = context.new_page()
        page.goto(site.url + STACK)
        page.locator("details.box > summary").first.click()
        expect(page.locator("details.box[open]")).to_have_count(1, timeout=WAIT_MS)
        assert page.locator(".link").count() > 3
        assert page.locator(".link").first.bounding_box()["height"] > 20
    finally:
        context.close()


def test_the_diagram_comes_as_a_file(visit):
    for path in ALL:
        page = visit(path)
        with page.expect_download(timeout=WAIT_MS) as download:
            page.get_by_role("link", name="Download as SVG").click()
        text = Path(download.value.path()).read_text(encoding="utf-8")
        assert download.value.suggested_filename.endswith(".svg")
        assert len(list(ET.fromstring(text).iter("{http://www.w3.org/2000/svg}text"))) > 30
