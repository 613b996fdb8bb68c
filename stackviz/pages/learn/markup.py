"""The text of a section -> HTML, and what it refers to. Markdown by markdown-it, HTML in texts off.

Beyond CommonMark and tables: `{{ … }}`, `[^key]`, and blocks of code in the languages `figure …` and `try …`, drawn by
the functions a caller passes. Links to other sites open as sources do.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from django.utils.html import escape, format_html
from django.utils.safestring import SafeString
from django.utils.translation import ngettext
from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from stackviz.pages.learn.text_files import SOURCE, TextSection, without_sources
from stackviz.web.escaping import breakable
from stackviz.web.i18n.languages import local_address

__all__ = ["Drawers", "Reference", "references", "render_section"]

MOST_ROWS = 12  # of a table that a phone shows without being asked
Kind = Literal["figure", "link", "source", "spec", "try"]
_VALUE = re.compile(r"\{\{ ([^{}]+?) \}\}")
_NOTE = re.compile(r"\[\^([a-z0-9-]+)\]")


@dataclass(frozen=True, slots=True)
class Reference:
    """Something a text refers to: the words of a `{{ … }}`, a key, an address, the words after `figure` or `try`."""

    kind: Kind
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Drawers:
    """How each reference is drawn, from its words; `figure` and `attempt` also get the text below them as HTML."""

    value: Callable[[str], SafeString]
    source: Callable[[str], SafeString]
    figure: Callable[[str, SafeString], SafeString]
    attempt: Callable[[str, SafeString], SafeString]


def render_section(section: TextSection, drawers: Drawers) -> SafeString:
    """The section without its heading. Escaped, but for what the drawers return."""
    rendered: str = _markdown().render(without_sources(section.body), {"drawers": drawers})
    return SafeString(rendered)


def references(section: TextSection) -> Iterator[Reference]:
    """What the section refers to, with the line of the paragraph in its file."""
    lines = ("" if SOURCE.match(line) else line for line in section.body.split("\n"))
    for token in _markdown().parse("\n".join(lines)):
        line = section.body_line + (token.map[0] if token.map else 0)
        kind, _, rest = token.info.partition(" ")
        if token.type == "fence" and kind in ("figure", "try"):
            yield Reference("figure" if kind == "figure" else "try", rest.strip(), line)
            yield from _inline(_markdown().parseInline(token.content), line)
        elif token.type == "inline":
            yield from _inline([token], line)


def _inline(tokens: Sequence[Token], line: int) -> Iterator[Reference]:
    for token in tokens:
        for child in token.children or ():
            if child.type == "link_open":
                yield Reference("link", str(child.attrs["href"]), line)
            elif child.type == "spec":
                yield Reference("spec", child.content, line)
            elif child.type == "source_number":
                yield Reference("source", child.content, line)


@cache
def _markdown() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.inline.ruler.before("escape", "spec", _inline_rule(_VALUE, "spec"))
    parser.inline.ruler.before("link", "source_number", _inline_rule(_NOTE, "source_number"))
    parser.add_render_rule("spec", _draw_value)
    parser.add_render_rule("source_number", _draw_source)
    parser.add_render_rule("fence", _draw_block)
    parser.add_render_rule("code_inline", _draw_code)
    parser.add_render_rule("link_open", _open_link)
    parser.add_render_rule("table_open", _open_table)
    parser.add_render_rule("table_close", _close_table)
    return parser


def _inline_rule(pattern: re.Pattern[str], name: str) -> Callable[[StateInline, bool], bool]:
    def rule(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 (markdown-it's signature)
        matched = pattern.match(state.src, state.pos)
        if not matched:
            return False
        if not silent:
            state.push(name, "", 0).content = matched[1]
        state.pos = matched.end()
        return True

    return rule


# Signatures of markdown-it: the renderer itself, the tokens, which of them, options, the environment of this text.


def _draw_value(_self: Any, tokens: Sequence[Token], at: int, _options: Any, env: Mapping[str, Any]) -> str:  # noqa: ANN401
    drawn: SafeString = env["drawers"].value(tokens[at].content)
    return drawn


def _draw_source(_self: Any, tokens: Sequence[Token], at: int, _options: Any, env: Mapping[str, Any]) -> str:  # noqa: ANN401
    drawn: SafeString = env["drawers"].source(tokens[at].content)
    return drawn


def _draw_block(_self: Any, tokens: Sequence[Token], at: int, _options: Any, env: dict[str, Any]) -> str:  # noqa: ANN401
    token = tokens[at]
    kind, _, rest = token.info.partition(" ")
    drawers: Drawers = env["drawers"]
    if kind == "figure":
        return drawers.figure(rest.strip(), _line(token.content, env))
    if kind == "try":
        return drawers.attempt(rest.strip(), _line(token.content, env))
    return f'<div class="copy"><pre><code>{escape(token.content)}</code></pre></div>\n'


def _open_table(_self: Any, tokens: Sequence[Token], at: int, _options: Any, env: dict[str, Any]) -> str:  # noqa: ANN401
    """A long table is folded on a phone."""
    end = next(number for number in range(at, len(tokens)) if tokens[number].type == "table_close")
    rows = sum(token.type == "tr_open" for token in tokens[at:end]) - 1
    env["is_long"] = rows > MOST_ROWS
    words = ngettext("%(n)d row", "%(n)d rows", rows) % {"n": rows}
    fold = f'<details class="fold"><summary>{words}</summary>' if env["is_long"] else ""
    return f'{fold}<div class="wide" tabindex="0"><table class="data">'


def _close_table(_self: Any, _tokens: Any, _at: int, _options: Any, env: Mapping[str, Any]) -> str:  # noqa: ANN401
    return "</table></div></details>" if env["is_long"] else "</table></div>"


def _draw_code(_self: Any, tokens: Sequence[Token], at: int, _options: Any, _env: Any) -> str:  # noqa: ANN401
    return f"<code>{breakable(tokens[at].content)}</code>"


def _line(text: str, env: dict[str, Any]) -> SafeString:
    rendered: str = _markdown().renderInline(text.strip(), env)
    return SafeString(rendered)


def _open_link(_self: Any, tokens: Sequence[Token], at: int, _options: Any, _env: Any) -> str:  # noqa: ANN401
    address = str(tokens[at].attrs["href"])
    if address.startswith("/"):  # texts of all languages name pages as the English ones are called
        address = local_address(address)
    return format_html('<a href="{}"{}>', address, SafeString(' rel="nofollow"' if "://" in address else ""))
