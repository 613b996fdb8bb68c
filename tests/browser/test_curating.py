"""The curator's pages in a browser: the queue of names, one name, completeness; read by everybody, used by keyboard."""

import pytest
from playwright.sync_api import expect

from tests.browser.faults import faults_of
from tests.report.format.reports import h100_card, report_body, sha256

WAIT_MS = 60_000
NAME = "NVIDIA GeForce RTX 4090 Z"
QUEUE, COMPLETENESS = "/admin/labs/card/names/", "/admin/catalog/completeness/"
ONE = "/admin/labs/card/names/one/?name=NVIDIA+GeForce+RTX+4090+Z&vendor=nvidia"


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


def test_no_fault_is_found_in_the_curators_pages(waiting, log_in, visit):
    log_in()
    ignored, missing = f"{QUEUE}?show=ignored", f"{COMPLETENESS}?fields=all&state=missing"
    for path in (QUEUE, ONE, ignored, COMPLETENESS, missing, "/admin/"):
        assert (path, faults_of(visit(path), within="#content")) == (path, [])


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
