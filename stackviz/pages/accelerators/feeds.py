"""The change log as RSS: of the whole catalogue, or of one accelerator, vendor or field."""

import hashlib
from datetime import datetime
from typing import TYPE_CHECKING

from django.contrib.syndication.views import Feed
from django.core.cache import cache
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.html import escape
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import condition, require_safe

from stackviz.pages.accelerators.changes import Entry, read_log
from stackviz.pages.accelerators.changes_page import CACHE_S, ChangesQuery, as_query, news_edition, read_changes_query
from stackviz.pages.accelerators.news import read_news
from stackviz.web.escaping import xml_text

if TYPE_CHECKING:  # Django's classes take type arguments only from its stubs
    _Feed = Feed[Entry, ChangesQuery]
else:
    _Feed = Feed

_FILTERS = ("a", "vendor", "field")


class ChangeFeed(_Feed):
    """The newest entries of the log; a filter that does not exist is 404, since a reader would never see a note."""

    def get_object(self, request: HttpRequest) -> ChangesQuery:
        wanted = read_changes_query({name: request.GET[name] for name in _FILTERS if request.GET.get(name)})
        if wanted.notes:
            raise Http404(str(wanted.notes[0]))
        return wanted

    def title(self, wanted: ChangesQuery) -> str:
        return xml_text(
            _("accelweb: changes to %(name)s") % {"name": wanted.title} if wanted.title else _("accelweb: what is new")
        )

    def link(self, wanted: ChangesQuery) -> str:
        query = as_query(wanted.part).urlencode()
        return f"{reverse('accelerators:changes')}?{query}" if query else reverse("accelerators:changes")

    def feed_url(self, wanted: ChangesQuery) -> str:
        query = as_query(wanted.part).urlencode()
        return f"{reverse('accelerators:changes-feed')}?{query}" if query else reverse("accelerators:changes-feed")

    def description(self) -> str:
        return _("New accelerators, releases, results and public hosts; what was corrected, by whom and why.")

    def items(self, wanted: ChangesQuery) -> list[Entry]:
        """The newest steps of the log, and what is new besides them where all of it is wanted."""
        entries = [*read_log(wanted.part).entries]
        if wanted.is_front:
            today = timezone.now().date().isoformat()
            entries += [item.entry for part in read_news(today) for item in part.items]
        return sorted(entries, key=lambda entry: entry.when, reverse=True)

    def item_title(self, item: Entry) -> str:
        return xml_text(item.headline)

    def item_description(self, item: Entry) -> str:
        """HTML, as feed readers expect: all text escaped."""
        source = f'<a href="{escape(item.source_url)}">{escape(item.source_title)}</a>' if item.source_url else ""
        who = escape(_("Who: %(who)s") % {"who": item.who}) if item.who else ""
        parts = [*map(escape, item.details), escape(item.reason), who, source]
        return xml_text("<br>".join(part for part in parts if part))

    def item_link(self, item: Entry) -> str:
        if item.url:
            return item.url
        if item.slug:
            return reverse("accelerators:sheet", args=[item.slug])
        if item.load is not None:
            return f"{reverse('accelerators:changes')}?load={item.load}"
        return f"{reverse('accelerators:changes')}#{item.key}"

    def item_guid(self, item: Entry) -> str:
        """Stays the same whatever is renamed: readers show an entry once."""
        return f"accelweb-change-{item.key}"

    item_guid_is_permalink = False

    def item_pubdate(self, item: Entry) -> datetime:
        return item.when


def _state(request: HttpRequest) -> str:
    """ETag of everything the response depends on. Four queries."""
    parameters = [request.GET.get(name, "") for name in _FILTERS]
    named = repr(
        (news_edition(), f"{timezone.now():%F}", parameters, get_language(), request.get_host(), request.is_secure())
    )
    return f'"{hashlib.blake2b(named.encode(), digest_size=12).hexdigest()}"'


@require_safe
@condition(etag_func=_state)
def changes_feed(request: HttpRequest) -> HttpResponse:
    """RSS 2.0, rendered once for each state; 304 if the reader has the newest one.

    Other spellings of the same address are redirected to the canonical one, so that each feed is cached once.
    """
    key = f"changes-feed-{_state(request)[1:-1]}"
    rendered: tuple[bytes, str] | None = cache.get(key)
    if rendered is None:
        feed = ChangeFeed()
        wanted = feed.get_object(request)
        part = wanted.part
        if [request.GET.get(name, "") for name in _FILTERS] != [part.accelerator, part.vendor, part.field]:
            return redirect(feed.feed_url(wanted))
        made = feed(request)
        rendered = (made.content, made.headers.get("Content-Type", ""))
        cache.set(key, rendered, CACHE_S)
    return HttpResponse(rendered[0], content_type=rendered[1])
