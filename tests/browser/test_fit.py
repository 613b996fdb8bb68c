"""The page of what fits in a browser: it answers at once, without scripts too, on a phone and without barriers."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.faults import faults_of

WAIT = 60_000  # a busy machine takes its time
CHOSEN = "/fit/?model=llama-3-70b&accelerator=apple-m4-max-40&accelerator=nvidia-geforce-rtx-5090"
TRAINING = "/fit/?model=llama-3.1-8b&precision=bf16&task=full&cards=2"
SIZES = "/fit/?accelerator=apple-m1-8&accelerator=nvidia-geforce-rtx-3060"
PAGES = ("/fit/", CHOSEN, TRAINING, SIZES)


def test_another_model_answers_at_once_and_the_address_says_it(visit, browser_context):
    page = visit("/fit/")
    page.locator("#model").focus()
    page.select_option("#model", "llama-3-70b")
    expect(page.locator(".answer")).to_contain_text("Llama 3 70B", timeout=WAIT)
    expect(page).to_have_url(re.compile(r"/fit/[?].*model=llama-3-70b"), timeout=WAIT)
    expect(page.locator("#model")).to_be_focused(timeout=WAIT)  # the swap took nothing away
    page.select_option("#accelerator", "nvidia-geforce-rtx-5090")
    expect(page.locator(".answer")).to_contain_text("does not fit NVIDIA GeForce RTX 5090", timeout=WAIT)
    page.go_back()
    expect(page.locator(".answer")).not_to_contain_text("does not fit", timeout=WAIT)
    assert browser_context.troubles == []


@pytest.mark.parametrize("path", ["/fit/?accelerator=nvidia-t4", "/plan/?accelerator=nvidia-t4"])
def test_other_accelerator_is_typed_and_chosen_by_keys(visit, browser_context, path):
    page = visit(path)
    box = page.locator("#any-accelerator")
    box.press_sequentially("hailo-8")
    expect(page.locator("#accelerator-options [role=option]").first).to_be_visible(timeout=WAIT)
    assert "hailo" not in page.url  # what is typed is no choice yet
    box.press("ArrowDown")
    box.press("Enter")
    expect(page).to_have_url(re.compile("accelerator=hailo-8$"), timeout=WAIT)
    assert browser_context.troubles == []


def test_a_typed_model_asks_for_its_parameters(visit, browser_context):
    page = visit("/fit/")
    page.select_option("#model", "custom")
    expect(page.locator("#parameters")).to_be_visible(timeout=WAIT)
    page.fill("#parameters", "8B")
    page.locator("#parameters").press("Tab")
    expect(page.locator(".answer")).to_contain_text("needs", timeout=WAIT)
    assert browser_context.troubles == []


def test_a_refused_number_is_named(visit):
    page = visit("/fit/")
    page.fill("#context", "0")
    page.locator("#context").press("Tab")
    expect(page.locator("main")).to_contain_text("“0” is not a whole number from 1 to", timeout=WAIT)
    expect(page.locator("#context")).to_have_value("4096")


def test_the_page_answers_without_scripts(site, browser):
    context = browser.new_context(java_script_enabled=False)
    try:
        page = context.new_page()
        page.goto(f"{site.url}/fit/")
        page.select_option("#model", "llama-3-70b")
        page.get_by_role("button", name="Show").click()
        expect(page).to_have_url(re.compile("model=llama-3-70b"), timeout=WAIT)
        expect(page.locator(".answer")).to_contain_text("Llama 3 70B", timeout=WAIT)
        expect(page.locator("main table").first).to_be_visible()
    finally:
        context.close()


def test_a_memory_size_is_chosen_in_its_tag(visit, browser_context):
    page = visit("/fit/?accelerator=apple-m1-8&accelerator=nvidia-t4")
    expect(page.locator(".answer")).to_contain_text("with 8 GB: no, 16 GB: yes")
    page.get_by_label("Memory size of Apple M1 (8-core GPU)").select_option("8 GB")
    expect(page.locator(".answer")).to_contain_text("does not fit Apple M1 (8-core GPU), 8 GB", timeout=WAIT)
    expect(page).to_have_url(re.compile("accelerator=apple-m1-8:8&accelerator=nvidia-t4"), timeout=WAIT)
    page.get_by_role("link", name="Remove NVIDIA T4").click()
    expect(page).to_have_url(re.compile("[?]accelerator=apple-m1-8:8&[^?]*$"), timeout=WAIT)
    assert browser_context.troubles == []


def test_a_memory_size_is_chosen_without_scripts(site, browser):
    context = browser.new_context(java_script_enabled=False)
    try:
        page = context.new_page()
        page.goto(f"{site.url}/fit/?accelerator=apple-m1-8&accelerator=nvidia-t4")
        page.get_by_label("Memory size of Apple M1 (8-core GPU)").select_option("8 GB")
        page.get_by_role("button", name="Show").click()
        expect(page.locator(".answer")).to_contain_text("does not fit Apple M1 (8-core GPU), 8 GB", timeout=WAIT)
        expect(page.locator(".answer")).to_contain_text("fits NVIDIA T4", timeout=WAIT)
    finally:
        context.close()


@pytest.mark.parametrize("path", PAGES)
def test_no_fault_is_found(visit, path):
    page = visit(path)
    page.locator("details").evaluate_all("all => all.forEach(details => { details.open = true })")
    assert faults_of(page) == []
