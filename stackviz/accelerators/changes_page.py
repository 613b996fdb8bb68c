"""The page of the change log, and the same as a file; the address is the whole state."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC
from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from stackviz.accelerators.changes import NAMES, SHEETS, Asked, Entry, Log, Place, read_log
from stackviz.catalog.fields import FIELDS, grouped
from stackviz.catalog.models import Accelerator, CatalogueEdition, CatalogueLoad, Vendor
from stackviz.web.asked import clean_text
from stackviz.web.download import csv_response, json_response
from stackviz.web.fragments import kept

KEPT_S = 600
IN_A_FILE = 400  # entries at most in a file: each page's address gives its own
MOST_NOTES = 3
_KNOWN = frozenset({"a", "accelerator", "vendor", "field", "load", "each", "before", "format"})
_COLUMNS = (
    "key", "when", "who", "what", "accelerator", "slug", "field", "condition", "old", "new", "details", "counts",
    "reason", "source_title", "source_url",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the address asks for. `before`: where in the log the page begins; `notes`: what was left out, and why.

    `title` is the accelerator's name where one is asked for.
    """

    asked: Asked
    before: Place | None = None
    title: str = ""
    notes: tuple[str, ...] = field(default=(), compare=False)

    @property
    def is_plain(self) -> bool:
        """Whether many people ask for just this, so that what was rendered is worth keeping: it has an end."""
        return self.before is None and not self.notes and len(self.query) <= 1

    @property
    def query(self) -> QueryDict:
        """The filters as parameters, empty ones left out."""
        return as_query(self.asked)


def as_query(asked: Asked) -> QueryDict:
    query = QueryDict(mutable=True)
    named = {"a": asked.accelerator, "vendor": asked.vendor, "field": asked.field, "load": asked.load}
    query.update({name: str(value) for name, value in named.items() if value})
    if asked.each:
        query["each"] = "1"
    return query


def read_address(parameters: Mapping[str, str]) -> Wanted:
    """Read the filters. What does not exist is left out with a note. Four queries at most."""
    notes: list[str] = []
    slug, title = _accelerator(clean_text(parameters.get("a") or parameters.get("accelerator", "")), notes)
    asked = Asked(
        accelerator=slug,
        vendor=_vendor(clean_text(parameters.get("vendor", "")), notes),
        field=_field(clean_text(parameters.get("field", "")), notes),
        load=_load(clean_text(parameters.get("load", "")), notes),
        each=bool(parameters.get("each")),
    )
    place = clean_text(parameters.get("before", ""))
    before = Place.read(place) if place else None
    if place and before is None:
        notes.append(_("The log has no place %(place)r: it is shown from its newest entry.") % {"place": place[:40]})
    unknown = sorted(name for name in parameters if name not in _KNOWN)
    notes += [_("There is no filter %(name)r here: it was left out.") % {"name": name[:40]} for name in unknown]
    return Wanted(asked, before, title, tuple(notes[:MOST_NOTES]))


def _accelerator(text: str, notes: list[str]) -> tuple[str, str]:
    """An accelerator by slug or name, one that was removed too -> (slug, name), or empty with a note."""
    if not text:
        return "", ""
    history: Any = Accelerator.history
    for rows in (Accelerator.objects.filter(is_public=True), history.filter(is_public=True).order_by("-history_id")):
        by_slug = rows.filter(slug=text).values_list("slug", "name").first()
        found = by_slug or rows.filter(name__iexact=text).values_list("slug", "name").first()
        if found:
            return str(found[0]), str(found[1])
    notes.append(_("There is no accelerator %(text)r: all are shown.") % {"text": text[:40]})
    return "", ""


def _vendor(text: str, notes: list[str]) -> str:
    if not text or Vendor.objects.filter(slug=text).exists():
        return text
    notes.append(_("There is no vendor %(text)r: all are shown.") % {"text": text[:40]})
    return ""


