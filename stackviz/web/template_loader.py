"""How templates of both languages are loaded and compiled: without the white space of their layout, once a process."""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.template import TemplateSyntaxError
from django.template.base import DebugLexer, Lexer, NodeList, Origin, Parser, Template, Token, TokenType
from django.template.loaders import base, cached
from django.utils.html import json_script
from django.utils.translation import gettext, ngettext, npgettext, pgettext
from jinja2 import Environment, StrictUndefined
from jinja2.ext import Extension
from jinja2.lexer import Token as JinjaToken
from jinja2.lexer import TokenStream
from markupsafe import Markup

from stackviz.base.advice import causes_of
from stackviz.web.curated_text import curated, curated_commands
from stackviz.web.finding_text import advice_of, finding_text, finding_title
from stackviz.web.message_pages import message_pages
from stackviz.web.part_code import PartCode
from stackviz.web.parts import part_language
from stackviz.web.templatetags import web
from stackviz.web.whitespace import Compactor, is_silent
from stackviz.web.words import evidence_text


class CompactTemplate(Template):
    """A template compiled without the line breaks that only lay out its source (`web.whitespace`)."""

    def compile_nodelist(self) -> NodeList:
        """As Django's own, with `compact` between lexer and parser: errors still name the line of the source."""
        lexer = (DebugLexer if self.engine.debug else Lexer)(self.source)
        engine = self.engine
        parser = Parser(compact(lexer.tokenize()), engine.template_libraries, engine.template_builtins, self.origin)
        try:
            nodes = parser.parse()
        except TemplateSyntaxError as error:
            if engine.debug:  # the parser names the token it stopped at
                vars(error)["template_debug"] = self.get_exception_info(error, vars(error)["token"])
            raise
        self.extra_data = parser.extra_data
        return nodes


class _CompactingLoader(base.Loader):
    """Compiles the templates of the engine's own directories compactly; those of apps stay as they were written."""

    def get_template(self, template_name: str, skip: list[Origin] | None = None) -> Template:
        template = super().get_template(template_name, skip)
        if not any(Path(template.origin.name).is_relative_to(directory) for directory in self.engine.dirs):
            return template
        return CompactTemplate(template.source, template.origin, template.name, self.engine)


class Loader(cached.Loader, _CompactingLoader):
    """Django's cached loader, in front of the loaders it is given."""


def compact(tokens: Iterable[Token]) -> list[Token]:
    """The tokens of a template without comments and without the line breaks that only lay out its source."""
    compactor = Compactor()
    met: list[tuple[Token, list[str]]] = []
    in_translation = False
    for token in _without_comments(tokens):
        is_text = token.token_type == TokenType.TEXT
        met.append((token, compactor.meet_text(token.contents) if is_text and not in_translation else [token.contents]))
        if token.token_type == TokenType.BLOCK:
            name = token.contents.split(None, 1)[0]
            if in_translation:
                in_translation = name != "endblocktranslate"
                continue
            in_translation = name == "blocktranslate"
            (compactor.meet_silent if is_silent(token.contents) else compactor.meet_printed)()
        elif not is_text and not in_translation:
            compactor.meet_printed()
    compactor.meet_silent()
    for token, parts in met:
        token.contents = "".join(parts)
    return [token for token, _ in met if token.contents]


def _without_comments(tokens: Iterable[Token]) -> list[Token]:
    """Text on both sides of a comment becomes one token, so that its white space is seen as a whole."""
    joined_tokens: list[Token] = []
    in_comment = False
    for token in tokens:
        name = token.contents.split(None, 1)[0] if token.token_type == TokenType.BLOCK else ""
        if in_comment or name == "comment":
            in_comment = name != "endcomment"
        elif token.token_type == TokenType.COMMENT:
            continue
        elif joined_tokens and token.token_type == TokenType.TEXT == joined_tokens[-1].token_type:
            joined_tokens[-1].contents += token.contents
        else:
            joined_tokens.append(token)
    return joined_tokens


# --- parts: Jinja2 ---

FUNCTIONS = (
    web.ago,
    web.fact,
    web.factor,
    web.help,
    web.kind,
    web.missing,
    web.quantity,
    web.source,
    web.state,
    web.tray_button,
    advice_of,
    curated,
    curated_commands,
    evidence_text,
    finding_title,
    finding_text,
    message_pages,
)


def environment(**options: Any) -> Environment:  # noqa: ANN401 (passed on)
    """What Django's backend makes of the settings, with strict names: one that nothing defines is an error."""
    made = Environment(  # noqa: S701 (Django's backend sets autoescape)
        **options | {"undefined": StrictUndefined}, extensions=["jinja2.ext.i18n", Layout]
    )
    made.code_generator_class = PartCode
    made.policies["ext.i18n.trimmed"] = True
    made.install_gettext_callables(gettext, ngettext, newstyle=True, pgettext=pgettext, npgettext=npgettext)  # type: ignore[attr-defined]
    made.globals.update({function.__name__: function for function in FUNCTIONS})
    made.globals.update(_=translated, gettext=completed, url=web.url, querystring=web.querystring)
    made.filters.update(date=web.date, css_text=web.css_text, json_script=json_script, causes=causes_of)
    return made


def translated(text: str) -> Markup:
    """`_("Value")`: the text in the visitor's language, as Jinja2's own `_` gives it, looked up once for each language.

    A page has a hundred such texts, and the same ones on every row.
    """
    return _translated(text, part_language())


def completed(text: str, /, **values: object) -> Markup:
    """`{% trans n=n %}{{ n }} releases{% endtrans %}`: the text in the visitor's language with its values, escaped."""
    return _marked(text, part_language()) % values if values else translated(text)


@lru_cache(maxsize=8192)
def _translated(text: str, language: str | None) -> Markup:
    return _marked(text, language) % {}  # %% becomes %


@lru_cache(maxsize=8192)
def _marked(text: str, _language: str | None) -> Markup:
    return Markup(gettext(text))  # noqa: S704 - texts of templates and translations, both ours


class Layout(Extension):
    """Takes the line breaks out that only lay out the source, as `compact` does of a Django template."""

    def filter_stream(self, stream: TokenStream) -> Iterable[JinjaToken]:
        compactor = Compactor()
        met: list[tuple[JinjaToken, list[str] | None]] = []
        in_translation = False
        tokens = _joined_texts(stream)
        for token in tokens:
            if token.type == "data" and not in_translation:
                met.append((token, compactor.meet_text(token.value)))
                continue
            met.append((token, None))
            if token.type == "block_begin":
                name = next(tokens)
                met.append((name, None))
                if in_translation:
                    in_translation = name.value != "endtrans"
                    continue
                in_translation = name.value == "trans"
                (compactor.meet_silent if is_silent(name.value) else compactor.meet_printed)()
            elif token.type == "variable_begin" and not in_translation:
                compactor.meet_printed()
        compactor.meet_silent()
        for token, parts in met:
            if parts is None:
                yield token
            elif text := "".join(parts):
                yield JinjaToken(token.lineno, "data", text)


def _joined_texts(stream: TokenStream) -> Iterator[JinjaToken]:
    """The tokens, text on both sides of a comment as one: its white space is seen as a whole."""
    text: JinjaToken | None = None
    for token in stream:
        if token.type == "data":
            text = JinjaToken(text.lineno, "data", text.value + token.value) if text else token
            continue
        if text:
            yield text
        text = None
        yield token
    if text:
        yield text
