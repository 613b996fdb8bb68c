"""The scripts in a real browser: tray, theme, charts; and what assistive technology makes of the pages.

Whole journeys are in tests/browser; here is what each script promises.
"""

import json
import re
import shutil

import pytest
from playwright.sync_api import expect

from tests.browser.faults import faults_of
from tests.curated import curated_file
from tests.live import Site

SEED = """
from tests.pages.machines.factories import *
from stackviz.records.catalog.models import Accelerator
h100_sheet = Accelerator.objects.get(slug="nvidia-h100-sxm5-80gb")
lab = make_lab()
results = [gemm("bf16", [0.0014] * 7), gemm("fp32", [0.02] * 7), copy([0.0028] * 7)]
for number in range(8):
    machine = make_machine(lab, f"dgx-{number}")
    make_report(machine, cards=[h100(0, h100_sheet)], findings=[warning()], results=results)
make_report(machine, at=START + days(1), cards=[h100(0, h100_sheet)], results=results)
"""
PAGES = [
    "/",
    "/machines/",
    "/machines/north/",
    "/machines/north/dgx-7/",
    "/machines/add/",
    "/learn/",
    "/login/",
    "/none/",
]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A site with eight machines; nobody writes to it."""
    folder = tmp_path_factory.mktemp("fronts")
    shutil.copy(curated_file(), folder / "accelweb.sqlite3")
    made = Site(folder)
    try:
        made.shell(SEED)
        made.start_web(workers=1)
        yield made
    finally:
        made.stop()


@pytest.fixture
def visit(site, browser_page):
    def go(path):
        browser_page.goto(site.url + path)
        return browser_page

    return go


def in_tray(page):
    return [text.strip(" ✕\n") for text in page.locator("aside[data-tray] li").all_inner_texts()]


def said(page):
    return page.locator("[data-announce]").inner_text()


def test_tray_persists_across_pages(visit, browser_context):
    page = visit("/machines/")
    page.locator("[data-tray-add$='dgx-1']").click()
    page.locator("[data-tray-add$='dgx-2']").click()
    assert said(page) == "dgx-2 is in the compare tray, 2 of 6"
    page = visit("/stacks/")
    assert in_tray(page) == ["dgx-1", "dgx-2"]
    go = page.locator("[data-tray-go]")
    assert go.get_attribute("href") == "/compare/?a=machine:north/dgx-1&a=machine:north/dgx-2"
    assert go.inner_text() == "Compare 2"
    assert browser_context.troubles == []


def test_tray_survives_filters(visit):
    page = visit("/machines/")
    page.locator("[data-tray-add$='dgx-1']").click()
    page.fill("#q", "dgx-1")
    page.wait_for_url("**/machines/?q=dgx-1")
    button = page.locator("#machines [data-tray-add$='dgx-1']")
    expect(button).to_have_attribute("aria-pressed", "true")
    button.click()
    assert in_tray(page) == []
    assert said(page) == "dgx-1 was removed, 0 of 6 in the compare tray"


def test_a_seventh_is_refused_aloud(visit):
    page = visit("/machines/")
    buttons = page.locator("[data-tray-add]")
    for number in range(7):
        buttons.nth(number).click()
    assert len(in_tray(page)) == 6
    assert said(page).startswith("The compare tray holds six.")


def test_tray_empties_by_keyboard(visit):
    page = visit("/machines/")
    for number in (1, 2):
        page.locator(f"[data-tray-add$='dgx-{number}']").click()
    page.locator("[data-tray-remove]").first.focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Remove dgx-2 from the compare tray"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.tagName") == "MAIN"
    assert page.locator("aside[data-tray]").is_hidden()


def test_the_tray_shows_where_a_page_offers_subjects(visit):
    page = visit("/machines/")
    page.locator("[data-tray-add$='dgx-1']").click()
    assert page.locator("aside[data-tray]").is_visible()
    for address in ("/learn/", "/fit/", "/compare/?a=machine:north/dgx-1&a=machine:north/dgx-2"):
        assert visit(address).locator("aside[data-tray]").is_hidden()


def test_what_is_stored_for_the_tray_is_only_ever_text(visit, browser_context):
    page = visit("/machines/")
    hostile = "<img src=x onerror=alert(1)>"
    stored = json.dumps([{"subject": hostile, "name": hostile}])
    nonsense = ("{", "7", '[null, {"subject": 1}]', '{"a": 1}')
    for text, names in (*((text, []) for text in nonsense), (stored, [hostile])):
        page.evaluate("text => localStorage.setItem('accelweb.tray', text)", text)
        page.reload()
        assert in_tray(page) == names
    assert page.locator("aside[data-tray] img").count() == 0
    assert browser_context.troubles == []


def test_theme_applies_before_first_paint(visit):
    page = visit("/")
    page.emulate_media(color_scheme="light")
    page.locator("details.menu summary").click()
    page.locator("[data-theme-choice=dark]").click()
    dark = "rgb(18, 20, 23)"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == dark
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert page.locator("[data-theme-choice=dark]").get_attribute("aria-pressed") == "true"
    page.locator("details.menu summary").click()
    page.locator("[data-theme-choice=system]").click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != dark


def test_escape_closes_the_menu_and_the_first_tab_skips_it(visit):
    page = visit("/")
    page.locator("details.menu summary").click()
    page.keyboard.press("Escape")
    assert page.locator("details.menu[open]").count() == 0
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY"
    page = visit("/machines/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_plotly_loads_on_request(visit, browser_context):
    asked = []
    browser_context.on("request", lambda request: asked.append(request.url))
    page = visit("/machines/north/dgx-7/")
    page.locator(".results th[scope=row] a").first.click()
    page.wait_for_load_state("networkidle")
    assert not any("plotly" in url for url in asked)
    page.locator("[data-chart-open]").first.click()
    page.wait_for_selector(".js-plotly-plot .main-svg")
    assert any("plotly" in url for url in asked)
    ink = "document.querySelector('.js-plotly-plot .ytick text').style.fill"
    before = page.evaluate(ink)
    page.locator("details.menu summary").click()
    page.locator("[data-theme-choice=dark]").click()
    page.wait_for_timeout(500)
    assert page.evaluate(ink) != before
    assert page.locator(".timeline table").is_visible()  # the figures stay
    assert browser_context.troubles == []


def test_idle_page_stops_polling(browser_page, site):
    asked = []

    def hours_later(route):
        asked.append(route.request.url)
        route.continue_(url=re.sub(r"since=[0-9]+", "since=1000", route.request.url))

    browser_page.route("**/dgx-7/?seen=*", hours_later)
    browser_page.clock.install()
    browser_page.goto(site.url + "/machines/north/dgx-7/")
    browser_page.clock.run_for(11_000)
    browser_page.wait_for_timeout(500)
    browser_page.clock.run_for(60_000)
    browser_page.wait_for_timeout(500)
    assert len(asked) == 1
    assert "Xeon" in browser_page.locator("#machine").inner_text()


def test_what_a_filter_found_is_said_aloud(visit):
    page = visit("/machines/")
    page.fill("#q", "dgx-3")
    page.wait_for_url("**/machines/?q=dgx-3")
    expect(page.locator("[data-announce]")).to_have_text("1 machine")
    page.fill("#q", "none of that name")
    page.wait_for_url("**/machines/?q=none*")
    expect(page.locator("[data-announce]")).to_have_text("no machine")


@pytest.mark.parametrize("path", PAGES)
def test_no_fault_is_found(visit, path):
    assert faults_of(visit(path)) == []
