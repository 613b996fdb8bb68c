"""A comparison of spec sheets in a browser: another baseline, a file, a citation; by keyboard and without scripts."""

import csv
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.faults import faults_of
from tests.browser.settled import settle

TWO = "/compare/?a=nvidia-h100-sxm5-80gb&a=apple-m3-max-40"
SIX = TWO + "&a=nvidia-geforce-rtx-4090&a=amd-mi300x&a=google-tpu-v5p&a=nvidia-a100-sxm4-80gb"
WAIT_MS = 60_000
# What scrolls within the page.
WINDOWS = """[...document.querySelectorAll("main *")].filter((box) => {
  const { overflowX, overflowY } = getComputedStyle(box);
  const scrolls = /auto|scroll/.test(overflowX + overflowY) && box.clientHeight > 0 && !box.closest(".sr");
  return scrolls && (box.scrollWidth > box.clientWidth + 1 || box.scrollHeight > box.clientHeight + 1);
}).map((box) => box.className)"""


@pytest.fixture
def row(visit):
    """The cells of a row of the spec table, as text: `row(page, "Memory bandwidth")`."""

    def find(page, title: str) -> list[str]:
        line = page.locator(".specs tbody tr", has=page.get_by_role("rowheader", name=re.compile(f"^{title}")))
        return line.first.locator("td").all_inner_texts()

    return find


@pytest.mark.parametrize("path", [TWO, SIX, SIX + "&only=differences&base=amd-mi300x", TWO + "&at=2026-01-01&sort=x"])
def test_no_fault_is_found(visit, path):
    page = visit(path)
    if "at=" not in path:  # a past comparison has no cited results
        page.locator("#cited").scroll_into_view_if_needed(timeout=WAIT_MS)
        page.locator(".roof-figure").scroll_into_view_if_needed(timeout=WAIT_MS)
        expect(page.locator(".plane-chart .plane a").first).to_be_visible(timeout=WAIT_MS)
    assert faults_of(page) == []


def test_two_subjects_are_chosen_by_keyboard(visit):
    page = visit("/compare/")
    page.locator("#first").press_sequentially("rtx 4090")
    expect(page.locator("#first-options [role=option]").first).to_be_visible(timeout=WAIT_MS)
    page.keyboard.press("Enter")
    expect(page.locator("#first")).to_have_value("NVIDIA GeForce RTX 4090")
    expect(page.locator("#second")).to_be_focused()
    page.keyboard.type("h100 pcie")
    expect(page.locator("#second-options [role=option]").first).to_be_visible(timeout=WAIT_MS)
    page.keyboard.press("Enter")
    page.wait_for_url("**/compare/?a=nvidia-geforce-rtx-4090&a=nvidia-h100-pcie-80gb", timeout=WAIT_MS)


def test_baseline_changes_by_keyboard(visit, row):
    page = visit(TWO)
    assert "0.12×" in row(page, "Memory bandwidth")[1]
    link = page.get_by_role("link", name="Show factors relative to M3 Max (40-core GPU)")
    link.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**&base=apple-m3-max-40#specs", timeout=WAIT_MS)
    assert "8.4×" in row(page, "Memory bandwidth")[0]
    page.go_back()
    page.wait_for_url(f"**{TWO}", timeout=WAIT_MS)
    assert "0.12×" in row(page, "Memory bandwidth")[1]


def test_the_table_on_the_screen_is_the_table_of_the_file(visit):
    page = visit(TWO + "&only=differences")
    shown = page.locator(".specs tbody tr:not(.group)").count()
    with page.expect_download(timeout=WAIT_MS) as download:
        page.locator("a[download][href$='format=csv']").click()
    with Path(download.value.path()).open(encoding="utf-8", newline="") as file:
        figures = [line for line in csv.DictReader(file) if line["kind"] not in ("stack", "left-out")]
        assert len(figures) == shown


def test_citation_and_share_bar_copy_what_they_say(visit, site, browser_context):
    browser_context.grant_permissions(["clipboard-read", "clipboard-write"], origin=site.url)
    page = visit(TWO)

    def copied() -> str:
        return page.evaluate("navigator.clipboard.readText()")

    for button, line in (("Copy link", "#share-link"), ("Copy as Markdown", "#share-markdown")):
        page.get_by_role("button", name=button).click()
        expect(page.locator(".share")).to_contain_text("Copied", timeout=WAIT_MS)
        assert copied() == page.locator(line).text_content()
        expect(page.get_by_role("button", name=button)).to_be_visible(timeout=WAIT_MS)  # its label is back
    page.locator("section:has(#cite)").get_by_role("button", name="Copy Markdown").click()
    expect(page.locator("section:has(#cite)")).to_contain_text("Copied", timeout=WAIT_MS)
    page.goto(re.search(r"\((http[^)]+)\)", copied())[1])
    expect(page.locator("main")).to_contain_text("Figures as of", timeout=WAIT_MS)
    page = visit("/ladder/")
    page.evaluate("history.pushState({}, '', '/ladder/?vendor=apple&q=(a)')")
    page.get_by_role("button", name="Copy link").click()
    expect(page.locator("[data-announce]")).to_have_text("Copied", timeout=WAIT_MS)
    assert copied() == f"{site.url}/ladder/?vendor=apple&q=%28a%29"
    assert browser_context.troubles == []


