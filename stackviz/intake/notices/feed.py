"""The newest events of a lab as Atom: of a public lab for everybody, of a private one for its people alone."""

from datetime import datetime
from http import HTTPStatus
from typing import TYPE_CHECKING

from django.contrib.syndication.views import Feed
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.cache import get_conditional_response, patch_vary_headers
from django.utils.feedgenerator import Atom1Feed
from django.utils.html import escape
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from stackviz.intake.notices.models import LabEvent
from stackviz.intake.notices.queries import event_address, event_id, event_text, event_title, lab_events
from stackviz.records.labs.keys import KeyRefused, KeyUnknown, reader_of
from stackviz.records.labs.models import Lab
from stackviz.records.labs.queries import LabReader, visible_labs
from stackviz.web.escaping import xml_text
from stackviz.web.http.conditional import etag_of
from stackviz.web.http.rate_limit import RateLimited, too_many

ENTRIES = 50

if TYPE_CHECKING:  # Django's classes take type arguments only from its stubs
    _Feed = Feed[LabEvent, Lab]
else:
    _Feed = Feed


class LabFeed(_Feed):
    """Of a lab that the visitor may see: that is looked up before."""

    feed_type = Atom1Feed

    def __init__(self, lab: Lab, events: list[LabEvent]) -> None:
        self._lab, self._events = lab, events

    def get_object(self, _request: HttpRequest) -> Lab:
        return self._lab

    def title(self, lab: Lab) -> str:
        return xml_text(_("%(lab)s: events") % {"lab": lab.name})

    def subtitle(self) -> str:
        return _("Change points, new findings and machines that fell silent.")

    def link(self, lab: Lab) -> str:
        return lab.get_absolute_url()

    def feed_url(self, lab: Lab) -> str:
        return reverse("notices:feed", args=[lab.slug])

    def items(self) -> list[LabEvent]:
        return self._events

    def item_title(self, item: LabEvent) -> str:
        return xml_text(event_title(item))

    def item_description(self, item: LabEvent) -> str:
        return escape(xml_text(event_text(item)))

    def item_link(self, item: LabEvent) -> str:
        return event_address(item)

    def item_guid(self, item: LabEvent) -> str:
        return event_id(item)

    def item_pubdate(self, item: LabEvent) -> datetime:
        return item.noted_at

    item_updateddate = item_pubdate

    def item_categories(self, item: LabEvent) -> list[str]:
        return [item.kind]


@require_safe
def lab_feed(request: HttpRequest, lab: str) -> HttpResponse:
    """The newest ENTRIES events; 304 if the reader has them. Two queries, and those that find out who asks."""
    try:
        reader = reader_of(request)
    except KeyRefused as refused:
        return _refused(401 if isinstance(refused, KeyUnknown) else 403, str(refused))
    except RateLimited as limited:
        return too_many(limited)
    seen = get_object_or_404(visible_labs(reader), slug=lab)
    events = list(lab_events(seen)[:ENTRIES])
    state = repr([seen.name, *((event.pk, event_title(event), event_address(event)) for event in events)])
    tag = etag_of(request, state)
    answer = get_conditional_response(request, etag=tag) or LabFeed(seen, events)(request)
    answer.headers["ETag"] = tag
    answer.headers["Cache-Control"] = (
        "public, no-cache" if seen.is_public and not isinstance(reader, LabReader) else "private, no-store"
    )
    patch_vary_headers(answer, ["Cookie", "Authorization"])
    return answer


def _refused(status: int, why: str) -> HttpResponse:
    answer = HttpResponse(f"{why}\n", status=status, content_type="text/plain; charset=utf-8")
    if status == HTTPStatus.UNAUTHORIZED:
        answer.headers["WWW-Authenticate"] = "Bearer"
    return answer
