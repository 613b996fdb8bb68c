"""Whole journeys in a real browser: a visitor compares, a machine uploads while its page is open, an admin corrects."""

import re
import signal

import pytest
from playwright.sync_api import expect

from tests.browser.settled import settle
from tests.pages.diagnose.conftest import TWO_MACHINES
from tests.report.format.reports import gemm_result, report_body, sha256

SECONDS = 1000


@pytest.mark.fast
def test_from_home_over_a_sheet_and_a_comparison_to_a_diagnosis(visit, browser_context):
    page = visit("/")
    page.locator("main .doors").get_by_role("link", name="Hardware").click()
    page.wait_for_url("**/accelerators/")
    page.fill("#q", "H100 SXM5 80")
    expect(page.locator("#found [data-tray-add^='apple']")).to_have_count(0)
    page.locator("#found a[href='/accelerators/nvidia-h100-sxm5-80gb/']").first.click()
    page.wait_for_url("**/nvidia-h100-sxm5-80gb/")
    page.locator("main [data-tray-add='nvidia-h100-sxm5-80gb']").first.click()
    visit("/accelerators/apple-m3-max-40/").locator("main [data-tray-add='apple-m3-max-40']").first.click()
    page.locator("aside[data-tray] [data-tray-go]").click()
    page.wait_for_url(re.compile("/compare/[?]a="))
    text = page.locator("main").inner_text()
    assert "H100" in text
    assert "M3 Max" in text
    page.locator(".top nav").get_by_role("link", name="Diagnose").click()
    page.wait_for_url("**/diagnose/")
    page.fill("#text", TWO_MACHINES)
    page.get_by_role("button", name="Diagnose", exact=True).click()
    expect(page.locator(".machine .finding.broken").first).to_contain_text("is built without CUDA")
    assert browser_context.troubles == []


def test_search_collect_compare_by_address(visit, browser, browser_context):
    page = visit("/accelerators/")
    page.fill("#q", "H100 SXM")
    expect(page.locator("#found [data-tray-add^='apple']")).to_have_count(0)  # the list follows what is typed
    page.locator("#found [data-tray-add*='h100']").first.click()
    page.fill("#q", "M3 Max")
    page.locator("#found [data-tray-add*='m3-max']").first.click()
    visit("/machines/lab/rack-7/").locator("[data-tray-add='machine:lab/rack-7']").first.click()
    tray = page.locator("aside[data-tray]")
    assert tray.locator("li").count() == 3
    tray.locator("[data-tray-go]").click()
    page.wait_for_url(re.compile("/compare/[?]a="))
    assert page.url.count("a=") == 3
    assert_three_columns_and_eight_layers(page)

    colleague = browser.new_context(java_script_enabled=False)
    try:
        other = colleague.new_page()
        other.goto(page.url)
        assert_three_columns_and_eight_layers(other)
        assert other.locator("h1").inner_text() == page.locator("h1").inner_text()
    finally:
        colleague.close()
    assert browser_context.troubles == []


def test_a_phone_shows_every_part_of_the_site_without_scrolling(visit, browser_page):
    browser_page.set_viewport_size({"width": 360, "height": 800})
    for language, path in (("en", "/plan/"), ("en", "/learn/"), ("zh-CN", "/")):
        browser_page.set_extra_http_headers({"Accept-Language": language})
        page = visit(path)
        settle(page)
        boxes = page.locator(".top-in nav a").evaluate_all(
            "all => all.map(entry => entry.getBoundingClientRect().toJSON())"
        )
        assert len(boxes) == 6
        assert all(box["left"] >= 0 and box["right"] <= 360 for box in boxes), path
        assert min(box["height"] for box in boxes) >= 24


def assert_three_columns_and_eight_layers(page) -> None:
    text = page.locator("main").inner_text()
    for word in ("H100", "M3 Max", "rack-7"):
        assert word in text
    classes = [element.get_attribute("class") or "" for element in page.locator("[class*='layer-']").all()]
    layers = set(re.findall(r"layer-(\w+)", " ".join(classes)))
    assert layers >= {"application", "framework", "compiler", "library", "platform", "driver", "os", "hardware"}


def test_a_machines_page_fills_in_while_it_is_open(site, visit, browser_page, browser_context):
    body = report_body(machine={"identity": sha256("a machine that reports twice"), "name": "live-1"})
    site.send_and_wait(body | {"results": []})
    browser_page.clock.install()
    page = visit("/machines/lab/live-1/")
    assert "2.14.9" not in page.locator("#machine").inner_text()
    again = report_body(
        machine=body["machine"],
        created_at="2026-11-20T13:30:00Z",
        facts=body["facts"] | {"torch.version": "2.14.9"},
        results=[gemm_result(started_at="2026-11-20T13:29:00Z")],
    )
    site.send_and_wait(again)
    # Nobody touches the page: it asks by itself, every ten seconds of its own clock.
    page.clock.run_for(11 * SECONDS)
    expect(page.locator("#machine")).to_contain_text("2.14.9", timeout=40 * SECONDS)
    assert page.locator("h1").inner_text() == "live-1"
    assert browser_context.troubles == []


def test_a_receipt_fills_in_while_it_is_open(site, browser_page, browser_context):
    site.children["worker"].send_signal(signal.SIGSTOP)  # nobody reads
    try:
        receipt = site.send(report_body(machine={"identity": sha256("one more"), "name": "late-1"}))
        browser_page.goto(receipt if "://" in receipt else site.url + receipt)
        assert browser_page.locator("#receipt a.primary").count() == 0
    finally:
        site.children["worker"].send_signal(signal.SIGCONT)
    browser_page.locator("#receipt a.primary").wait_for(timeout=40 * SECONDS)
    browser_page.locator("#receipt a.primary").click()
    assert browser_page.locator("h1").inner_text() == "late-1"
    assert browser_context.troubles == []


def test_admin_correction_shows_on_sheet(site, log_in, visit):
    slug, value_id = site.shell(
        "from stackviz.records.catalog.models import SpecValue\n"
        "v = SpecValue.objects.filter(accelerator__slug__contains='h100', field='tdp_w', status='public').order_by('pk').first()\n"
        "print(v.accelerator.slug, v.pk)"
    ).split()[-2:]
    page = log_in()
    visit(f"/admin/catalog/specvalue/{value_id}/change/")
    page.fill("[name=value]", "691")
    page.check("[name=source_confirmed]")
    reason = page.locator("[name=history_change_reason], [name=change_reason], [name=reason]")
    if reason.count():
        reason.first.fill("the data sheet was revised")
    page.click("[name=_save]")
    assert page.locator(".errornote, .errorlist").count() == 0, page.locator(".errorlist").all_inner_texts()
    site.shell(  # a second person approves; test_curation does it by hand
        "from django.contrib.auth.models import User\n"
        "from stackviz.desk.curation.decide_proposals import approve\n"
        "from stackviz.records.catalog.models import Proposal\n"
        f"approve(Proposal.objects.get(target={value_id}, state='review').pk, User.objects.get(username='second'))"
    )
    sheet = visit(f"/accelerators/{slug}/")
    assert re.search(r"\b691\sW", sheet.locator("main").inner_text())
    visit(f"/admin/catalog/specvalue/{value_id}/history/")
    text = page.locator("#content").inner_text()
    assert "curator" in text
    assert text.count("20") >= 2  # the moments of the load and of the correction