def test_baseline_subjects_and_frozen_address_need_no_script(site, browser):
    context = browser.new_context(java_script_enabled=False)
    try:
        page = context.new_page()
        page.goto(site.url + TWO)
        page.get_by_text("Add or replace").click()
        page.fill("#subject", "rtx 4090")
        page.press("#subject", "Enter")
        page.locator(".hits a").first.click()
        page.wait_for_url(f"**{TWO}&a=nvidia-geforce-rtx-4090", timeout=WAIT_MS)
        page.goto(site.url + TWO)
        page.get_by_role("link", name="Show factors relative to M3 Max (40-core GPU)").click()
        page.wait_for_url("**&base=apple-m3-max-40#specs", timeout=WAIT_MS)
        page.get_by_role("link", name="The permanent link").click()
        page.wait_for_url("**&at=2*", timeout=WAIT_MS)
        assert "As it is now" in page.locator("main").inner_text()
    finally:
        context.close()


def test_two_sheets_take_at_most_twelve_screens_of_a_phone(visit):
    page = visit("/")
    page.set_viewport_size({"width": 360, "height": 780})
    page = visit(TWO)
    page.locator("#cited").scroll_into_view_if_needed(timeout=WAIT_MS)
    expect(page.locator(".plane-chart .plane a").first).to_be_attached(timeout=WAIT_MS)
    settle(page)
    assert page.evaluate("document.documentElement.scrollHeight") <= 12 * 780  # more tests are of both since hosts
    fold = page.locator("details.fold", has=page.locator(".stack"))
    expect(fold.locator(".stack")).to_be_hidden()
    fold.locator(":scope > summary").click()
    expect(fold.locator(".stack")).to_be_visible()


def test_six_open_sheets_take_eight_phone_screens_at_most(visit):
    page = visit("/")
    page.set_viewport_size({"width": 360, "height": 780})
    page = visit(SIX)
    settle(page)
    assert page.evaluate("document.documentElement.scrollHeight") <= 8 * 780
    fold = page.locator("details.fold", has=page.locator("[hx-get^='/benchmarks/']"))
    fold.locator(":scope > summary").click()
    expect(fold.locator(".side-by-side")).to_be_visible(timeout=WAIT_MS)
    expect(page.locator(".plane-chart .plane a").first).to_be_attached(timeout=WAIT_MS)
    settle(page)
    assert page.evaluate("document.documentElement.scrollHeight") <= 18 * 780  # of six, below each other


def test_six_on_a_phone_have_no_window_inside_the_page(visit):
    page = visit("/")
    page.set_viewport_size({"width": 360, "height": 780})
    page = visit(SIX)
    page.evaluate("document.querySelectorAll('details.fold').forEach(fold => { fold.open = true })")
    page.locator("#cited").scroll_into_view_if_needed(timeout=WAIT_MS)
    expect(page.locator(".side-by-side")).to_be_visible(timeout=WAIT_MS)
    settle(page)
    assert page.evaluate(WINDOWS) == []
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    name = "getComputedStyle(document.querySelectorAll('.specs td')[1], '::before').content"
    assert page.evaluate(name) == '"M3 Max (40-core GPU)"'


def test_wide_window_folds_nothing_and_offers_a_skip(visit):
    page = visit(TWO)
    expect(page.locator("details.fold .stack")).to_be_visible()
    expect(page.locator("details.fold > summary").first).to_be_hidden()
    page.get_by_role("link", name="Skip the drawing").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("Boolean(document.activeElement.closest('section:has(#specs)'))")


def test_what_differs_box_by_box_opens_in_place(visit):
    page = visit(TWO)
    page.get_by_text("What differs, box by box").click()
    opened = page.locator("details.explained .stack details.box").first
    expect(opened).to_be_visible(timeout=WAIT_MS)
    assert page.url.endswith(TWO)
    expect(page.locator("h1")).to_have_count(1)
    assert faults_of(page) == []


def test_two_boxes_start_a_comparison_by_keyboard(visit):
    page = visit("/compare/")
    page.get_by_role("combobox", name="Accelerator, stack, host or machine").fill("h100 sxm")
    second = page.get_by_role("combobox", name="Compared with")
    second.fill("m3 max")
    expect(page.locator("#second-options [role=option]").first).to_be_visible(timeout=WAIT_MS)
    assert faults_of(page) == []
    second.press("ArrowDown")
    second.press("Enter")
    page.wait_for_url("**/compare/?a=nvidia-h100-sxm5-80gb&a=apple-m3-max-*", timeout=WAIT_MS)


def test_an_opened_box_takes_the_width_of_the_row(visit):
    page = visit("/compare/?a=stack:nvidia-cuda&a=stack:apple-metal")
    box = page.locator("details.box", has=page.locator("summary", has_text="cuDNN")).first
    before = box.bounding_box()
    box.locator("summary").click()
    opened = box.bounding_box()
    assert opened["width"] > 1.8 * before["width"]
    row = page.locator(".stack-row", has=page.locator("details.box[open]")).bounding_box()
    assert row["height"] < opened["height"] + 120


def test_a_subject_is_added_and_replaced_in_place_by_keyboard(visit):
    page = visit(TWO)
    page.get_by_text("Add or replace").click()
    box = page.get_by_role("combobox", name="Accelerator, stack, host or machine")
    box.fill("rtx 4090")
    expect(page.locator("#subject-options [role=option]").first).to_be_visible(timeout=WAIT_MS)
    assert faults_of(page) == []
    box.press("ArrowDown")
    box.press("Enter")
    page.wait_for_url(f"**{TWO}&a=nvidia-geforce-rtx-4090", timeout=WAIT_MS)
    page.get_by_text("Add or replace").click()
    page.get_by_label("What to do").select_option("apple-m3-max-40")
    box.fill("mi300x")
    page.locator("#subject-options [role=option]").first.click(timeout=WAIT_MS)
    page.wait_for_url("**/compare/?a=nvidia-h100-sxm5-80gb&a=amd-mi300x&a=nvidia-geforce-rtx-4090", timeout=WAIT_MS)
