"""A fragment is rendered once for equal values, anew for others, and escapes what it is given."""

import pytest
from django.core.cache import cache
from django.utils.translation import override

from stackviz.web import fragments
from stackviz.web.fragments import cached_html, fragment


@pytest.fixture(autouse=True)
def renderings(monkeypatch, settings, tmp_path):
    """Counts how often the template is rendered; each test starts with nothing kept."""
    (tmp_path / "word.html").write_text("{% load i18n %}<b>{{ word }}</b> {% translate 'Compare' %}")
    settings.TEMPLATES = [{**settings.TEMPLATES[0], "DIRS": [tmp_path]}]
    counted = []
    real = fragments.get_template
    monkeypatch.setattr(fragments, "get_template", lambda name: counted.append(name) or real(name))
    fragments._rendered.cache_clear()
    cache.clear()
    yield counted
    fragments._rendered.cache_clear()


def test_equal_values_are_rendered_once(renderings):
    assert fragment("word.html", word="a") == fragment("word.html", word="a") == "<b>a</b> Compare"
    assert len(renderings) == 1


def test_another_value_or_language_is_another_fragment(renderings):
    fragment("word.html", word="a")
    fragment("word.html", word="b")
    with override("zh-hans"):
        fragment("word.html", word="a")
    assert len(renderings) == 3


def test_values_are_escaped():
    assert "&lt;script&gt;" in fragment("word.html", word="<script>")


def test_what_could_change_behind_the_key_is_refused():
    with pytest.raises(TypeError):
        fragment("word.html", word=["a"])


def test_a_kept_part_is_made_once_for_each_state_and_language():
    made = []

    def make():
        made.append("made")
        return f"<b>{len(made)}</b>"

    assert cached_html(("sheet", 1), make, 60) == cached_html(("sheet", 1), make, 60) == "<b>1</b>"
    assert cached_html(("sheet", 2), make, 60) == "<b>2</b>"
    with override("zh-hans"):
        assert cached_html(("sheet", 1), make, 60) == "<b>3</b>"


def test_nothing_is_kept_while_templates_are_worked_on(settings):
    settings.DEBUG = True
    assert [cached_html(("page",), lambda word=word: word, 60) for word in ("old", "new")] == ["old", "new"]
