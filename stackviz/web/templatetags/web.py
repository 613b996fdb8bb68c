"""What every page writes the same way: quantities, missing values, sources, kinds of figure, times, the tray.

`{% load web %}`. Tags return finished HTML; whatever they are given is escaped.
"""

import re
import time
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, Protocol
from urllib.parse import quote, urlsplit

from django import template
from django.conf import settings
from django.template.defaulttags import querystring as django_querystring
from django.urls import get_script_prefix, reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString
from django.utils.translation import get_language, ngettext
from django.utils.translation import gettext as _

from stackviz.base.units import Shown, format_factor, format_quantity
from stackviz.web.doors import DOORS, FOOT, NavigationLink, door_links, door_of, links_of_pages
from stackviz.web.escaping import breakable
from stackviz.web.http.addresses import address_by_name
from stackviz.web.i18n.curated_text import curated, curated_code, curated_commands
from stackviz.web.i18n.finding_text import finding_text, finding_words
from stackviz.web.i18n.languages import alternates_of, is_page, language_choices
from stackviz.web.i18n.words import KIND_MEANINGS, KINDS, STATES, joined, missing_text
from stackviz.web.parts import render_part
from stackviz.web.preview import sharing_of, sharing_of_address

register = template.Library()
register.simple_tag(render_part, name="part")
register.simple_tag(curated)
register.simple_tag(curated_code)
register.simple_tag(curated_commands)
register.simple_tag(finding_text)
register.simple_tag(address_by_name, name="address")
register.filter(joined)


@register.simple_tag(takes_context=True)
def navigation(context: template.Context) -> SafeString:
    """The doors of the site as seen from this page."""
    return _drawn_doors(door_of(_path_of(context)), *_drawn_for())


@register.simple_tag(takes_context=True)
def pages_of_door(context: template.Context) -> SafeString:
    """The pages behind the door that this page is behind; nothing where there is one or no door."""
    path = _path_of(context)
    door = door_of(path)
    if door is None or len(DOORS[door].pages) == 1:
        return SafeString("")
    links = tuple(links_of_pages(DOORS[door].pages, path))
    return _drawn_links("web/_pages_of_door.jinja", links, _drawn_for(), title=str(DOORS[door].title))


@register.simple_tag(takes_context=True)
def foot(context: template.Context) -> SafeString:
    """The foot of every page, with its links."""
    links = tuple(links_of_pages(FOOT, _path_of(context)))
    return _drawn_links("web/_foot.jinja", links, _drawn_for(), version=version())


@register.simple_tag(takes_context=True)
def share(context: template.Context, title: str = "") -> SafeString:
    """Buttons that copy the page's address: of its `preview`, else the address it was asked for, under `title`."""
    preview, request = context.get("preview"), context.get("request")
    if preview is not None:
        return render_part("web/_sharing.jinja", sharing=sharing_of(preview))
    if request is None:
        return SafeString("")
    return render_part("web/_sharing.jinja", sharing=sharing_of_address(request, title))


@register.simple_tag(takes_context=True)
def alternates(context: template.Context) -> SafeString:
    """The links to this page in each language, for search engines; nothing where it exists in one."""
    preview, request = context.get("preview"), context.get("request")
    if preview is not None:
        return render_part("web/_alternates.jinja", alternates=preview.alternates)
    if request is None or not is_page(request.resolver_match):
        return SafeString("")
    return render_part("web/_alternates.jinja", alternates=alternates_of(request, request.get_full_path()))


@register.simple_tag(takes_context=True)
def language_menu(context: template.Context) -> SafeString:
    """The languages to read this page in."""
    request = context.get("request")
    if request is None:
        return SafeString("")
    form = str(context.get("form_to_send_again", ""))
    return render_part("web/_languages.jinja", choices=language_choices(request), form=form)


@register.simple_tag
def fixed_part(name: str) -> SafeString:
    """A part without arguments, which is the same on every page."""
    return _drawn_once(name, *_drawn_for())


def _path_of(context: template.Context) -> str:
    return str(getattr(context.get("request"), "path", ""))


