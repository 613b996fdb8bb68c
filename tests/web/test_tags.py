"""What pages write the same way everywhere: figures, missing values, sources, times, the tray."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.template import Context, Template
from django.test import RequestFactory
from django.utils import translation

from stackviz.report.format.facts import ABSENT_REASONS
from stackviz.web.templatetags.web import source, time_ago, tray_button
from stackviz.web.words import KIND_MEANINGS, KINDS, MISSING, evidence_text, missing_text


def rendered(text, **context):
    return Template("{% load web %}" + text).render(Context(context))


def test_a_quantity_is_scaled_and_keeps_the_exact_figure():
    html = rendered('{% quantity amount "B/s" %}', amount=3.35e12)
    assert "3.35 TB/s" in html
    assert 'title="3,350,000,000,000 B/s"' in html


def test_a_missing_quantity_says_why_and_is_never_zero():
    html = rendered('{% quantity amount "W" "not_supported" %}', amount=None)
    assert "not supported" in html
    assert "0" not in html


def test_zero_is_a_figure_not_a_missing_one():
    assert "0" in rendered('{% quantity amount "W" %}', amount=0.0)


@pytest.mark.parametrize("reason", ABSENT_REASONS)
def test_every_reason_of_the_wire_format_has_words(reason):
    assert reason in MISSING


def test_a_reason_nobody_knows_is_unknown():
    assert missing_text("because") == "unknown"
    assert missing_text(None) == "unknown"


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


def test_the_detail_of_a_missing_value_is_escaped():
    assert "<b>" not in rendered('{% missing "failed" detail %}', detail='"><b>')


def test_every_kind_of_figure_has_words_and_a_meaning():
    assert set(KINDS) == set(KIND_MEANINGS) == {"published", "probed", "measured", "cited", "derived"}


def test_factor_needs_both_figures():
    assert "8.4×" in rendered("{% factor 8.375 %}")
    assert rendered("{% factor None %}") == ""


@pytest.mark.parametrize("url", ["javascript:alert(1)", "data:text/html,x", "", "//evil.example"])
def test_only_web_addresses_become_links(url):
    assert "href" not in source("A data sheet", url)


def test_a_source_links_by_its_number_and_names_itself():
    html = source("H100 data sheet", "https://example.com/h100?a=1&b=2", 3)
    assert ">3</a>" in html
    assert 'title="H100 data sheet"' in html
    assert "a=1&amp;b=2" in html


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


def test_a_time_carries_the_full_utc_time():
    assert 'datetime="2026-11-20T12:00:00+00:00"' in rendered(
        "{% ago when %}", when=datetime(2026, 11, 20, 12, tzinfo=UTC)
    )
    assert "not reported" in rendered("{% ago None %}")


def test_tray_button_works_without_scripts():
    html = tray_button("machine:lab/dgx-07", "dgx-07")
    assert 'data-tray-add="machine:lab/dgx-07"' in html
    assert 'href="/compare/?a=machine:lab/dgx-07"' in html


def test_a_hostile_name_in_the_tray_is_text():
    html = tray_button('"><script>', '"><script>alert(1)</script>')
    assert "<script>" not in html


def test_numbers_in_tags_do_not_depend_on_the_language():
    with translation.override("de"):
        assert "3.35 TB/s" in rendered('{% quantity amount "B/s" %}', amount=3.35e12)


def test_the_place_one_is_at_is_marked():
    html = rendered("{% navigation %}", request=RequestFactory().get("/learn/"))
    assert re.findall(r'<a href="([^"]*)" aria-current="(\w+)"', html) == [("/learn/", "page")]


def test_the_frame_is_in_the_language_of_each_reader():
    request = RequestFactory().get("/")
    english = rendered("{% navigation %}{% fixed_part 'web/_tray.jinja' %}", request=request)
    with translation.override("zh-hans"):
        chinese = rendered("{% navigation %}{% fixed_part 'web/_tray.jinja' %}", request=request)
    assert "Machines" in english
    assert "Compare" in english
    assert "Machines" not in chinese
    assert "Compare" not in chinese
    assert rendered("{% navigation %}{% fixed_part 'web/_tray.jinja' %}", request=request) == english


def test_the_title_of_a_source_without_an_address_is_cited():
    assert source("Groq <table>") == "<cite>Groq &lt;table&gt;</cite>"
    assert source("Groq table", number=3) == '<sup><span title="Groq table">3</span></sup>'
