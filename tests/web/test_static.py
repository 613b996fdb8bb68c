"""Scripts come from installed packages or from this repository; pages run no inline script."""

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.staticfiles import finders

BASE = Path(settings.BASE_DIR)
TEMPLATES = sorted((BASE / "templates").rglob("*.html"))
SCRIPTS = sorted((BASE / "static/js").glob("*.js"))
DJANGO_TAG = re.compile(r"{%.*?%}", re.DOTALL)
DATA_BLOCK = re.compile(r"""<script[^>]*type=["']application/json["'][^>]*>""")


def test_plotly_is_served_from_the_installed_package_and_not_copied_here():
    found = finders.find("vendor/plotly/plotly.min.js")
    assert found
    assert "site-packages" in found
    assert Path(found).stat().st_size > 1_000_000
    assert not list((BASE / "static").rglob("plotly*"))


def test_nothing_else_of_that_package_can_be_asked_for():
    assert not finders.find("vendor/plotly/../plotly.min.js")
    assert not finders.find("vendor/plotly/widgetbundle.js")


def test_htmx_is_served_from_the_installed_package():
    assert finders.find("django_htmx/htmx-2.min.js")


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: str(path.relative_to(BASE / "templates")))
def test_a_template_has_no_inline_script_and_no_inline_handler(template):
    text = DATA_BLOCK.sub("", DJANGO_TAG.sub("", template.read_text()))
    assert re.findall(r"<script(?![^>]*\ssrc=)[^>]*>", text) == []
    assert re.findall(r"\s(?:on\w+|hx-on[\w:-]*)\s*=", text) == []
    assert "javascript:" not in text
    assert "hx-vals='js:" not in text


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_a_script_evaluates_no_text(script):
    text = script.read_text()
    assert re.findall(r"\beval\(|new Function|innerHTML|outerHTML|insertAdjacentHTML|document\.write", text) == []


def test_style_sheets_and_scripts_stay_small():
    sizes = {path.name: path.stat().st_size for path in [*SCRIPTS, *(BASE / "static/css").glob("*.css")]}
    assert {name: size for name, size in sizes.items() if size > 32_000} == {}
