"""`faults_of` can find what it looks for: each fault alone, on a page that has no other."""

import pytest

from tests.browser.faults import faults_of

GOOD = (
    '<!doctype html><html lang="en"><title>t</title><style>{style}</style><main><h1>Title</h1><p>Text</p>{part}</main>'
)
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
        ("main { width: 800px } :root { overflow-x: hidden }", "", ["360 px", "768 px"]),
    ],
)  # fmt: skip
def test_each_fault_is_found(browser_page, style, part, expected):
    browser_page.set_content(GOOD.format(style=style, part=part))
    found = faults_of(browser_page)
    assert [fault.split(" (")[0].split(": scrolls")[0] for fault in found] == expected
    assert faults_of(browser_page) == found