def _drawn_for() -> tuple[str | None, str, float]:
    """What the frame of a page depends on; while templates are worked on, on the moment too."""
    return get_language(), get_script_prefix(), time.monotonic() if settings.DEBUG else 0.0


@lru_cache(maxsize=64)
def _drawn_doors(current: int | None, _language: str | None, _prefix: str, _at: float) -> SafeString:
    return render_part("web/_navigation.jinja", links=door_links(current))


@lru_cache(maxsize=256)
def _drawn_links(
    name: str, links: tuple[NavigationLink, ...], _for: tuple[str | None, str, float], **values: str
) -> SafeString:
    return render_part(name, links=links, **values)


@lru_cache(maxsize=64)
def _drawn_once(name: str, _language: str | None, _prefix: str, _at: float) -> SafeString:
    return render_part(name)


def version() -> str:
    return str(getattr(settings, "VERSION", ""))


@register.simple_tag
def quantity(amount: float | Shown | None, si: str = "", reason: str = "") -> SafeString:
    """`{% quantity 3.35e12 "B/s" %}` -> 3.35 TB/s, the exact figure on hover; None says why (`reason`), never 0."""
    if amount is None:
        return missing(reason)
    shown = amount if isinstance(amount, Shown) else format_quantity(amount, si)
    return format_html('<span class="nowrap" title="{}">{}</span>', shown.exact, shown.label)


@register.simple_tag
def missing(reason: str | None = None, detail: str | None = None) -> SafeString:
    """`{% missing "not_supported" "driver has no power reading" %}`: what is shown instead of a value."""
    text = missing_text(reason)
    if detail:
        return format_html('<span class="miss" title="{}">{}</span>', finding_words(detail), text)
    return format_html('<span class="miss">{}</span>', text)


class _Fact(Protocol):
    """A fact of a report as pages show it; `text` is empty where it is missing."""

    @property
    def text(self) -> str: ...
    @property
    def missing(self) -> str: ...
    @property
    def detail(self) -> str: ...


@register.simple_tag
def fact(shown: _Fact) -> SafeString:
    """`{% fact row.cpu %}`: its text; or why it is missing, more of it on hover."""
    if shown.text:
        return format_html("{}", shown.text)
    if shown.detail:
        detail = finding_words(shown.detail)
        return format_html('<span class="miss" title="{}">{}</span>', detail, shown.missing)
    return format_html('<span class="miss">{}</span>', shown.missing)


@register.simple_tag
def factor(value: float | None) -> SafeString:
    """`{% factor 2.94 %}` -> 2.9×; None gives nothing: without both figures there is no factor."""
    return format_html('<span class="x">{}</span>', format_factor(value)) if value is not None else SafeString("")


@register.simple_tag
def kind(name: str) -> SafeString:
    """The badge of a kind of figure: published, probed, measured, derived or cited."""
    return format_html('<span class="kind {}" title="{}">{}</span>', name, KIND_MEANINGS[name], KINDS[name])


@register.simple_tag
def state(name: str, text: str = "") -> SafeString:
    """A state or severity with its mark; `text` says it in other words than the usual one."""
    return format_html('<span class="st {}">{}</span>', name, text or STATES[name])


@register.simple_tag
@lru_cache(maxsize=2048, typed=True)  # a page names a source on many rows; a safe string equals one to be escaped
def source(title: str, url: str = "", number: int | None = None) -> SafeString:
    """A link to where a figure is from: by its title, or as a small `number` after the figure.

    Only http and https addresses become links: the text may come from an import. A title without one is a `<cite>`.
    """
    shown: str | SafeString = format_html("{}", title) if number is None else format_html("{}", number)
    label = format_html(' title="{}"', title) if number is not None else SafeString("")
    if urlsplit(url).scheme in ("http", "https"):
        link = format_html('<a href="{}" rel="nofollow"{}>{}</a>', url, label, shown)
    elif number is None:
        link = format_html("<cite>{}</cite>", shown)
    else:
        link = format_html("<span{}>{}</span>", label, shown)
    return link if number is None else format_html("<sup>{}</sup>", link)


