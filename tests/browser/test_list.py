"""The list of accelerators in a browser: filters answer at once, by mouse, keyboard and without scripts; on a phone too."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.faults import WIDTHS, faults_of
from tests.browser.settled import settle

WAIT = 60_000  # a busy machine takes its time
LIST = "/accelerators/"
MANY = "chip,memory_gb,memory_bandwidth_gb_s,fp32_tflops,tf32_tensor_tflops,fp16_tensor_tflops,bf16_tensor_tflops,fp8_tensor_tflops,tdp_w,transistors,die_area_mm2"
NAMES = "#found tbody th[scope=row]"
# Of a name in a table: how far it is from the table's left edge in pixels, and whether nothing covers it.
NAME_IN_SIGHT = """name => {
  const place = name.getBoundingClientRect();
  const top = document.elementFromPoint(place.x + 20, place.y + 6);
  return [place.x - name.closest(".wide").getBoundingClientRect().x, top.closest("th") === name];
}"""


def pick(page, title: str):
    """One of the filters that open in place."""
    return page.locator("details.pick", has=page.locator("summary", has_text=title))


def test_a_filter_answers_at_once_and_the_address_says_it(visit, browser_context):
    page = visit(LIST)
    pick(page, "Vendor").locator("summary").click()
    pick(page, "Vendor").get_by_text("Apple").click()
    expect(page.locator("#found .count")).to_contain_text(re.compile(r"\d+ of \d+ accelerators"), timeout=WAIT)
    expect(page.locator(NAMES).first).to_contain_text("Apple", timeout=WAIT)
    expect(page.locator("[data-announce]")).to_contain_text(re.compile(r"\d+ of \d+ accelerators"), timeout=WAIT)
    expect(page).to_have_url(re.compile(r"/accelerators/[?]vendor=apple$"), timeout=WAIT)
    expect(page.locator("#chosen-vendor")).to_have_text("1", timeout=WAIT)
    expect(page.locator("#n-kind-gpu")).to_have_text("0", timeout=WAIT)  # Apple sells systems on a chip
    expect(pick(page, "Vendor")).to_have_attribute("open", "", timeout=WAIT)
    pick(page, "Kind").locator("summary").click()
    expect(pick(page, "Vendor")).not_to_have_attribute("open", "", timeout=WAIT)
    assert browser_context.troubles == []


def test_order_filters_and_columns_combine(visit, browser_context):
    page = visit(LIST)
    page.locator("#found thead").get_by_role("link", name="Memory bandwidth").click()
    expect(page.locator("#found th[aria-sort=descending]")).to_contain_text("Memory bandwidth", timeout=WAIT)
    page.fill("#q", "hopper")
    expect(page.locator("#found .chips")).to_contain_text("hopper", timeout=WAIT)
    expect(page.locator("#found th[aria-sort=descending]")).to_contain_text("Memory bandwidth", timeout=WAIT)
    expect(page).to_have_url(re.compile("q=hopper&sort=-memory_bandwidth_gb_s"), timeout=WAIT)
    pick(page, "Columns").locator("summary").click()
    pick(page, "Columns").get_by_label("Die area").check()
    expect(page.locator("#found thead")).to_contain_text("Die area", timeout=WAIT)
    expect(page.get_by_role("link", name="CSV")).to_have_attribute(
        "href", re.compile(r"q=hopper&sort=-memory_bandwidth_gb_s&cols=.*die_area_mm2&format=csv"), timeout=WAIT
    )
    page.go_back()
    expect(page.locator("#found thead")).not_to_contain_text("Die area", timeout=WAIT)
    expect(page.locator("#q")).to_have_value("hopper", timeout=WAIT)
    assert browser_context.troubles == []


def test_the_keyboard_reaches_every_filter(visit, browser_context):
    page = visit(LIST)
    page.locator("#q").focus()
    page.keyboard.press("Tab")
    expect(page.locator("summary", has_text="Vendor")).to_be_focused(timeout=WAIT)
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")  # the first vendor
    expect(page.locator("#chosen-vendor")).to_have_text("1", timeout=WAIT)
    expect(page.locator("input[name=vendor]").first).to_be_focused(timeout=WAIT)  # the swap took nothing away
    page.keyboard.press("Escape")
    expect(page.locator("summary", has_text="Vendor")).to_be_focused(timeout=WAIT)
    expect(pick(page, "Vendor")).not_to_have_attribute("open", "", timeout=WAIT)
    head = page.locator("#found thead").get_by_role("link", name="Board power")
    head.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#found th[aria-sort=descending]")).to_contain_text("Board power", timeout=WAIT)
    pick(page, "Memory").locator("summary").click()
    page.locator("#memory_min").fill("80")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("memory_min=80"), timeout=WAIT)
    expect(page.locator("#memory_min")).to_be_focused(timeout=WAIT)
    expect(pick(page, "Memory")).to_have_attribute("open", "", timeout=WAIT)
    page.locator("h1").click()
    expect(pick(page, "Memory")).not_to_have_attribute("open", "", timeout=WAIT)
    assert browser_context.troubles == []


def test_rows_and_open_filters_lie_within_the_screen(visit):
    page = visit(LIST)
    settle(page)
    ends = page.locator(NAMES).evaluate_all("rows => rows.map(row => row.getBoundingClientRect().bottom)")
    assert sum(end <= 900 for end in ends) >= 22  # with prices among the columns long names take two lines
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        filters = page.locator("details.pick").all()
        assert filters, width
        for filter_ in filters:
            filter_.locator("summary").click()
            box = filter_.locator(".pick-body").evaluate("body => body.getBoundingClientRect().toJSON()")
            assert 0 <= box["left"] < box["right"] <= width, width


@pytest.mark.parametrize("width", [360, 1440])
def test_the_name_stays_in_sight_while_a_wide_table_moves(visit, browser_page, width):
    browser_page.set_viewport_size({"width": width, "height": 900})
    page = visit(f"{LIST}?cols={MANY}")
    settle(page)
    table = page.locator("#found .wide")
    table.evaluate("part => { part.scrollLeft = 250 }")
    assert table.evaluate("part => part.scrollLeft") == 250
    beside, covered = page.locator(NAMES).first.evaluate(NAME_IN_SIGHT)
    assert abs(beside) <= 1
    assert covered


def test_it_all_works_without_scripts(site, browser):
    context = browser.new_context(java_script_enabled=False)
    try:
        page = context.new_page()
        page.goto(site.url + LIST)
        page.fill("#q", "m3 max")
        pick(page, "Vendor").locator("summary").click()
        pick(page, "Vendor").get_by_text("Apple").click()
        page.get_by_role("button", name="Show").click()
        expect(page.locator(NAMES)).to_have_count(2, timeout=WAIT)
        page.locator("#found thead").get_by_role("link", name="Memory bandwidth").click()
        expect(page.locator(NAMES).first).to_contain_text("40-core", timeout=WAIT)
        page.locator("#found .chips a", has_text="m3 max").click()
        expect(page.locator("#found th[aria-sort=descending]")).to_contain_text("Memory bandwidth", timeout=WAIT)
        with page.expect_download(timeout=WAIT) as download:
            page.get_by_role("link", name="CSV").click()
        assert download.value.suggested_filename == "accelerators.csv"
    finally:
        context.close()


def test_header_search_finds_reported_names(visit):
    page = visit("/")
    page.fill("main .find input", "NVIDIA A100-SXM4-80GB")
    page.keyboard.press("Enter")
    page.locator(".hits .best a").click()
    expect(page.locator("h1")).to_contain_text("A100 SXM4 80GB", timeout=WAIT)


@pytest.mark.parametrize(
    "query",
    [
        "",
        "?q=Apple+M3+Max&sort=-tdp_w&colour=red",
        f"?cols={MANY}&vendor=apple&vendor=nvidia",
        f"?cols={MANY}&sort=-die_area_mm2",
        "?vendor=nvidia&supports=fp8&q=a&memory_min=24",
        "?q=zzz",
    ],
)
def test_no_fault_is_found(visit, query):
    page = visit(LIST + query)
    if query.endswith("vendor=nvidia"):
        pick(page, "Released").locator("summary").click()
    assert faults_of(page) == []


def test_no_fault_is_found_in_open_filters(visit):
    """What lies around them is the page that is tested above, with a filter open too."""
    page = visit(LIST)
    for title in ("Supports", "Columns"):
        pick(page, title).locator("summary").click()
        expect(pick(page, title)).to_have_attribute("open", "", timeout=WAIT)
        assert (title, faults_of(page, within="details.pick[open]")) == (title, [])
