"""A part that is kept is made once for a state and a language."""

import pytest
from django.core.cache import cache
from django.utils.translation import override

from stackviz.web.fragments import cached_html


@pytest.fixture(autouse=True)
def empty_cache():
    cache.clear()


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