def _field(text: str, notes: list[str]) -> str:
    if not text or text in FIELDS or text in (SHEETS, NAMES):
        return text
    notes.append(_("There is no field %(text)r: all are shown.") % {"text": text[:40]})
    return ""


def _load(text: str, notes: list[str]) -> int | None:
    if not text:
        return None
    if text.isascii() and text.isdecimal() and len(text) < 10 and CatalogueLoad.objects.filter(pk=int(text)).exists():
        return int(text)
    notes.append(_("There is no load %(text)r: the whole log is shown.") % {"text": text[:40]})
    return None


@require_safe
def changes(request: HttpRequest) -> HttpResponse:
    """What was added, corrected, retired and removed, newest first; with `format` as a file."""
    wanted = read_address(request.GET.dict())
    if request.GET.get("format") in ("json", "csv"):
        log = read_log(wanted.asked, wanted.before, IN_A_FILE)
        return as_csv(log) if request.GET["format"] == "csv" else as_json(log, wanted, request)
    body = (
        kept(("changes", wanted, CatalogueEdition.current()), lambda: _body(wanted), KEPT_S)
        if wanted.is_plain
        else _body(wanted)
    )
    feed = reverse("catalog:changes-feed")
    query = as_query(Asked(wanted.asked.accelerator, wanted.asked.vendor, wanted.asked.field)).urlencode()
    context = {"wanted": wanted, "body": body, "feed": f"{feed}?{query}" if query else feed}
    return render(request, "accelerators/changes.html", context)


def _body(wanted: Wanted) -> str:
    log = read_log(wanted.asked, wanted.before)
    context = {
        "wanted": wanted,
        "days": _by_day(log.entries),
        "next": str(log.next_place) if log.next_place else "",
        "vendors": Vendor.objects.filter(accelerators__is_public=True).distinct().order_by("name"),
        "names": Accelerator.objects.filter(is_public=True).order_by("name").values_list("name", flat=True),
        "groups": [(group.title, [(item.name, item.words[0]) for item in fields]) for group, fields in grouped(FIELDS)],
        "others": [(SHEETS, _("accelerators added and removed")), (NAMES, _("names"))],
    }
    return render_to_string("accelerators/_changes.html", context)


def _by_day(entries: tuple[Entry, ...]) -> list[tuple[str, list[tuple[str, Entry, str]]]]:
    """[(day, [(time of day, entry, where its single steps are)])], all in UTC."""
    days: dict[str, list[tuple[str, Entry, str]]] = {}
    for entry in entries:
        when = entry.when.astimezone(UTC)
        days.setdefault(f"{when:%Y-%m-%d}", []).append((f"{when:%H:%M}", entry, _steps_of(entry)))
    return list(days.items())


def _steps_of(entry: Entry) -> str:
    """The query that shows the steps of a grouped entry one by one; "" for one that is a single step."""
    if entry.load is not None:
        return f"load={entry.load}"
    if not entry.counts:
        return ""
    # The log is cut below a place: the smallest step above the entry's first.
    return f"each=1&before={Place(entry.when, 0, 10**16)}"


def as_json(log: Log, wanted: Wanted, request: HttpRequest) -> HttpResponse:
    entries = [{name: _plain(value) for name, value in asdict(entry).items()} for entry in log.entries]
    query = wanted.query
    query["format"] = "json"
    if log.next_place:
        query["before"] = str(log.next_place)
    following = request.build_absolute_uri(f"{request.path}?{query.urlencode()}") if log.next_place else None
    return json_response("changes", {"entries": entries, "next": following})


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


def as_csv(log: Log) -> HttpResponse:
    rows = [
        [
            "; ".join(value) if isinstance(value := getattr(entry, name), tuple) else value
            for name in _COLUMNS
        ]
        for entry in log.entries
    ]  # fmt: skip
    return csv_response("changes", _COLUMNS, rows)
