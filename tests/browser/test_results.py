"""Pages of measured results in a browser: axe, without scripts, on a phone, by keyboard."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.faults import faults_of

WAIT = 60_000  # a busy machine takes its time
MAKE = """
from stackviz.records.series.decide_standing import record_decision
from stackviz.records.series.models import Result
from tests.pages.machines.factories import copy, gemm, make_lab, make_machine
from tests.pages.benchmarks.machines import A100, H100, run, seconds
from django.contrib.auth.models import User
lab = make_lab("measured-lab")
m5 = make_machine(lab, "m5")
for day in range(20):  # slower since the tenth
    rate = (760 if day < 10 else 700) * (1 + 0.004 * (day % 3 - 1))
    run(lab, "m5", H100, [gemm("bf16", seconds(rate, 4096), side=4096)], machine=m5, day=day)
reports = [
    run(lab, name, slug, [gemm("bf16", seconds(rate)), copy([0.0029, 0.003] * 4)])
    for name, slug, rate in (("m1", H100, 742), ("m2", H100, 760), ("m3", A100, 250), ("m4", A100, 240))
]
record_decision(Result.objects.get(report=reports[3], position=0), "withdrawn", "a shared card", User.objects.first())
print("RUN", reports[0].pk, m5.series.get().pk)
"""


@pytest.fixture(scope="module")
def pages(site) -> tuple[str, ...]:
    report, series = site.shell(MAKE).split("RUN ")[1].split()[:2]
    return (
        "/benchmarks/gemm/",
        "/benchmarks/memory-copy/",
        f"/benchmarks/runs/{report}/0/",
        "/benchmarks/withdrawn/",
        "/benchmarks/?accelerator=nvidia-h100-sxm5-80gb&accelerator=apple-m3-max-40",
        f"/machines/measured-lab/m5/series/{series}/",
    )


@pytest.mark.parametrize("number", range(6))
def test_no_fault_is_found(visit, pages, number):
    page = visit(pages[number])
    assert faults_of(page) == []
    page.set_viewport_size({"width": 360, "height": 800})
    for axis in page.locator(".ladder thead th:nth-child(3)").all():  # the unit of the figures stands nowhere else
        expect(axis).to_contain_text("/s")
        expect(axis).to_be_visible()


def test_the_way_from_the_list_to_a_result_works_without_scripts(site, browser, pages):
    context = browser.new_context(java_script_enabled=False)
    try:
        page = context.new_page()
        page.goto(f"{site.url}/benchmarks/")
        page.get_by_role("link", name="Memory copy").first.click()
        page.locator(".ladder.measured .meter a").first.click()
        expect(page.locator("h1")).to_contain_text("TB/s", timeout=WAIT)
        expect(page.locator("#again + .copy pre")).to_contain_text("--case bytes=", timeout=WAIT)
        page.goto(f"{site.url}/benchmarks/withdrawn/")
        expect(page.locator("main")).to_contain_text("a shared card", timeout=WAIT)
        page.goto(site.url + pages[-1])
        expect(page.locator(".head:has(#past) ~ figure table")).to_be_visible()
        expect(page.locator("main")).to_contain_text("slower since", timeout=WAIT)
        expect(page.locator(".over-time svg")).to_be_visible()
        assert page.locator("[data-chart-plot]").bounding_box() is None  # no empty frame where nothing is drawn
    finally:
        context.close()


def test_the_history_of_a_series_is_drawn_and_left_by_keyboard(visit, browser_context, pages):
    page = visit(pages[-1])
    page.locator("[data-chart-open]").focus()
    page.keyboard.press("Enter")
    expect(page.locator("[data-chart-plot]")).to_be_focused(timeout=WAIT)
    file = page.get_by_role("link", name="CSV")
    file.focus()
    expect(page.locator(".js-plotly-plot .scatterlayer .point").first).to_be_visible(timeout=WAIT)
    expect(page.locator(".over-time")).to_be_hidden()
    with page.expect_download(timeout=WAIT):
        page.keyboard.press("Enter")
    page.locator("figure table td a").first.focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/receipts/"), timeout=WAIT)
    assert browser_context.troubles == []


def test_a_measured_row_is_reached_by_keyboard(visit, pages):
    page = visit(pages[1])
    link = page.locator(".ladder.measured .meter a").first
    link.focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/benchmarks/runs/"), timeout=WAIT)
