"""The curation desk in a real browser: a table comes in, a second person approves, everything shows it; and back again."""

import csv
import io
import json
import re

import pytest
from playwright.sync_api import expect

from tests.browser.faults import faults_of

SLUG = "nvidia-l4"
HEADER = "device,field,value,unit,condition,basis,status,source,note"
WAIT = 60_000


@pytest.fixture
def power(site) -> dict[str, str]:
    """The public board power of an L4: its id, what it says, its source."""
    told = site.shell(
        "import json\n"
        "from stackviz.records.catalog.models import SpecValue\n"
        f"v = SpecValue.objects.get(accelerator__slug={SLUG!r}, field='tdp_w', is_preferred=True, condition='')\n"
        "print(json.dumps({'id': v.pk, 'value': v.value, 'condition': v.condition, 'basis': v.basis,\n"
        "    'source': v.source.key, 'note': v.note}))"
    )
    return json.loads(told.splitlines()[-1])


@pytest.fixture
def power_in_api(site):
    def read() -> dict[str, object]:
        specs = json.loads(site.get(f"/api/v1/accelerators/{SLUG}/")[1])["specs"]
        shown = [row for row in specs if row["field"] in ("tdp_w", "launch_price_usd")]
        return {f"{row['field']} {row['condition']}".strip(): row["value"] for row in shown}

    return read


def table_of(*rows: list[str]) -> bytes:
    out = io.StringIO()
    csv.writer(out).writerows([HEADER.split(","), *rows])
    return out.getvalue().encode()


def violations(page) -> list[str]:
    page.wait_for_load_state("load")
    return faults_of(page, widths=(), schemes=("light",))


def log_out(visit) -> None:
    page = visit("/admin/")
    page.locator("#logout-form button").click()
    expect(page.locator("#logout-form")).to_have_count(0, timeout=WAIT)


def approve_all(page, site) -> None:
    page.goto(site.url + "/admin/")
    page.locator(".desk a", has_text="Proposals").click()
    expect(page.locator("#result_list")).to_be_visible(timeout=WAIT)
    assert violations(page) == []
    page.locator("#action-toggle").check()
    page.locator("select[name=action]").select_option("approve_chosen")
    page.locator("input[name=answer]").fill("read in the data sheet")
    page.locator(".actions button[type=submit]").click()
    expect(page.locator(".messagelist")).to_contain_text("approved", timeout=WAIT)


