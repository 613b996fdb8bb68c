"""Chapters and calculations in a browser: no barrier, light and dark, on a phone; by keyboard; and without scripts."""

import re

import pytest
from playwright.sync_api import expect

from stackviz.pages.learn.chapters import read_chapters
from stackviz.pages.learn.trying import all_tries
from tests.browser.faults import faults_of

WAIT = 60_000  # a busy machine takes its time
CHAPTERS = tuple(f"/learn/{chapter.slug}/" for chapter in read_chapters("en"))
TRIES = tuple(f"/learn/try/{key}/" for key in all_tries())


@pytest.mark.parametrize("path", ["/learn/", *CHAPTERS, *TRIES, "/learn/try/amdahl/?parallel=many&cores=0"])
def test_no_fault_is_found(visit, path):
    assert faults_of(visit(path)) == []


def test_no_fault_is_found_in_chinese(site, browser):
    context = browser.new_context(locale="zh-CN", viewport={"width": 1440, "height": 900})
    try:
        page = context.new_page()
        for path in ("/learn/memory-wall/", "/learn/recipes/"):
            page.goto(site.url + path)
            assert page.locator("html").get_attribute("lang") == "zh-hans"
            assert faults_of(page) == []
    finally:
        context.close()


def test_a_calculation_in_a_chapter_is_worked_by_keyboard(visit, browser_context):
    page = visit("/learn/memory-wall/")
    box = page.locator("#try-fusion")
    before, before_url = box.locator(".answer").inner_text(), page.url
    box.get_by_label("Operators in the chain").fill("8")
    page.keyboard.press("Enter")
    expect(box.locator(".answer")).to_contain_text("8× fewer bytes", timeout=WAIT)
    assert before != box.locator(".answer").inner_text()
    expect(box.get_by_label("Operators in the chain")).to_be_focused(timeout=WAIT)
    assert page.locator("h1").inner_text() == "The memory wall"
    assert page.url == before_url  # a chapter stays a chapter when it is loaded again
    assert browser_context.troubles == []


def test_the_address_of_a_calculation_keeps_its_numbers(visit, browser_context):
    page = visit("/learn/try/amdahl/")
    page.get_by_label("Cores", exact=True).fill("20")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/learn/try/amdahl/[?]parallel=95&cores=20$"), timeout=WAIT)
    expect(page.locator(".answer")).to_contain_text("10× as fast", timeout=WAIT)
    page.get_by_label("Cores", exact=True).fill("40")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"cores=40$"), timeout=WAIT)
    page.go_back()
    expect(page.locator(".answer")).to_contain_text("10× as fast", timeout=WAIT)
    assert browser_context.troubles == []


def test_a_calculation_answers_without_scripts(site, browser):
    context = browser.new_context(java_script_enabled=False)
    try:
        page = context.new_page()
        page.goto(f"{site.url}/learn/from-cpu-to-accelerator/")
        page.get_by_label("Cores", exact=True).fill("20")
        page.get_by_label("Work that can be divided (%)").fill("95")
        page.get_by_role("button", name="Compute").click()
        expect(page).to_have_url(re.compile(r"/learn/try/amdahl/[?]parallel=95&cores=20$"), timeout=WAIT)
        expect(page.locator(".answer")).to_contain_text("20 cores make it 10× as fast", timeout=WAIT)
    finally:
        context.close()
