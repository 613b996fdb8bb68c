"""Diagnosing in a browser: two machines pasted, dropped or chosen as files; kept only masked, and only when asked."""

import re

from playwright.sync_api import expect

from tests.browser.faults import faults_of
from tests.pages.diagnose.conftest import CPU_WHEEL, MAC_JSON, TWO_MACHINES

WAIT = 60_000  # a busy machine takes its time
PAGE = "/diagnose/"
SECRETS = f"marie@rack-7:~$ python -m torch.utils.collect_env\n{CPU_WHEEL}\nPATH: /home/marie/env/bin\n"
DROP = """([names, texts]) => {
  const held = new DataTransfer();
  texts.forEach((text, place) => held.items.add(new File([text], names[place], { type: "text/plain" })));
  const form = document.querySelector("form[data-drop]");
  for (const kind of ["dragover", "drop"])
    form.dispatchEvent(new DragEvent(kind, { bubbles: true, cancelable: true, dataTransfer: held }));
}"""


def diagnose(page, text: str) -> None:
    page.fill("#text", text)
    page.get_by_role("button", name="Diagnose", exact=True).click()
    expect(page.get_by_role("heading", name="Findings").first).to_be_visible(timeout=WAIT)


def test_two_machines_pasted_together_are_drawn_side_by_side(visit, browser_context):
    page = visit(PAGE)
    assert faults_of(page) == []
    diagnose(page, TWO_MACHINES)
    expect(page.locator("main [role=status]")).to_contain_text("2 machines are in this text", timeout=WAIT)
    expect(page.locator("#machine-1")).to_have_text("2 × NVIDIA H100 80GB HBM3 + 1", timeout=WAIT)
    expect(page.locator(".machine .finding.broken").first).to_contain_text("is built without CUDA", timeout=WAIT)
    assert page.locator(".stack-top .stack-head").count() == 2
    assert faults_of(page) == []
    assert browser_context.troubles == []


def test_files_drop_on_form_and_send_by_keyboard(visit, browser_context):
    page = visit(PAGE)
    page.evaluate(DROP, [["env.txt", "mac.json"], [CPU_WHEEL, MAC_JSON]])
    expect(page.locator("#files")).to_be_focused(timeout=WAIT)
    expect(page.locator("[data-announce]")).to_have_text("chosen: env.txt, mac.json", timeout=WAIT)
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Diagnose", exact=True)).to_be_focused(timeout=WAIT)
    page.keyboard.press("Enter")
    expect(page.locator("#machine-2")).to_have_text("Apple M3 Max", timeout=WAIT)
    assert browser_context.troubles == []


def save_and_delete(page, *, steps: int) -> None:
    """From a diagnosis: save it as a private link, masked; see all of its steps; delete it."""
    page.get_by_role("button", name="Save as a private link").click()
    expect(page.get_by_role("heading", name="Save as a private link")).to_be_visible(timeout=WAIT)
    assert "marie" not in page.locator("#text").input_value()
    page.get_by_role("button", name="Save this text").click()
    page.wait_for_url(re.compile(r"/diagnose/[A-Za-z0-9_-]{43}/$"))
    address = page.url
    assert "marie" not in page.content()
    expect(page.locator(".finding.broken").first).to_contain_text("is built without CUDA", timeout=WAIT)
    expect(page.locator(".diagnosis-steps ol li")).to_have_count(steps, timeout=WAIT)
    page.get_by_role("button", name="Delete it now").click()
    expect(page.locator(".messages")).to_contain_text("The text was deleted", timeout=WAIT)
    assert page.goto(address).status == 404


def test_diagnosis_works_without_scripts_in_one_step_and_two(site, browser):
    context = browser.new_context(java_script_enabled=False)
    context.set_default_timeout(WAIT)
    try:
        page = context.new_page()
        page.goto(site.url + PAGE)
        diagnose(page, SECRETS)
        save_and_delete(page, steps=0)
        page.goto(f"{site.url}/causes/torch-without-cuda/")
        page.get_by_role("link", name="Diagnose with this message").click()
        page.get_by_role("button", name="Diagnose", exact=True).click()
        expect(page.locator("#next-step pre")).to_have_text("python -m torch.utils.collect_env", timeout=WAIT)
        page.get_by_label("What it printed").fill(SECRETS)
        page.get_by_role("button", name="Diagnose both together").click()
        expect(page.locator(".diagnosis-steps")).to_contain_text("Found with the last step", timeout=WAIT)
        expect(page.locator(".finding.broken").first).to_contain_text("is built without CUDA", timeout=WAIT)
        save_and_delete(page, steps=2)
    finally:
        context.close()


def test_pages_of_messages_and_of_a_second_step_have_no_faults(visit, browser_context):
    for address in ("/causes/", "/causes/no-kernel-image/", "/causes/cublas-error/"):
        assert faults_of(visit(address)) == [], address
    page = visit(PAGE)
    diagnose(page, "RuntimeError: CUDA error: no kernel image is available for execution on the device")
    assert faults_of(page) == []
    page.get_by_label("What it printed").fill(CPU_WHEEL)
    page.get_by_role("button", name="Diagnose both together").click()
    expect(page.locator(".diagnosis-steps ol li")).to_have_count(2, timeout=WAIT)
    assert faults_of(page) == []
    assert browser_context.troubles == []


def test_link_readers_need_the_code_to_delete(site, visit, browser):
    page = visit(PAGE)
    diagnose(page, CPU_WHEEL)
    page.get_by_role("button", name="Save as a private link").click()
    page.get_by_role("button", name="Save this text").click()
    expect(page.locator(".saved .copy pre")).to_have_text(page.url, timeout=WAIT)
    word = page.locator(".saved p code").inner_text()
    context = browser.new_context()
    context.set_default_timeout(WAIT)
    try:
        other = context.new_page()
        other.goto(page.url)
        assert word not in other.content()
        assert faults_of(other) == []
        other.get_by_text("Delete it earlier").click()
        other.fill("#word", "not the word of this link")
        other.get_by_role("button", name="Delete", exact=True).click()
        expect(other.get_by_role("alert")).to_contain_text("not the deletion code", timeout=WAIT)
        other.fill("#word", word)
        other.get_by_role("button", name="Delete", exact=True).click()
        expect(other.locator(".messages")).to_contain_text("The text was deleted", timeout=WAIT)
    finally:
        context.close()


def test_member_adds_machine_marked_as_pasted(log_in, visit):
    log_in()
    page = visit(PAGE)
    diagnose(page, CPU_WHEEL)
    page.get_by_role("button", name="Add as a machine").click()
    assert faults_of(page) == []
    page.get_by_label(re.compile("^Name of the machine with")).fill("pasted box")
    page.get_by_role("button", name="Add", exact=True).click()
    page.wait_for_url("**/receipts/**")
    expect(page.locator("main")).to_contain_text("Read, and shown on the machine", timeout=WAIT)
    page.get_by_role("link", name="pasted box").first.click()
    expect(page.get_by_role("heading", name="pasted box", level=1)).to_be_visible(timeout=WAIT)
    expect(page.locator("main")).to_contain_text("pasted dump (collect-env)", timeout=WAIT)