def test_table_import_approval_and_revert(site, log_in, visit, browser_context, power, power_in_api):
    shared = [power["condition"], power["basis"], "public", power["source"], power["note"]]
    good = [SLUG, "tdp_w", "75", "W", "mode=quiet", "published", "public", power["source"], ""]
    changed = [SLUG, "tdp_w", "74", "W", *shared]
    bad = [SLUG, "tdp_w", "75", "GHz", "mode=loud", "published", "public", power["source"], ""]

    page = log_in()
    page.get_by_role("link", name="Import a table").click()
    expect(page.locator("input[type=file]")).to_be_visible(timeout=WAIT)
    file = {"name": "l4.csv", "mimeType": "text/csv", "buffer": table_of(good, changed, bad)}
    page.locator("input[type=file]").set_input_files(file)
    page.locator("[name=reason]").fill("the data sheet of May")
    assert violations(page) == []
    page.get_by_role("button", name="Preview the changes").click()

    rows = page.locator("table.preview tbody tr")
    expect(rows).to_have_count(3, timeout=WAIT)
    expect(rows.nth(0)).to_contain_text(re.compile("New.*75 W", re.DOTALL))
    expect(rows.nth(1)).to_contain_text(re.compile(f"Changed.*{power['value']} W.*74 W", re.DOTALL))
    expect(rows.nth(2)).to_contain_text(re.compile("Refused.*unit: tdp_w is measured in W", re.DOTALL))
    assert violations(page) == []
    before = power_in_api()
    assert "74" not in {str(value) for value in before.values()}

    page.locator("[name=leave_out]").check()
    page.get_by_role("button", name="Propose 2 values").click()
    expect(page.locator(".messagelist")).to_contain_text("2 values proposed", timeout=WAIT)
    expect(page.locator("#content")).to_contain_text(re.compile("Left out.*unit.*measured in W", re.DOTALL))
    assert power_in_api() == before  # nothing is public yet
    log_out(visit)

    page = log_in("second")
    approve_all(page, site)
    assert_shown(site, visit, power, "74", "the data sheet of May")
    now = power_in_api()
    assert len(now) == len(before) + 1
    assert {str(value).removesuffix(".0") for value in now.values()} >= {"74", "75"}
    log_out(visit)

    page = log_in()
    visit(f"/admin/catalog/specvalue/{power['id']}/history/")
    page.locator("#change-history tbody tr").last.locator("a").first.click()
    expect(page.locator("input[name=_save][value=Revert]")).to_be_visible(timeout=WAIT)
    page.locator("[name=reason]").fill("the sheet was misread")
    page.locator("[name=source_confirmed]").check()
    page.locator("input[type=submit][name=_save]").click()
    expect(page.locator(".messagelist")).to_contain_text("a second person approves", timeout=WAIT)
    log_out(visit)
    page = log_in("second")
    approve_all(page, site)
    assert_shown(site, visit, power, power["value"], "the sheet was misread")
    again = {str(value).removesuffix(".0") for value in power_in_api().values()}
    assert "74" not in again
    assert browser_context.troubles == []


def assert_shown(site, visit, power, value: str, reason: str) -> None:
    """On the sheet with its history, in the history of the admin, in the change log and its feed."""
    sheet = visit(f"/accelerators/{SLUG}/")
    assert re.search(rf"\b{value}\sW", sheet.locator("main").inner_text())
    text = sheet.locator("main").text_content()
    assert reason in text
    assert "curator 2" in text  # who checked it: a login name is not told
    history = visit(f"/admin/catalog/specvalue/{power['id']}/history/").locator("#change-history").inner_text()
    assert reason in history
    assert "curator" in history
    log = visit("/changes/").locator("main").inner_text()
    assert reason in log
    assert "L4" in log
    status, feed = site.get("/changes/feed/")
    assert (status, reason in feed) == (200, True)


def test_the_form_of_a_value_answers_while_somebody_types(site, log_in, visit, power, browser_context):
    page = log_in()
    visit(f"/admin/catalog/specvalue/{power['id']}/change/")
    page.locator("[name=value]").fill("9e9")
    expect(page.locator(".judged")).to_contain_text("lies between", timeout=WAIT)
    page.locator("[name=value]").fill("72")
    expect(page.locator(".judged .problem")).to_have_count(0, timeout=WAIT)
    page.locator("select[name=field]").select_option("boost_clock_mhz")
    expect(page.locator("select[name=unit] option[value=GHz]")).to_have_count(1, timeout=WAIT)
    expect(page.locator("select[name=unit] option[value=W]")).to_have_count(0)
    assert [one for one in violations(page) if "condition" in one] == []
    assert browser_context.troubles == []


def test_the_form_of_a_value_works_without_scripts(site, browser, power):
    context = browser.new_context(java_script_enabled=False)
    try:
        page = context.new_page()
        page.goto(site.url + "/admin/login/")
        page.fill("#id_username", "curator")
        page.fill("#id_password", "correct horse battery staple")
        page.click("form.login button")
        page.goto(f"{site.url}/admin/catalog/specvalue/{power['id']}/change/")
        page.select_option("[name=condition_scope]", "board")
        page.fill("[name=value]", "9e9")
        page.fill("[name=reason]", "per board")
        page.click("[name=_save]")
        assert "lies between" in page.locator(".errorlist").inner_text()
        assert page.locator("[name=condition_scope]").input_value() == "board"
    finally:
        context.close()
