import pytest
from django.template import Context, Engine
from django.template.base import Lexer

from stackviz.web.template_loader import CompactTemplate, compact

ENGINE = Engine(libraries={"i18n": "django.templatetags.i18n"}, builtins=["django.templatetags.i18n"], debug=True)


def rendered(source, **values):
    return CompactTemplate(source, engine=ENGINE).render(Context(values))


@pytest.mark.parametrize(
    ("source", "html"),
    [
        ("<ul>\n  <li>\n    one\n  </li>\n  <li>two</li>\n</ul>\n", "<ul><li>one</li><li>two</li></ul>"),
        (
            "<p>\n  See\n  <a href='/'>this</a>, or\n  <b>that</b>.\n</p>",
            "<p>See <a href='/'>this</a>, or <b>that</b>.</p>",
        ),
        ("<a\n  href='/'\n  class='x'\n>\n  text\n</a>", "<a href='/' class='x'>text</a>"),
        ("<i>a</i>\n<b>c</b>", "<i>a</i> <b>c</b>"),
        ("<i>a</i><b>c</b>", "<i>a</i><b>c</b>"),
        ("<td> a  b </td>", "<td> a  b </td>"),
        ("a\n<br>\nb", "a<br>b"),
        ("<input name='q'>\n<button>Go</button>", "<input name='q'> <button>Go</button>"),
        ("<svg>\n  <path d='M0 0\n    h1'/>\n</svg>\ntext", "<svg><path d='M0 0 h1'/></svg> text"),
        ("<p title='a > b\n  c'>\n  d\n</p>", "<p title='a > b c'>d</p>"),
        ("1 < 2\nand 3 > 2", "1 < 2 and 3 > 2"),
        ("<!-- a\n b -->\n<p>c</p>", "<!-- a\n b --><p>c</p>"),
    ],
)
def test_line_break_is_a_visible_space_only(source, html):
    assert rendered(source) == html


@pytest.mark.parametrize(
    ("source", "html"),
    [
        ("<p>\n  {% if yes %}\n    a\n  {% endif %}\n</p>", "<p>a</p>"),
        ("a\n{% if yes %}, b{% endif %}\n.", "a, b."),
        ("a{% if yes %} b{% endif %}", "a b"),
        ("{% for n in 'abc' %}\n  {{ n }}\n  {% if not forloop.last %}, {% endif %}\n{% endfor %}", "a, b, c"),
        ("{{ yes }}\n{{ yes }}", "True True"),
        ("{% translate 'a' %}\n<b>c</b>", "a <b>c</b>"),
        ("{% translate 'a' as word %}\n<b>{{ word }}</b>", "<b>a</b>"),
        ("<a\n  class='x'\n  {% if yes %} rel='y'{% endif %}\n>z</a>", "<a class='x' rel='y'>z</a>"),
        ("<a class='x\n  {% if yes %} y{% endif %}'>z</a>", "<a class='x y'>z</a>"),
        ("<a title='{{ yes }}\n  b'>\n  z\n</a>", "<a title='True b'>z</a>"),
        ("<h{{ yes }}>\n  a\n</h{{ yes }}>", "<hTrue>a</hTrue>"),
    ],
)
def test_line_break_beside_silent_tag_is_nothing(source, html):
    assert rendered(source, yes=True) == html


@pytest.mark.parametrize(
    "source",
    [
        "<pre>\n  a\n  <b>c</b>\n</pre>",
        "<textarea>\n  a\n</textarea>",
        "<script>\n  // a\n  b()\n</script>",
        "<style>\n  a { b: c }\n</style>",
    ],
)
def test_white_space_that_means_something_stays(source):
    assert rendered(source) == source


def test_pre_keeps_its_white_space():
    assert (
        rendered("<pre>\n{% if yes %}\n {{ yes }}\n{% endif %}\n</pre>\n<p>", yes=True) == "<pre>\n\n True\n\n</pre><p>"
    )


def test_text_to_be_translated_is_left_as_it_is():
    """Its white space is part of the text by which a translation is found, unless it is `trimmed`."""
    source = "<p>\n  {% blocktranslate %}a\n  b{% endblocktranslate %}\n</p>"
    assert rendered(source) == "<p>a\n  b</p>"
    assert rendered("{% blocktranslate trimmed %}\n  a\n  b\n{% endblocktranslate %}\n<b>c</b>") == "a b <b>c</b>"


def test_comment_is_as_if_it_were_not_there():
    assert (
        rendered("{# a #}\n{# b #}\n<p>\n  c\n  {# d #}\n  e\n</p>\n{% comment %}\nf\n{% endcomment %}\n")
        == "<p>c e</p>"
    )


def test_comment_between_words_leaves_one_break():
    assert [token.contents for token in compact(Lexer("a\n{# b #}\nc").tokenize())] == ["a c"]


def test_error_names_the_line_of_the_source():
    with pytest.raises(Exception, match="Invalid block tag") as caught:
        rendered("<p>\n  a\n</p>\n\n{% nonsense %}\n")
    assert caught.value.template_debug["line"] == 5
