"""The change log in a browser: read by everybody, filtered by keyboard, followed to the sheet."""

import pytest
from playwright.sync_api import expect

from tests.browser.faults import faults_of

WAIT_MS = 60_000


@pytest.fixture(scope="module")
def corrected(site) -> str:
    """A site where a curator has changed a figure, added a name and removed an accelerator."""
    site.shell(
        "from django.contrib.auth.models import User\n"
        "from stackviz.records.catalog.models import *\n"
        "mira = User.objects.get(username='curator')\n"
        "def done(row, reason):\n"
        "    row._history_user, row._change_reason = mira, reason\n"
        "    return row\n"
        "value = SpecValue.objects.get(accelerator__slug='nvidia-t4', field='tdp_w', is_preferred=True)\n"
        "value.value = '71'\n"
        "done(value, 'read from the data sheet').save()\n"
        "done(Alias(accelerator=value.accelerator, name='Tesla T4 of this test'), 'seen in three machines').save()\n"
        "gone = done(Accelerator(slug='gone', name='Gone One', vendor=value.accelerator.vendor, kind='gpu'), 'new')\n"
        "gone.save()\n"
        "done(gone, 'never sold').delete()\n"
    )
    return site.url


@pytest.mark.parametrize(
    "path", ["/changes/", "/changes/?load=1", "/changes/?a=nvidia-t4", "/changes/?a=nothing", "/freshness/"]
)
def test_no_fault_is_found(corrected, visit, path):
    assert faults_of(visit(path)) == []


def test_a_mistake_is_reported_without_a_script(site, browser):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{site.url}/accelerators/nvidia-t4/mistake/?field=memory_gb&condition=", timeout=WAIT_MS)
    page.get_by_label("What is wrong?").fill("It has 15 GB.")
    page.get_by_role("button", name="Report it").click()
    expect(page.locator("main")).to_contain_text("It waits for a curator", timeout=WAIT_MS)
    context.close()


@pytest.mark.parametrize("path", ["/accelerators/nvidia-t4/mistake/?field=memory_gb&condition=", "/corrections/"])
def test_no_fault_is_found_where_mistakes_are_reported(site, visit, path):
    assert faults_of(visit(path)) == []


def test_the_log_is_filtered_with_the_keyboard_alone(corrected, visit, browser_context):
    page = visit("/changes/")
    page.locator("#a").focus()
    page.keyboard.type("NVIDIA T4")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Changes of NVIDIA T4", timeout=WAIT_MS)
    first = page.locator(".log li", has_text="Board power").first
    expect(first).to_contain_text("71 W")
    expect(first).to_contain_text("read from the data sheet")
    expect(first).to_contain_text("curator")
    expect(page.locator("link[type='application/rss+xml']")).to_have_attribute("href", "/changes/feed/?a=nvidia-t4")
    assert browser_context.troubles == []


def test_what_was_removed_is_told_and_leads_nowhere(corrected, visit):
    page = visit("/changes/?field=sheet")
    gone = page.locator(".log li", has_text="never sold")
    expect(gone).to_contain_text("removed")
    assert gone.locator("a").count() == 0


def test_a_load_opens_into_its_steps(corrected, visit):
    page = visit("/changes/")
    page.get_by_role("link", name="one by one").last.click()
    expect(page.locator(".note.info")).to_contain_text("Only the steps of load", timeout=WAIT_MS)
    assert page.locator(".log li").count() == 50
    page.get_by_role("link", name="Older").click()
    expect(page.get_by_role("link", name="Newest")).to_be_visible(timeout=WAIT_MS)
    assert page.locator(".log li").count() == 50
