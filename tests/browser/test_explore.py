"""Ladder, scatter and time line in a browser: they answer at once, by mouse, keyboard and without scripts."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.faults import faults_of
from tests.browser.settled import settle

WAIT = 60_000  # a busy machine takes its time
DECODE = "/explore/?x=memory_bandwidth_gb_s&y=llama-bench-tg128&size=none"
PAGES = (
    "/ladder/",
    "/ladder/?field=memory_bandwidth_gb_s&scale=linear",
    "/explore/",
    DECODE,
    "/heatmap/",
    "/timeline/",
)


def test_another_figure_ranks_at_once_and_the_address_says_it(visit, browser_context):
    page = visit("/ladder/")
    page.locator("#field").focus()
    page.select_option("#field", "memory_gb")
    expect(page.locator("#found h2")).to_contain_text("Memory (GB)", timeout=WAIT)
    expect(page).to_have_url(re.compile(r"/ladder/[?]field=memory_gb$"), timeout=WAIT)
    expect(page.locator("#field")).to_be_focused(timeout=WAIT)  # the swap took nothing away
    page.select_option("#vendor", "apple")
    expect(page.locator("#found tbody th").first).to_contain_text("Apple", timeout=WAIT)
    page.go_back()
    expect(page.locator("#vendor")).to_have_value("", timeout=WAIT)
    assert browser_context.troubles == []


def test_a_rung_leads_to_its_machine_and_into_the_tray(visit, browser_context):
    page = visit("/ladder/?field=bf16_tensor_tflops&vendor=nvidia")
    page.locator("#found [data-tray-add]").first.click()
    expect(page.locator("aside[data-tray] li")).to_have_count(1, timeout=WAIT)
    row = page.locator("#found tbody tr", has=page.locator("a[href='/accelerators/nvidia-h100-sxm5-80gb/']"))
    expect(row).to_contain_text("989.4")
    link = row.locator("a[href^='/machines/']")  # of two machines that measured the same rate either may lead
    name = link.inner_text()
    link.click()
    expect(page.locator("h1")).to_have_text(name, timeout=WAIT)
    assert browser_context.troubles == []


def test_points_are_skipped_or_opened_by_the_keyboard_alone(visit, browser_context):
    page = visit("/explore/")
    page.locator("a.over").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('table.points') !== null")
    points = page.locator(".plane a")
    assert points.count() > 50
    page.locator("a.over").focus()
    page.keyboard.press("Tab")
    expect(points.first).to_be_focused(timeout=WAIT)
    address = points.first.get_attribute("href")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(f"{address}$"), timeout=WAIT)
    assert browser_context.troubles == []


def test_other_axes_draw_other_points(visit, browser_context):
    page = visit("/explore/")
    page.select_option("#x", "launch_price_usd")
    expect(page.locator(".names .ratio").first).to_contain_text("/USD", timeout=WAIT)
    page.select_option("#size", "none")
    expect(page).to_have_url(re.compile(r"x=launch_price_usd&size=none$"), timeout=WAIT)
    assert browser_context.troubles == []


def test_the_focus_moves_to_the_chart_that_takes_the_button_away(visit, browser_context):
    page = visit("/explore/?vendor=google&x=memory_gb&y=memory_bandwidth_gb_s")
    page.locator("[data-chart-open]").focus()
    page.keyboard.press("Enter")
    expect(page.locator("[data-chart-plot]")).to_be_focused(timeout=WAIT)
    expect(page.locator(".scatter .js-plotly-plot")).to_be_visible(timeout=WAIT)
    expect(page.locator("[data-chart-plot]")).to_be_focused(timeout=WAIT)
    assert browser_context.troubles == []


def test_bars_keep_their_length_in_forced_colours(visit):
    page = visit("/ladder/?field=memory_gb&scale=linear")
    page.emulate_media(forced_colors="active")
    bar = page.locator(".ladder tbody .meter i").first
    style = bar.evaluate("bar => [getComputedStyle(bar).forcedColorAdjust, getComputedStyle(bar).backgroundImage]")
    ink = page.evaluate("getComputedStyle(document.body).color")
    assert style[0] == "none"
    assert style[1].startswith(f"linear-gradient(90deg, {ink} ")


def test_the_timeline_starts_at_the_newest_and_wraps_on_a_phone(visit, browser_page):
    browser_page.set_viewport_size({"width": 768, "height": 800})
    page = visit("/timeline/")
    settle(page)
    newest = page.locator(".years li").last
    browser_page.evaluate("window.scrollTo(0, document.querySelector('.years').getBoundingClientRect().top)")
    expect(newest).to_be_in_viewport()
    assert newest.bounding_box()["x"] > 384
    name = page.locator(".era a").filter(has_text="Hopper").first
    assert name.inner_text() == "Hopper"
    assert page.locator(".years").is_visible()
    page.set_viewport_size({"width": 360, "height": 780})
    settle(page)
    assert page.locator(".era").evaluate("era => era.scrollWidth <= era.clientWidth")
    assert name.inner_text() == "2022 Hopper"
    assert page.locator(".years").is_hidden()


def test_plotly_chart_click_opens_the_sheet(visit, browser_context):
    page = visit("/explore/?vendor=google&x=memory_gb&y=memory_bandwidth_gb_s")
    assert page.evaluate("typeof window.Plotly") == "undefined"
    page.locator("[data-chart-open]").click()
    point = page.locator(".scatter .js-plotly-plot .scatterlayer .point").first
    expect(point).to_be_visible(timeout=WAIT)
    expect(page.locator(".plane")).to_be_hidden(timeout=WAIT)
    point.scroll_into_view_if_needed()
    settle(page)
    box = point.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y, steps=5)
    expect(page.locator(".hoverlayer")).to_contain_text("TPU", timeout=WAIT)
    page.mouse.click(x, y, delay=100)  # as long as a finger: Plotly tells a click from a drag by its own events
    expect(page).to_have_url(re.compile("/accelerators/google-tpu"), timeout=WAIT)
    assert browser_context.troubles == []


def test_heat_map_scrolls_inside_and_leads_to_rankings(visit, browser_page, browser_context):
    browser_page.set_viewport_size({"width": 360, "height": 800})
    page = visit("/heatmap/")
    inside = page.locator(".heat-map")
    assert inside.evaluate("box => box.scrollWidth > box.clientWidth")
    inside.focus()
    page.keyboard.press("ArrowRight")
    expect(inside).not_to_have_js_property("scrollLeft", 0, timeout=WAIT)
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 768, "height": 1000})  # all columns are on the sheet
    settle(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 768
    page.emulate_media(media="screen")
    page.locator(".heat-map td a").first.click()
    expect(page).to_have_url(re.compile(r"/benchmarks/[\w-]+/\?case="), timeout=WAIT)
    assert browser_context.troubles == []


def test_a_ranking_is_saved_as_png_by_the_browser_alone(visit, browser_context):
    page = visit("/benchmarks/llama-bench/")
    with page.expect_download(timeout=WAIT) as download:
        page.locator("[data-png-of]").click()
    assert download.value.suggested_filename == "benchmark-llama-bench.png"
    assert download.value.path().read_bytes().startswith(b"\x89PNG")
    assert browser_context.troubles == []


def test_plotly_draws_bounds_and_heat_maps_when_asked_to(visit, browser_context):
    page = visit(DECODE)
    page.locator("[data-chart-open]").click()
    expect(page.locator(".js-plotly-plot .scatterlayer .trace")).to_have_count(2, timeout=WAIT)
    expect(page.locator(".js-plotly-plot .scatterlayer .point").first).to_be_visible(timeout=WAIT)
    page = visit("/heatmap/?vendor=apple")
    assert page.evaluate("typeof window.Plotly") == "undefined"
    page.locator("[data-chart-open]").click()
    expect(page.locator(".js-plotly-plot .heatmaplayer image").first).to_be_visible(timeout=WAIT)
    expect(page.locator(".js-plotly-plot .ytick text").first).to_contain_text("Apple", timeout=WAIT)
    assert browser_context.troubles == []


@pytest.mark.parametrize("path", PAGES)
def test_the_page_answers_without_scripts(site, browser, path):
    context = browser.new_context(java_script_enabled=False)
    try:
        page = context.new_page()
        page.goto(site.url + path)
        expect(page.locator("main table").first).to_be_visible()
        button = page.get_by_role("button", name="Show")
        expect(button).to_be_visible()
        name, value = ("#vendor", "nvidia") if page.locator("#vendor").is_visible() else ("#y", "fp32_tflops")
        page.select_option(name, value)
        button.click()
        expect(page).to_have_url(re.compile(f"{name[1:]}={value}"), timeout=WAIT)
        expect(page.locator("main table").first).to_be_visible(timeout=WAIT)
    finally:
        context.close()


@pytest.mark.parametrize("path", PAGES)
def test_no_fault_is_found(visit, path):
    page = visit(path)
    page.locator("details.more").evaluate_all("all => all.forEach(details => { details.open = true })")
    assert faults_of(page) == []
