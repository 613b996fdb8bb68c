"""A reader of Chinese: sent to Chinese once, stays there, chooses English in the menu, with scripts and without."""

import re
from urllib.parse import urlsplit

import pytest

from tests.browser.faults import faults_of
from tests.browser.settled import settle
from tests.pages.diagnose.conftest import CPU_WHEEL


@pytest.fixture(params=[True, False], ids=["scripts", "no scripts"])
def reader(request, browser):
    """The page of a new visitor whose browser asks for Chinese, with scripts and without."""
    context = browser.new_context(
        locale="zh-CN", viewport={"width": 1440, "height": 900}, java_script_enabled=request.param
    )
    yield context.new_page()
    context.close()


def path_of(page) -> str:
    return urlsplit(page.url).path


def choose(page, language: str) -> None:
    page.locator("details.menu summary").click()
    page.locator(f"details.menu .segments [lang={language}]").click()
    page.wait_for_load_state()


def test_a_reader_stays_in_a_language_until_another_is_chosen(site, reader):
    reader.goto(f"{site.url}/accelerators/?vendor=nvidia")
    assert path_of(reader) == "/zh-hans/accelerators/"
    assert reader.locator("html").get_attribute("lang") == "zh-hans"
    reader.locator("main table a[href*='/accelerators/nvidia-']").first.click()
    reader.wait_for_load_state()
    assert re.match(r"/zh-hans/accelerators/nvidia-", path_of(reader))
    sheet = path_of(reader)
    choose(reader, "en")
    assert path_of(reader) == sheet.removeprefix("/zh-hans")
    reader.goto(f"{site.url}/learn/")
    assert (path_of(reader), reader.locator("html").get_attribute("lang")) == ("/learn/", "en")
    choose(reader, "zh-hans")
    assert path_of(reader) == "/zh-hans/learn/"


def test_a_diagnosis_is_made_again_in_the_other_language(site, reader):
    reader.goto(f"{site.url}/zh-hans/diagnose/")
    reader.locator("#text").fill(CPU_WHEEL)
    reader.locator("#paste button").click()
    reader.wait_for_load_state()
    assert "结论" in reader.locator("main").inner_text()
    choose(reader, "en")
    assert path_of(reader) == "/diagnose/"
    assert "结论" not in reader.locator("main").inner_text()
    assert "2.12.0+cpu" in reader.locator("#text").input_value()


def test_suggestions_and_the_tray_stay_in_chinese(site, browser):
    context = browser.new_context(locale="zh-CN", viewport={"width": 1440, "height": 900})
    try:
        page = context.new_page()
        page.goto(f"{site.url}/zh-hans/accelerators/")
        page.locator("header [data-find]").fill("h100")
        option = page.locator("#search-options [role=option] a, #search-options a[role=option]").first
        option.wait_for()
        assert str(option.get_attribute("href")).startswith("/zh-hans/")
        page.locator("main [data-tray-add]").first.click()
        assert str(page.locator("[data-tray-go]").get_attribute("href")).startswith("/zh-hans/compare/?a=")
        assert faults_of(page) == []
        page.locator("details.menu summary").click()
        settle(page)
        sizes = page.locator("details.menu .segments a").evaluate_all(
            "links => links.map(link => [link.offsetWidth, link.offsetHeight])"
        )
        assert [width >= 60 and height >= 32 for width, height in sizes] == [True, True]
    finally:
        context.close()