@register.simple_tag
def help(anchor: str, term: str = "") -> SafeString:  # noqa: A001 (the tag's name in templates)
    """The small "?" after a term a newcomer may not know; `anchor` is its place in the glossary."""
    label = _("What is %(term)s?") % {"term": term} if term else _("What does this mean?")
    return format_html(
        '<a class="help" href="{}#{}" aria-label="{}" title="{}">?</a>',
        address_by_name("learn:glossary"),
        anchor,
        label,
        label,
    )


@register.simple_tag
def tray_button(subject: str, name: str) -> SafeString:
    """The button that puts a subject into the compare tray; without JavaScript, a plain link to compare it."""
    return format_html(
        '<button type="button" class="chip js-only" data-tray-add="{subject}" data-tray-name="{name}"'
        ' aria-pressed="false" aria-label="{label}">{verb}</button>'
        '<a class="chip nojs-only" href="{page}?a={quoted}" aria-label="{label}">{verb}</a>',
        subject=subject,
        name=name,
        label=_("Compare %(name)s") % {"name": name},
        verb=_("Compare"),
        page=address_by_name("compare:page"),
        quoted=quote(subject, safe=":/"),
    )


@register.simple_tag
def ago(when: datetime | None, reason: str = "not_reported") -> SafeString:
    """`4 min ago`, the full UTC time on hover and for machines; None says why."""
    if when is None:
        return missing(reason)
    utc = when.astimezone(UTC)
    moment = utc.isoformat(timespec="seconds")  # digits and signs alone: nothing to escape
    words = escape(time_ago(utc, timezone.now()))
    return SafeString(
        f'<time datetime="{moment}" title="{moment[:10]} {moment[11:19]} UTC" class="nowrap">{words}</time>'
    )


register.filter(breakable)


@register.filter
def time_span(duration: timedelta) -> str:
    """How long something took or takes, in the largest unit that there is two of, or one: `9 days`, `6 hours`."""
    seconds = duration.total_seconds()
    if seconds >= 86_400:
        days = int(seconds // 86_400)
        return ngettext("%(n)d day", "%(n)d days", days) % {"n": days}
    if seconds >= 3600:
        hours = int(seconds // 3600)
        return ngettext("%(n)d hour", "%(n)d hours", hours) % {"n": hours}
    minutes = max(1, int(seconds // 60))
    return ngettext("%(n)d minute", "%(n)d minutes", minutes) % {"n": minutes}


def time_ago(when: datetime, now: datetime) -> str:
    """How long ago in words, up to a month; then the day. A clock that runs ahead reads "just now"."""
    seconds = (now - when).total_seconds()
    if seconds < 60:
        return _("just now")
    if seconds < 3600:
        minutes = int(seconds // 60)
        return ngettext("%(n)d min ago", "%(n)d min ago", minutes) % {"n": minutes}
    if seconds < 86_400:
        hours = int(seconds // 3600)
        return ngettext("%(n)d hour ago", "%(n)d hours ago", hours) % {"n": hours}
    days = int(seconds // 86_400)
    if days <= 30:
        return ngettext("%(n)d day ago", "%(n)d days ago", days) % {"n": days}
    return f"{when:%Y-%m-%d}"


# --- of Jinja2 alone: Django has tags of its own for them ---


def url(name: str, *arguments: object) -> str:
    """The address of a view by its name."""
    return reverse(name, args=arguments)


def querystring(query: Any, **changes: object) -> str:  # noqa: ANN401 (a QueryDict or a mapping)
    """`?…` of an address with these changes, as Django's tag writes it."""
    return django_querystring(template.Context(), query, **changes)


def date(when: datetime, form: str) -> str:
    """A day or time in one of Django's forms, `Y-m-d`."""
    return date_format(when, form)


def css_text(text: str) -> str:
    """The text as a string of CSS, quotes included, for a `style` that a rule's `content` reads."""
    escaped = re.sub(r"[^\w -]", lambda sign: f"\\{ord(sign[0]):x} ", text)
    return f"'{escaped}'"
