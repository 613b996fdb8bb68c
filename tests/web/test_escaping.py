"""Texts of templates that hold a `<` are escaped: `{% translate %}` marks its text as safe HTML."""

import re
from pathlib import Path

from django.template import engines

from tests.live import ROOT

HOLDS_LESS_THAN = re.compile(r"""{%\s*translate\s+(?:"[^"]*<[^"]*"|'[^']*<[^']*')[^%]*%}""")
ESCAPED = re.compile(r"{%\s*filter\s+force_escape\s*%}.*?{%\s*endfilter\s*%}", re.DOTALL)


def unescaped(template: str) -> list[str]:
    return HOLDS_LESS_THAN.findall(ESCAPED.sub("", template))


def test_translated_texts_escape_less_than():
    files = sorted(Path(ROOT / "templates").rglob("*.html"))
    assert files
    assert {file.name: texts for file in files if (texts := unescaped(file.read_text()))} == {}


def test_scan_finds_unescaped_text():
    template = '{% load i18n %}{% translate "stack:<slug>" %}'
    assert unescaped(template) == ['{% translate "stack:<slug>" %}']
    assert engines["django"].from_string(template).render() == "stack:<slug>"
