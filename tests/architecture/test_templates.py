"""How templates look: `tools/templates.py` lays them out, and what they render stays the same."""

import re

from django.template.base import Lexer

from stackviz.web.template_loader import compact
from tools.templates import ROOT, formatted, problems, templates_of

TEMPLATES = templates_of(ROOT / "templates")


def tokens(source):
    return [(token.token_type, token.contents) for token in compact(Lexer(source).tokenize())]


def test_there_are_templates():
    assert len(TEMPLATES) > 90


def test_line_of_121_characters_is_refused(tmp_path):
    path = tmp_path / "long.html"
    path.write_text(f"<p>{'a' * 113}</p>\n")
    assert list(problems(path, writes=False)) == []
    path.write_text(f"<p>{'a' * 114}</p>\n")
    [problem] = [problem for problem in problems(path, writes=False) if "at most" in problem]
    assert problem == f"{path}:1: 121 characters, at most 120"


def test_unformatted_template_is_refused(tmp_path):
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


def test_call_and_signature_of_a_part_take_an_argument_a_line():
    arguments = ", ".join(f"argument_{number}=values[{number}]" for number in range(6))
    text = formatted("{% macro draw_it(values) %}{{ draw_part(" + arguments + ") }}{% endmacro %}")
    assert "  {{ draw_part(\n    argument_0=values[0],\n    argument_1=values[1],\n" in text
    assert text.endswith("    argument_5=values[5]\n  ) }}\n{% endmacro %}\n")
    assert formatted(text) == text


def test_long_text_of_a_part_is_broken_as_one_that_is_trimmed():
    text = formatted('<p>{{ _("' + "word " * 40 + 'end, 95 %%") }}</p>')
    assert text.startswith("<p>\n  {% trans %}\n    word word ")
    assert text.endswith(" end, 95 %\n  {% endtrans %}\n</p>\n")


def test_part_is_one_macro_named_like_its_file():
    parts = [path for path in TEMPLATES if path.suffix == ".jinja"]
    macros = {path: re.findall(r"{% macro (\w+)\(", path.read_text()) for path in parts}
    assert macros == {path: [f"draw{path.stem}"] for path in parts}
    names = [name for found in macros.values() for name in found]
    assert len(set(names)) == len(names) > 30
