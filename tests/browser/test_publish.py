"""A machine published by whoever pasted it: looked at first, public with a curator's yes, gone when it is withdrawn."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PASSWORD
from tests.browser.faults import faults_of
from tests.pages.diagnose.test_publish import ADDRESS, RIG

WAIT = 60_000  # a busy machine takes its time
PRIVATE = ("marie", "rack-7", "3b8b0e3c")


@pytest.fixture
def curator(site, browser):
    """Another person, logged in to the admin in a browser of their own."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{site.url}/admin/login/")
    page.fill("#id_username", "curator")
    page.fill("#id_password", PASSWORD)
    page.click("form.login button")
    page.wait_for_url("**/admin/")
    yield page
    context.close()


def decide(page, site, title: str, action: str) -> None:
    """Choose the proposed host in the admin's list and press an action, with a reason."""
    page.goto(f"{site.url}/admin/cited/hostproposal/")
    page.locator("#result_list tr", has_text=title).locator("input.action-select").check()
    page.select_option("select[name=action]", action)
    page.fill("input[name=why]", "Read beside the post")
    page.locator(".actions button").click()
    expect(page.locator(".messagelist")).to_contain_text("1 host decided", timeout=WAIT)


def test_a_pasted_machine_is_published_and_withdrawn(visit, site, curator, browser_context):
    page = visit("/diagnose/")
    page.fill("#text", RIG)
    page.get_by_role("button", name="Diagnose", exact=True).click()
    page.get_by_role("button", name="Publish as a host").click()

    expect(page.get_by_role("heading", name="Publish as a host")).to_be_visible(timeout=WAIT)
    shown = page.locator("#public").inner_text()
    assert "NVIDIA GeForce RTX 4090" in shown
    assert "150.21 tokens/s" in page.locator("main").inner_text()
    assert not [word for word in PRIVATE if word in page.content()]
    assert faults_of(page) == []
    title = page.locator("#public dd").first.inner_text()
    page.fill("#id_source_url", ADDRESS)
    page.fill("#id_seen_on", "2026-11-02")
    page.get_by_role("button", name="Send to a curator").click()
    page.wait_for_url(re.compile(r"/diagnose/hosts/[A-Za-z0-9_-]{43}/$"))
    private_address = page.url
    expect(page.locator("main .lead")).to_contain_text("waits for a curator", timeout=WAIT)
    assert faults_of(page) == []

    decide(curator, site, title, "publish")
    page.goto(private_address)
    page.get_by_role("link", name="see its page").click()
    page.wait_for_url("**/hosts/rtx-4090-*/")
    public_address = page.url.removeprefix(site.url)
    expect(page.locator("h1")).to_have_text(title)
    result = page.locator("section[aria-labelledby=results] a", has_text="150.2 tokens/s").first
    result_address = result.get_attribute("href")
    results_in_api = f"/api/v1/cited/?host={public_address.strip('/').rpartition('/')[2]}"
    assert "150.21" in site.get(results_in_api)[1]
    assert faults_of(page) == []

    page.goto(private_address)
    page.get_by_role("button", name="Withdraw it").click()
    expect(page.locator("main .lead")).to_contain_text("It is not public", timeout=WAIT)
    status, text = site.get(public_address)
    assert (status, "150.2" in text) == (410, False)
    assert site.get(results_in_api)[0] == 404
    assert "withdrawn with its host" in site.get(result_address)[1]
    assert browser_context.troubles == []
