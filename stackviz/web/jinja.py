"""The environment of the site's Jinja2 templates: texts in the visitor's language, the tags of `web` as functions."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from django.template import Context
from django.template.defaulttags import querystring as django_querystring
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.html import json_script
from django.utils.translation import gettext, ngettext, npgettext, pgettext
from jinja2 import Environment, StrictUndefined
from jinja2.ext import Extension
from jinja2.lexer import Token, TokenStream

from stackviz.web.advice import blocks_of
from stackviz.web.templatetags import web
from stackviz.web.whitespace import Compactor, is_silent

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
)


def environment(**options: Any) -> Environment:  # noqa: ANN401 (passed on)
    """What Django's backend makes of the settings, with strict names: one that nothing defines is an error."""
    made = Environment(  # noqa: S701 (Django's backend sets autoescape)
        **options | {"undefined": StrictUndefined}, extensions=["jinja2.ext.i18n", Layout]
    )
    made.policies["ext.i18n.trimmed"] = True
    made.install_gettext_callables(gettext, ngettext, newstyle=True, pgettext=pgettext, npgettext=npgettext)  # type: ignore[attr-defined]
    made.globals.update({function.__name__: function for function in FUNCTIONS})
    made.globals.update(url=url, querystring=querystring)
    made.filters.update(date=date, json_script=json_script, advice_blocks=blocks_of)
    return made


def url(name: str, *arguments: object) -> str:
    """The address of a view by its name."""
    return reverse(name, args=arguments)


def querystring(query: Any, **changes: object) -> str:  # noqa: ANN401 (a QueryDict or a mapping)
    """`?…` of an address with these changes, as Django's tag writes it."""
    return django_querystring(Context(), query, **changes)


def date(when: datetime, form: str) -> str:
    """A day or time in one of Django's forms, `Y-m-d`."""
    return date_format(when, form)


class Layout(Extension):
    """Takes the line breaks out that only lay out the source, as `template_loader` does of a Django template."""

    def filter_stream(self, stream: TokenStream) -> Iterable[Token]:
        compactor = Compactor()
        found: list[tuple[Token, list[str] | None]] = []
        in_translation = False
        tokens = _joined(stream)
        for token in tokens:
            if token.type == "data" and not in_translation:
                found.append((token, compactor.meet_text(token.value)))
                continue
            found.append((token, None))
            if token.type == "block_begin":
                name = next(tokens)
                found.append((name, None))
                if in_translation:
                    in_translation = name.value != "endtrans"
                    continue
                in_translation = name.value == "trans"
                (compactor.meet_silent if is_silent(name.value) else compactor.meet_printed)()
            elif token.type == "variable_begin" and not in_translation:
                compactor.meet_printed()
        compactor.meet_silent()
        for token, parts in found:
            if parts is None:
                yield token
            elif text := "".join(parts):
                yield Token(token.lineno, "data", text)


def _joined(stream: TokenStream) -> Iterator[Token]:
    """The tokens, text on both sides of a comment as one: its white space is seen as a whole."""
    text: Token | None = None
    for token in stream:
        if token.type == "data":
            text = Token(text.lineno, "data", text.value + token.value) if text else token
            continue
        if text:
            yield text
        text = None
        yield token
    if text:
        yield text
