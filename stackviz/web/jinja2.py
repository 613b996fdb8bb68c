"""The Jinja2 environment of the parts of pages: the names that every part may use (docs/templates.md)."""

from typing import Any

from django.utils.html import json_script
from django.utils.translation import gettext, ngettext, npgettext, pgettext
from jinja2 import Environment, StrictUndefined

from stackviz.base.advice import causes_of
from stackviz.draw.colours import hue_of
from stackviz.report.messages.of_findings import messages_like, messages_of
from stackviz.report.rules import branch_of
from stackviz.web.i18n.curated_text import curated, curated_commands
from stackviz.web.i18n.finding_text import advice_of, finding_text, finding_title
from stackviz.web.i18n.words import evidence_text
from stackviz.web.templatetags import web

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
    branch_of,
    curated,
    curated_commands,
    evidence_text,
    finding_title,
    finding_text,
    hue_of,
    messages_like,
    messages_of,
)


def environment(**options: Any) -> Environment:  # noqa: ANN401 (passed on)
    """Return what Django's backend makes of the settings, with strict names: an undefined one is an error."""
    made = Environment(  # noqa: S701 (Django's backend sets autoescape)
        **options | {"undefined": StrictUndefined},
        extensions=["jinja2.ext.i18n"],
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.policies["ext.i18n.trimmed"] = True
    made.install_gettext_callables(gettext, ngettext, newstyle=True, pgettext=pgettext, npgettext=npgettext)  # type: ignore[attr-defined]
    made.globals.update(
        {function.__name__: function for function in FUNCTIONS}, url=web.url, querystring=web.querystring
    )
    made.filters.update(date=web.date, css_text=web.css_text, json_script=json_script, causes=causes_of)
    return made
