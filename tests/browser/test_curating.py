"""The curator's pages in a browser: the queue of names, one name, completeness; read by everybody, used by keyboard."""

import json

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.browser.conftest import PASSWORD
from tests.wire.reports import h100_card, report_body, sha256

WAIT_MS = 60_000
NAME = "NVIDIA GeForce RTX 4090 D"
QUEUE, COMPLETENESS = "/admin/labs/card/names/", "/admin/catalog/completeness/"
ONE = "/admin/labs/card/names/one/?name=NVIDIA+GeForce+RTX+4090+D&vendor=nvidia"
SERIOUS = {"serious", "critical"}


@pytest.fixture(scope="module")
def waiting(site) -> str:
    """A site where a machine reports a card no sheet has the name of."""
    site.send_and_wait(
        report_body(
            machine={"identity": sha256("queue"), "name": "queue"},
            cards=[h100_card(reported_name=NAME, memory_bytes=24_564 * 2**20)],
            results=[],
        )
    )
    return site.url


def signed_in(browser, url: str, **options):
    context = browser.new_context(bypass_csp=True, **options)
    page = context.new_page()
    page.goto(f"{url}/admin/login/", wait_until="load", timeout=WAIT_MS)
    page.fill("#id_username", "curator")
    page.fill("#id_password", PASSWORD)
    page.press("#id_password", "Enter")
    page.wait_for_url("**/admin/", timeout=WAIT_MS)
    return context, page


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_curators_pages_can_be_read_by_everybody(waiting, browser, scheme):
    context, page = signed_in(browser, waiting, color_scheme=scheme, viewport={"width": 1280, "height": 900})
    try:
        found = {}
        for path in (
            QUEUE,
            ONE,
            f"{QUEUE}?show=ignored",
            COMPLETENESS,
            f"{COMPLETENESS}?fields=all&state=missing",
            "/admin/",
        ):
            page.goto(waiting + path, wait_until="load", timeout=WAIT_MS)
            found[path] = [
                f"{problem['id']}: {json.dumps([node['target'] for node in problem['nodes'][:4]])}"
                for problem in Axe().run(page, "#content").response["violations"]
                if problem["impact"] in SERIOUS
            ]
    finally:
        context.close()
    assert {path: problems for path, problems in found.items() if problems} == {}


@pytest.mark.parametrize("width", [360, 768, 1440])
def test_curators_pages_never_scroll_sideways(waiting, browser, width):
    context, page = signed_in(browser, waiting, viewport={"width": width, "height": 800})
    try:
        for path in (QUEUE, ONE, COMPLETENESS, "/admin/"):
            page.goto(waiting + path, wait_until="load", timeout=WAIT_MS)
            overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            assert overflow <= 0, path
    finally:
        context.close()


def test_name_is_assigned_and_undone_by_keyboard(waiting, log_in, browser_context):
    page = log_in()
    page.goto(waiting + QUEUE, wait_until="load", timeout=WAIT_MS)
    waits = page.locator(".queue tr", has=page.locator("code", has_text=NAME))  # other tests' names wait there too
    suggestion = waits.get_by_role("button", name="NVIDIA GeForce RTX 4090").first
    expect(suggestion).to_contain_text("same memory")
    suggestion.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".messagelist")).to_contain_text("1 card now has a different spec sheet.", timeout=WAIT_MS)
    expect(waits).to_have_count(0)
    page.goto(f"{waiting}/changes/?field=name", wait_until="load", timeout=WAIT_MS)
    expect(page.locator("main")).not_to_contain_text(NAME)  # it has no source
    page.goto(waiting + QUEUE, wait_until="load", timeout=WAIT_MS)
    page.get_by_role("button", name=f"Undo {NAME}").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".messagelist")).to_contain_text("Undone", timeout=WAIT_MS)
    expect(waits).to_have_count(1)
    assert browser_context.troubles == []


def test_completeness_page_is_linked_and_filters(waiting, log_in, browser_context):
    page = log_in()
    page.get_by_role("link", name="Catalogue completeness").click()
    expect(page.locator(".matrix tbody").last.locator("tr")).to_have_count(60, timeout=WAIT_MS)
    page.select_option("select[name=vendor]", "nvidia")
    page.select_option("select[name=fields]", "memory")
    page.get_by_role("button", name="Show").click()
    expect(page.locator(".matrix thead")).to_contain_text("Memory bus", timeout=WAIT_MS)
    expect(page.locator(".matrix")).not_to_contain_text("AMD")
    assert browser_context.troubles == []
