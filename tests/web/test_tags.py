"""What pages write the same way everywhere: figures, missing values, sources, times, the tray."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.template import Context, Template
from django.test import RequestFactory
from django.utils import translation

from stackviz.report.format.facts import ABSENT_REASONS
from stackviz.web.i18n.words import KIND_MEANINGS, KINDS, MISSING, evidence_text, missing_text
from stackviz.web.templatetags.web import source, time_ago, tray_button


def rendered(text, **context):
    return Template("{% load web %}" + text).render(Context(context))


@pytest.mark.parametrize("language", ["en", "de"])
def test_a_quantity_is_scaled_and_a_missing_one_never_zero(language):
    with translation.override(language):
        exact = rendered('{% quantity amount "B/s" %}', amount=3.35e12)
        factors = rendered("{% factor 8.375 %}"), rendered("{% factor None %}")
    assert "3.35 TB/s" in exact
    assert 'title="3,350,000,000,000 B/s"' in exact
    assert ("8.4×" in factors[0], factors[1]) == (True, "")
    missing = rendered('{% quantity amount "W" "not_supported" %}', amount=None)
    assert "not supported" in missing
    assert "0" not in missing
    assert "0" in rendered('{% quantity amount "W" %}', amount=0.0)


def test_every_reason_and_kind_of_figure_has_words():
    assert set(ABSENT_REASONS) <= set(MISSING)
    assert missing_text("because") == missing_text(None) == "unknown"
    assert set(KINDS) == set(KIND_MEANINGS) == {"published", "probed", "measured", "cited", "derived"}


@pytest.mark.parametrize(
    ("value", "english", "chinese"),
    [
        ("none (not_installed)", "not installed", "未安装"),
        ("not reported", "not reported", "未上报"),
        ("none (of your business)", "none (of your business)", "none (of your business)"),
        ("13.0", "13.0", "13.0"),
    ],
)
def test_evidence_says_in_words_why_a_value_is_missing(value, english, chinese):
    assert evidence_text(value) == english
    with translation.override("zh-hans"):
        assert evidence_text(value) == chinese


def test_details_and_names_in_the_tray_are_text():
    assert "<b>" not in rendered('{% missing "failed" detail %}', detail='"><b>')
    assert "<script>" not in tray_button('"><script>', '"><script>alert(1)</script>')
    html = tray_button("machine:lab/dgx-07", "dgx-07")
    assert 'data-tray-add="machine:lab/dgx-07"' in html
    assert 'href="/compare/?a=machine:lab/dgx-07"' in html  # without scripts


@pytest.mark.parametrize("url", ["javascript:alert(1)", "data:text/html,x", "", "//evil.example"])
def test_only_web_addresses_become_links(url):
    assert "href" not in source("A data sheet", url)


def test_a_source_links_by_its_number_and_names_itself():
    html = source("H100 data sheet", "https://example.com/h100?a=1&b=2", 3)
    for part in (">3</a>", 'title="H100 data sheet"', "a=1&amp;b=2"):
        assert part in html
    assert source("Groq <table>") == "<cite>Groq &lt;table&gt;</cite>"
    assert source("Groq table", number=3) == '<sup><span title="Groq table">3</span></sup>'


@pytest.mark.parametrize(
    ("before", "words"),
    [
        (timedelta(seconds=-5), "just now"),
        (timedelta(seconds=59), "just now"),
        (timedelta(minutes=4), "4 min ago"),
        (timedelta(hours=1, minutes=59), "1 hour ago"),
        (timedelta(days=30), "30 days ago"),
        (timedelta(days=60), "2026-09-21"),
    ],
)
def test_a_time_says_how_long_ago(before, words):
    now = datetime(2026, 11, 20, 12, tzinfo=UTC)
    assert time_ago(now - before, now) == words
    assert 'datetime="2026-11-20T12:00:00+00:00"' in rendered("{% ago when %}", when=now)
    assert "not reported" in rendered("{% ago None %}")


def test_the_frame_is_in_the_language_of_each_reader():
    frame = "{% navigation %}{% pages_of_door %}{% fixed_part 'web/_tray.jinja' %}"
    request = RequestFactory().get("/learn/")
    english = rendered(frame, request=request)
    assert re.findall(r'<a href="([^"]*)" aria-current="(\w+)"', english) == [("/learn/", "true"), ("/learn/", "page")]
    with translation.override("zh-hans"):
        chinese = rendered(frame, request=request)
    for word in ("Machines", "Compare"):
        assert word in english
        assert word not in chinese
    assert rendered(frame, request=request) == english
