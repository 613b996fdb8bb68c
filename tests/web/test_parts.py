"""Parts of pages are macros: Python, a Django template and another part draw them alike; what was drawn is cached."""

from uuid import uuid4

import jinja2
import pytest
from django.template import Context, Template
from django.urls import reverse, set_script_prefix
from django.utils.translation import override

from stackviz.web.parts import cached_html, render_part, rendering_anew
from stackviz.web.templatetags.web import css_text

pytestmark = pytest.mark.usefixtures("empty_cache")

WORD = """\
{# A word, and whether it is loud. #}
{% macro draw_word(word, is_loud=False) %}
  <p>
    {{ _("Compare") }}
    <b>{{ word }}</b>
    {% if is_loud %}!{% endif %}
  </p>
{% endmacro %}
"""
WORDS = """\
{% from "_word.jinja" import draw_word %}
{% macro draw_words(words) %}
  {% for word in words %}
    {{ draw_word(word=word, is_loud=loop.last) }}
  {% endfor %}
  <p>{% trans n=words|length %}{{ n }} machine{% pluralize %}{{ n }} machines{% endtrans %}, 100 %</p>
{% endmacro %}
"""


@pytest.fixture(autouse=True)
def folder(settings, tmp_path):
    (tmp_path / "_word.jinja").write_text(WORD)
    (tmp_path / "_words.jinja").write_text(WORDS)
    frames, parts = settings.TEMPLATES
    settings.TEMPLATES = [frames, {**parts, "DIRS": [tmp_path]}]
    return tmp_path


def drawn(name, **values):
    """What the part draws, each run of white space as one space."""
    return " ".join(render_part(name, **values).split())


def test_part_draws_its_arguments_and_other_parts():
    assert drawn("_word.jinja", word="a") == "<p> Compare <b>a</b> </p>"
    assert drawn("_word.jinja", word="a", is_loud=True) == "<p> Compare <b>a</b> ! </p>"
    html = "<p> Compare <b>a</b> </p> <p> Compare <b>b</b> ! </p> <p>2 machines, 100 %</p>"
    assert drawn("_words.jinja", words=["a", "b"]) == html
    assert "<b>a</b>\n  </p>\n" in render_part("_word.jinja", word="a")
    assert "<b>&lt;script&gt;</b>" in render_part("_word.jinja", word="<script>")
    assert "<b>&lt;script&gt;</b>" in render_part("_words.jinja", words=["<script>"])
    with override("zh-hans"):
        assert drawn("_word.jinja", word="a") == "<p> 对比 <b>a</b> </p>"


def test_django_template_draws_a_part():
    source = '{% load web %}{% part "_word.jinja" word=word is_loud=True %}'
    assert Template(source).render(Context({"word": "a"})) == render_part("_word.jinja", word="a", is_loud=True)


def test_unknown_arguments_and_names_are_errors(folder):
    with pytest.raises(TypeError, match="no keyword argument 'wrod'"):
        render_part("_word.jinja", word="a", wrod="b")
    (folder / "_typo.jinja").write_text("{% macro draw_typo(word) %}{{ wrod }}{% endmacro %}")
    with pytest.raises(jinja2.UndefinedError, match="'wrod' is undefined"):
        render_part("_typo.jinja", word="a")


def test_errors_name_the_line_of_the_source(folder):
    absent, broken = folder / "_absent.jinja", folder / "_broken.jinja"
    absent.write_text("{% macro draw_absent(word) %}\n  <p>\n\n  {{ word.length }}\n</p>{% endmacro %}")
    with pytest.raises(jinja2.UndefinedError, match="no attribute 'length'") as caught:
        render_part("_absent.jinja", word="a")
    assert (absent, 4) in [(entry.path, entry.lineno + 1) for entry in caught.traceback]
    broken.write_text("{% macro draw_broken() %}\n  <p>\n\n  {{ 1 + }}\n  </p>\n{% endmacro %}")
    with pytest.raises(jinja2.TemplateSyntaxError) as refused:
        render_part("_broken.jinja")
    assert refused.value.lineno == 4


def test_a_kept_part_is_made_once_for_each_state_and_language():
    made = []

    def make():
        made.append("made")
        return f"<b>{len(made)}</b>"

    assert cached_html(("sheet", 1), make, 60) == cached_html(("sheet", 1), make, 60) == "<b>1</b>"
    assert cached_html(("sheet", 2), make, 60) == "<b>2</b>"
    with override("zh-hans"):
        assert cached_html(("sheet", 1), make, 60) == "<b>3</b>"


def test_a_kept_part_has_the_prefix_of_its_request():
    """A thread that prepares pages has none: its links must not reach the readers of a site below `/site/`."""
    assert cached_html(("links",), lambda: reverse("home:home"), 60) == "/"
    set_script_prefix("/site/")
    try:
        assert cached_html(("links",), lambda: reverse("home:home"), 60) == "/site/"
    finally:
        set_script_prefix("/")


def test_nothing_is_kept_while_templates_are_worked_on(settings):
    settings.DEBUG = True
    assert [cached_html(("page",), lambda word=word: word, 60) for word in ("old", "new")] == ["old", "new"]


def test_what_is_rendered_anew_is_what_others_get_from_then_on():
    state = ("anew", uuid4().hex)
    assert cached_html(state, lambda: "old", 60) == "old"
    with rendering_anew():
        assert cached_html(state, lambda: "new", 60) == "new"
    assert cached_html(state, lambda: "newest", 60) == "new"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Of peak", "'Of peak'"),
        ("占峰值", "'占峰值'"),
        ("l'écart", r"'l\27 écart'"),
        ("a\\;}\n", r"'a\5c \3b \7d \a '"),
    ],
)
def test_a_text_in_a_style_stays_one_string(text, written):
    assert css_text(text) == written
