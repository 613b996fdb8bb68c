"""Rooflines, shares of peaks and curves in a browser: by mouse, by keyboard, without scripts, on any screen."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.faults import faults_of

WAIT = 60_000  # a busy machine takes its time
PAGES = ("/roofline/", "/roofline/share-of-peak/", "/scaling/")


def test_another_data_type_and_accelerator_are_drawn_at_once(visit, browser_context):
    page = visit("/roofline/")
    page.locator("#dtype-fp8").check()
    expect(page).to_have_url(re.compile(r"dtype=bf16&dtype=fp8&dtype=fp32$"), timeout=WAIT)
    expect(page.locator("#roofs ~ table")).to_contain_text("fp8", timeout=WAIT)
    page.locator("#add").fill("Apple M2 Ultra (76-core GPU)")
    page.locator("#add").press("Tab")
    expect(page.locator(".chosen li")).to_have_count(4, timeout=WAIT)
    expect(page).to_have_url(re.compile(r"a=apple-m2-ultra-76"), timeout=WAIT)
    page.get_by_role("link", name="Remove NVIDIA GeForce RTX 4090").click()
    expect(page.locator(".chosen li")).to_have_count(3, timeout=WAIT)
    assert browser_context.troubles == []


def test_points_are_reached_by_the_keyboard_and_lead_to_results(visit, browser_context):
    page = visit("/roofline/")
    page.locator("a.over").focus()
    page.keyboard.press("Tab")
    points = page.locator(".plane a")
    expect(points.first).to_be_focused(timeout=WAIT)
    address = points.first.get_attribute("href")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(f"{address}$"), timeout=WAIT)
    assert browser_context.troubles == []


@pytest.mark.parametrize("path", ["/roofline/", "/scaling/"])
def test_the_drawing_can_be_skipped(visit, path):
    page = visit(path)
    page.locator("a.over").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('#points') !== null")


@pytest.mark.parametrize("path", PAGES)
def test_plotly_takes_over_when_it_is_asked_to(visit, browser_context, path):
    page = visit(path)
    assert page.evaluate("typeof window.Plotly") == "undefined"
    page.locator("[data-chart-open]").click()
    expect(page.locator(".js-plotly-plot .scatterlayer .point").first).to_be_visible(timeout=WAIT)
    if path != "/roofline/share-of-peak/":
        expect(page.locator(".plane")).to_be_hidden(timeout=WAIT)
    assert browser_context.troubles == []


def test_another_curve_forgets_the_setting_of_the_last(visit, browser_context):
    page = visit("/scaling/?setting=model%3DLlama+3+8B%3B+quant%3DF16")
    page.select_option("#curve", "allreduce")
    expect(page.locator("#found h2").first).to_contain_text("All-reduce over message size", timeout=WAIT)
    expect(page).to_have_url(re.compile(r"/scaling/[?]curve=allreduce"), timeout=WAIT)
    assert browser_context.troubles == []


@pytest.mark.parametrize(
    ("path", "choice"), [("/roofline/", ""), ("/roofline/share-of-peak/", "of"), ("/scaling/", "curve")]
)
def test_the_page_answers_without_scripts(site, browser, path, choice):
    context = browser.new_context(java_script_enabled=False)
    try:
        page = context.new_page()
        page.goto(site.url + path)
        expect(page.locator("main table").first).to_be_visible()
        if choice:
            page.select_option(f"#{choice}", index=1)
        else:
            page.locator("#dtype-fp16").check()
        page.get_by_role("button", name="Show").click()
        expect(page).to_have_url(re.compile(f"{choice or 'dtype'}="), timeout=WAIT)
        expect(page.locator("main table").first).to_be_visible(timeout=WAIT)
    finally:
        context.close()


@pytest.mark.parametrize("path", PAGES)
def test_no_fault_is_found(visit, path):
    page = visit(path)
    page.locator("details.more").evaluate_all("all => all.forEach(details => { details.open = true })")
    assert faults_of(page) == []


def test_on_a_phone_plotly_writes_names_inside_the_drawing(visit):
    page = visit("/roofline/share-of-peak/")
    page.set_viewport_size({"width": 360, "height": 800})
    page.locator("[data-chart-open]").first.click()
    page.locator(".js-plotly-plot .main-svg").first.wait_for()
    names = page.locator(".js-plotly-plot .annotation-text").count()
    width = page.evaluate("document.querySelector('.js-plotly-plot')._fullLayout._size.w")
    assert names > 20
    assert width > 280
    page.set_viewport_size({"width": 1440, "height": 800})
    expect(page.locator(".js-plotly-plot .annotation-text")).to_have_count(0)
