"""How style sheets are formatted: `tools/styles.py`. `make lint` runs it over static/css."""

from tools.styles import formatted


def test_a_declaration_has_its_own_line_and_a_semicolon():
    assert formatted(".a>b,.c { top: 0; left: var(--x,0) }\n") == (
        ".a > b,\n.c {\n  top: 0;\n  left: var(--x, 0);\n}\n"
    )


def test_what_is_broken_by_hand_stays_broken():
    text = 'a {\n  background: linear-gradient(red,\n      blue);\n  mask: url("data:,a\\\nb");\n}\n'
    assert formatted(text) == text


def test_comments_keep_their_rule():
    text = "@layer page {\n\n  /* Why. */\n  a {\n    top: 0;\n    /* last */\n  }\n}\n"
    assert formatted(text) == text
