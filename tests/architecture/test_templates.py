"""How templates look: `tools/templates.py` lays them out, and what they render stays the same."""

import pytest
from django.template.base import Lexer

from stackviz.web.whitespace import compact
from tools.templates import ROOT, formatted, problems

TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))


def tokens(source):
    return [(token.token_type, token.contents) for token in compact(Lexer(source).tokenize())]


def test_there_are_templates():
    assert len(TEMPLATES) > 90


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: str(path.relative_to(ROOT / "templates")))
def test_template_is_laid_out(path):
    assert list(problems(path, writes=False)) == []


def test_line_of_121_characters_is_refused(tmp_path):
    path = tmp_path / "long.html"
    path.write_text(f"<p>{'a' * 113}</p>\n")
    assert list(problems(path, writes=False)) == []
    path.write_text(f"<p>{'a' * 114}</p>\n")
    [problem] = [problem for problem in problems(path, writes=False) if "at most" in problem]
    assert problem == f"{path}:1: 121 characters, at most 120"


def test_template_that_is_laid_out_otherwise_is_refused_and_rewritten(tmp_path):
    path = tmp_path / "dense.html"
    path.write_text("<ul>{% for a in b %}<li>{{ a }}</li>{% endfor %}</ul>\n")
    assert list(problems(path, writes=False)) == [f"{path}: not laid out; run: make format"]
    assert list(problems(path, writes=True)) == []
    assert path.read_text() == "<ul>\n  {% for a in b %}\n    <li>{{ a }}</li>\n  {% endfor %}\n</ul>\n"


DENSE = """\
{% load i18n %}<dl class="a">{% for row in rows %}<div><dt>{{ row.title }}</dt><dd{% if row.x %} class="x"{% endif %}>\
<b>{{ row.lead }}</b>{% if row.rest %} <small>{{ row.rest }}</small>{% else %}, {% translate "none" %}{% endif %}</dd>\
</div>{% endfor %}</dl><pre>
  {{ a }}
</pre><a href="/a/?b={{ b }}" class="chip">{% translate "A link" %}</a>, <button type="submit" name="c" value="d" \
aria-label="{% blocktranslate with n=e %}Press {{ n }}{% endblocktranslate %}">{% translate "Go" %}</button>.
"""


def test_laying_out_keeps_what_is_rendered():
    """Breaks are set only where compiling takes them out: words, spaces and punctuation stay as they were."""
    text = formatted(DENSE)
    assert max(map(len, text.splitlines())) <= 120
    assert len(text.splitlines()) > 15
    assert tokens(text) == tokens(DENSE)


def test_laying_out_twice_changes_nothing():
    assert formatted(formatted(DENSE)) == formatted(DENSE)


def test_long_text_is_broken_with_the_same_translation():
    words = "word " * 40
    text = formatted(f'<p>{{% translate "{words.strip()}" %}}</p>')
    assert text.splitlines()[1] == "  {% blocktranslate trimmed %}"
    assert " ".join(text.replace("\n", " ").split()).count("word") == 40


def test_elements_that_do_not_nest_are_named(tmp_path):
    path = tmp_path / "wrong.html"
    path.write_text("<p>{% if a %}</p>{% endif %}\n")
    assert list(problems(path, writes=False)) == [f"{path}: {{% if a %}} meets </p>"]
