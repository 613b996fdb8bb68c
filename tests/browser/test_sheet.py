"""A spec sheet in a real browser: by keyboard and by touch, on a phone, without scripts, and for axe."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.faults import faults_of

H100 = "/accelerators/nvidia-h100-sxm5-80gb/"
PATIENCE_MS = 60_000


@pytest.mark.parametrize("slug", ["nvidia-h100-sxm5-80gb", "apple-m3-max-40", "hailo-8"])
def test_a_sheet_has_no_fault_with_all_its_rows_open(visit, slug):
    page = visit(f"/accelerators/{slug}/")
    page.locator("#machines-with").scroll_into_view_if_needed()
    if slug != "hailo-8":  # nobody measured it
        page.locator(".roof-figure").scroll_into_view_if_needed(timeout=PATIENCE_MS)
        expect(page.locator(".plane-chart.small .plane a").first).to_be_visible(timeout=PATIENCE_MS)
    expect(page.locator("section.screen [hx-get]").last).not_to_contain_text("Show the stack", timeout=PATIENCE_MS)
    page.locator("main").evaluate("main => main.querySelectorAll('details').forEach(each => { each.open = true })")
    expect(page.locator(".htmx-request")).to_have_count(0, timeout=PATIENCE_MS)
    assert faults_of(page) == []


def test_styles_of_cited_results_leave_values_alone(visit):
    values = visit(H100).locator("section:has(> .head #values)")
    assert values.evaluate("each => getComputedStyle(each).display") == "block"
    assert values.evaluate("each => getComputedStyle(each, '::before').content") == "none"


def test_figure_details_open_by_keyboard(visit):
    page = visit(H100)
    row = page.locator("tr", has=page.locator("#f-memory_bandwidth_gb_s"))
    row.locator("summary").focus()
    expect(row.locator("dl")).not_to_be_visible()
    page.keyboard.press("Enter")
    expect(row.locator("dl")).to_be_visible()
    expect(row.locator("dl")).to_contain_text("3,350,000,000,000 B/s")
    expect(row.locator("dl")).to_contain_text("Checked")


def test_jump_links_lead_to_their_group(visit):
    page = visit(H100)
    page.get_by_role("navigation", name="On this sheet").get_by_role("link", name="Peak rates").click()
    expect(page).to_have_url(re.compile("#rates$"))
    expect(page.locator("#rates")).to_be_in_viewport()


def test_machines_and_what_they_measured_fill_in(visit, browser_context):
    page = visit(H100)
    section = page.locator("section", has=page.locator("#machines-with"))
    expect(section).to_contain_text("Show the machines")  # fetched when somebody begins to read
    page.mouse.wheel(0, 100)
    expect(section).to_contain_text("rack-7", timeout=PATIENCE_MS)
    expect(section).to_contain_text("TFLOP/s")
    expect(section).to_contain_text("Memory copy")
    expect(page.locator("section", has=page.locator("#stack"))).to_contain_text("NVIDIA CUDA", timeout=PATIENCE_MS)
    assert browser_context.troubles == []


def test_citation_copies_and_opens_its_version(visit, browser_context):
    browser_context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = visit(H100)
    page.get_by_role("button", name="Copy BibTeX").click()
    expect(page.locator("[data-announce]")).to_have_text("Copied", timeout=PATIENCE_MS)
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("@misc{accelweb-nvidia-h100-sxm5-80gb-")
    page.goto(re.search(r"\\url\{([^}]+)\}", copied)[1])
    expect(page.locator(".stood")).to_contain_text("The spec sheet as of")
    expect(page.locator("main")).to_contain_text("989.4 TFLOPS")
    assert faults_of(page) == []


def test_sheet_works_without_scripts(site, browser):
    context = browser.new_context(java_script_enabled=False)
    try:
        page = context.new_page()
        page.goto(site.url + H100)
        text = page.locator("main").inner_text()
        assert "989.4 TFLOPS" in text
        assert "295.3 FLOP/B" in text
        page.get_by_role("link", name="Show the machines that report").click()
        assert "rack-7" in page.locator("main").inner_text()
        page.go_back()
        page.get_by_role("link", name="Show the stack of NVIDIA accelerators").click()
        assert page.url.endswith("/stacks/nvidia-cuda/")
    finally:
        context.close()


def test_on_paper_a_sheet_has_its_figures_and_not_its_buttons(visit):
    page = visit(H100)
    page.emulate_media(media="print")
    expect(page.locator("#f-bf16_tensor_tflops")).to_be_visible()
    expect(page.locator(".jump")).not_to_be_visible()
    expect(page.locator("#machines-with")).not_to_be_visible()
