"""`faults_of` can find what it looks for: each fault alone, on a page that has no other."""

import re

import pytest

from tests.browser.faults import faults_of

GOOD = (
    '<!doctype html><html lang="en"><title>t</title><style>{style}</style><main><h1>Title</h1><p>Text</p>{part}</main>'
)
TARGETS = "<style>li { line-height: 32px }</style><ul><li><a href='#a'>One</a><li><a href='#b'>Two</a></ul>"
TABLE = "<table><tr><th scope=row>a</th><td>far more than has room</td></tr></table>"
DARK_ON_DARK = """
    :root { color-scheme: light dark; background: light-dark(rgb(255, 255, 255), rgb(20, 20, 20)) }
    h1 { color: light-dark(rgb(90, 90, 90), rgb(200, 200, 200)) } p { color: rgb(90, 90, 90) }
"""


@pytest.mark.parametrize(
    ("style", "part", "expected"),
    [
        ("", "", []),
        ("", "<img src='data:,'>", ["light: image-alt"]),
        ("h1, p { color: rgb(190, 190, 190) }", "", ["light: color-contrast", "light: color-contrast", "dark: color-contrast", "dark: color-contrast"]),
        (DARK_ON_DARK, "", ["dark: color-contrast"]),
        ("p { min-width: 500px }", "", ["360 px"]),
        ("ul li { line-height: 14px }", TARGETS, ["light: target-size"] * 2 + ["360 px: target-size"] * 2),
        ("@media (max-width: 400px) { ul li { line-height: 14px } }", TARGETS, ["360 px: target-size"] * 2),
        ("main { width: 800px } :root { overflow-x: hidden }", "", ["360 px", "768 px"]),
        ("", "<p><b>H200 SXM</b><small>8 devices</small></p>", ["runs together: H200 SXM|8 devices"]),
        ("", "<p>It ends.Another one begins.</p>", ["runs together: It ends.Another one begins."]),
        ("", "<p>one; <a href=/>two</a>;<a href=/>three</a></p>", ["runs together: ;|three"]),
        ("", "<p><b>H200 SXM</b> <small>8 devices</small></p><p>a<b>.</b></p>", []),
        ("p { display: flex }", "<p><b>a</b><span>b</span></p>", []),  # boxes of their own
        ("table { table-layout: fixed; width: 80px } td { white-space: nowrap }", TABLE, ["360 px", "768 px", "1440 px"]),
        ("table { table-layout: fixed; width: 80px } td { white-space: nowrap; overflow: hidden }", TABLE, []),
    ],
)  # fmt: skip
def test_each_fault_is_found(browser_page, style, part, expected):
    browser_page.set_content(GOOD.format(style=style, part=part))
    found = faults_of(browser_page)
    assert [re.sub(r" \(.*|: scrolls.*|: \d+ px over.*", "", fault, flags=re.DOTALL) for fault in found] == expected
    assert faults_of(browser_page) == found


CARD = '<div class="card"><p class="figure">Some text</p></div>'
GREY = "rgb(190, 190, 190)"


@pytest.mark.parametrize(
    ("style", "part"),
    [
        (f".figure {{ color: {GREY} }}", CARD),
        (f".card {{ color: {GREY} }}", CARD),
        (".card { background: rgb(40, 40, 40) }", CARD),
        ("", f'<div style="background: rgb(40, 40, 40)">{CARD}</div>'),
        (".card p { opacity: 0.4 }", CARD),
        (f".card p:nth-child(2) {{ color: {GREY} }}", CARD.replace("<p", "<p>Before</p><p")),
        (f"input:checked ~ p {{ color: {GREY} }}", CARD.replace("<p", "<input aria-label=x type=checkbox checked><p")),
        (".under { background: rgb(40, 40, 40); height: 60px } .card { position: relative; top: -50px }", f"<div class=under></div>{CARD}"),
    ],
)  # fmt: skip
def test_passed_contrast_is_measured_anew_elsewhere(browser_page, style, part):
    for _ in range(2):
        browser_page.set_content(GOOD.format(style="", part=CARD))
        assert faults_of(browser_page) == []
        browser_page.set_content(GOOD.format(style=style, part=part))
        found = faults_of(browser_page)
        assert {fault.split(" (")[0] for fault in found} == {"light: color-contrast", "dark: color-contrast"}
        assert all("figure" in fault for fault in found)
