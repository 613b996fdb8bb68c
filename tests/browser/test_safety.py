"""Hostile text never executes, no page breaks its own policy, and everybody can read it."""

import pytest

from tests.browser.faults import faults_of
from tests.languages import chinese
from tests.report.format.reports import gemm_result, h100_card, report_body, sha256

HOSTILE = "\"'><script>window.pwned=1</script><img src=x onerror='window.pwned=2'><svg onload=window.pwned=3>{{7*7}}"
PAGES = [
    "/", "/learn/", "/accelerators/", "/accelerators/?q=H100", "/stacks/", "/machines/", "/machines/lab/", "/machines/lab/rack-7/",
    "/machines/add/", "/compare/", "/compare/?a=machine:lab/rack-7&a=machine:lab/desk-mac", "/admin/login/", "/api/v1/docs/", "/nowhere/",
]  # fmt: skip
# A page of each kind that no other module looks at, in both languages.
KINDS = (
    "/", "/stacks/", "/stacks/apple-metal/", "/stacks/apple-metal/support/", "/components/pytorch/", "/operators/", "/releases/",
    "/releases/cuda-12.8/", "/drivers/580/", "/releases/nothing-1/", "/claims/?verdict=right", "/glossary/", "/machines/", "/coverage/",
    "/search/?q=h100+vs+mi300x", "/plan/?accelerator=nvidia-geforce-rtx-4090", "/benchmarks/llama-bench/", "/nowhere/",
)  # fmt: skip
READ_BY_EVERYBODY = ["/machines/lab/rack-7/", "/compare/", PAGES[10], *KINDS, *map(chinese, KINDS)]
TALLEST = 8_000  # pixels of a page at the width of a phone


def hostile_report() -> dict:
    """HTML in every text a report may hold."""
    return report_body(
        agent={"name": HOSTILE[:200], "version": HOSTILE[:200]},
        machine={"identity": sha256("hostile"), "name": HOSTILE[:200]},
        facts={"cpu.model": HOSTILE, "os.name": HOSTILE, "torch.version": HOSTILE, HOSTILE[:100]: HOSTILE},
        absent={"rocm.version": {"reason": "failed", "detail": HOSTILE}},
        cards=[h100_card(reported_name=HOSTILE[:200], facts={"compute_capability": HOSTILE, HOSTILE[:100]: HOSTILE})],
        software=[{"component": "pytorch", "version": HOSTILE[:200], "found_by": HOSTILE[:200]}],
        results=[gemm_result(state="failed", reason=HOSTILE, samples=[]), gemm_result(conditions={"before.note": HOSTILE}), gemm_result(device="cuda:0", params={"dtype": HOSTILE[:100], "m": 8, "n": 8, "k": 8})],
        probes=[{"probe": "nvidia", "state": "failed", "duration_s": 0.1, "detail": HOSTILE}],
        **{HOSTILE[:100]: {"deep": [HOSTILE]}},
    )  # fmt: skip


def test_report_of_html_is_shown_as_text_everywhere(site, visit, browser_page, browser_context):
    body = hostile_report()
    receipt = site.send(body)
    site.wait_until(lambda: site.is_read(body["id"]), "the hostile report is read")
    slug = site.shell(
        f"from stackviz.records.labs.models import Report\nprint(Report.objects.get(pk={body['id']!r}).machine.slug)"
    )
    paths = [
        f"/machines/lab/{slug}/",
        "/machines/",
        "/machines/lab/",
        f"/compare/?a=machine:lab/{slug}&a=machine:lab/rack-7",
        "/",
    ]
    paths.append(receipt.removeprefix(site.url))
    for path in paths:
        page = visit(path)
        page.wait_for_timeout(300)
        assert page.evaluate("window.pwned") is None, path
        assert page.locator("img[src=x]").count() == 0, path
        if path == paths[0]:
            assert page.locator("h1").inner_text() == body["machine"]["name"]
    assert "<script>window.pwned=1" in visit(paths[0]).locator("main").inner_text()
    assert browser_context.troubles == []


@pytest.mark.parametrize(
    "path", ["/compare/?a=", "/accelerators/?q=", "/accelerators/?vendor=", "/machines/?accelerator="]
)
def test_html_in_an_address_is_shown_as_text(site, browser_page, browser_context, path):
    browser_page.goto(
        site.url
        + path
        + "%22%3E%3Cscript%3Ewindow.pwned%3D1%3C/script%3E%3Cimg%20src%3Dx%20onerror%3Dwindow.pwned%3D2%3E"
    )
    browser_page.wait_for_timeout(200)
    assert browser_page.evaluate("window.pwned") is None
    assert [line for line in browser_context.troubles if "Content Security Policy" in line] == []


@pytest.mark.parametrize("path", READ_BY_EVERYBODY)
def test_a_page_can_be_read_by_everybody(site, browser_page, path):
    browser_page.goto(site.url + path, wait_until="load")
    browser_page.wait_for_timeout(300)
    assert faults_of(browser_page) == []
    browser_page.set_viewport_size({"width": 360, "height": 740})
    assert browser_page.evaluate("document.documentElement.scrollHeight") <= TALLEST
