"""The search of every page: by keyboard, announced, without scripts, and without barriers."""

import re

from playwright.sync_api import expect

from tests.browser.faults import faults_of

WAIT = 60_000


def test_the_box_suggests_and_is_used_by_keyboard(visit, browser_context):
    page = visit("/learn/")
    box, options = page.locator("[data-find]"), page.locator("#search-options")
    page.keyboard.press("/")
    expect(box).to_be_focused()
    expect(box).to_have_attribute("aria-expanded", "false")
    page.keyboard.type("cudn")
    expect(options).to_be_visible(timeout=WAIT)
    expect(box).to_have_attribute("aria-expanded", "true")
    expect(page.locator("[data-announce]")).to_have_text(re.compile(r"\d suggestion"), timeout=WAIT)
    assert faults_of(page) == []
    page.keyboard.press("ArrowDown")
    expect(box).to_have_attribute("aria-activedescendant", "search-option-1")
    expect(box).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(box).not_to_have_attribute("aria-activedescendant", re.compile("."))
    page.keyboard.press("Escape")
    expect(options).to_be_hidden()
    expect(box).to_have_value("cudn")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/components/cudnn/$"), timeout=WAIT)  # loaded: its script listens for "/"
    page.keyboard.press("/")
    page.keyboard.type("bandwith")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/search/\?q=bandwith$"), timeout=WAIT)
    expect(page.locator(".hits .best a")).to_be_visible()
    assert faults_of(page) == []
    assert browser_context.troubles == []


def test_the_box_answers_without_scripts(site, browser):
    context = browser.new_context(java_script_enabled=False)
    try:
        page = context.new_page()
        page.goto(site.url + "/learn/")
        page.fill("[data-find]", "cudnn")
        page.press("[data-find]", "Enter")
        expect(page.locator(".hits .best a")).to_have_attribute("href", "/components/cudnn/", timeout=WAIT)
    finally:
        context.close()
