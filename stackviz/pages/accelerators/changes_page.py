"""The change log as a page and as a file. The address holds the whole state."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC
from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from stackviz.pages.accelerators.changes import (
    CITED,
    NAMES,
    PRICES,
    SHEETS,
    Entry,
    Log,
    LogFilter,
    LogPosition,
    read_log,
)
from stackviz.pages.accelerators.news import read_news
from stackviz.records.catalog.fields import FIELDS, grouped
from stackviz.records.catalog.models import Accelerator, CatalogueEdition, CatalogueLoad, Vendor
from stackviz.records.cited.models import CitedEdition
from stackviz.records.hosts.models import HostEdition
from stackviz.records.stacks.models import Edition
from stackviz.web.http.address import AddressReader, Note, whole_number
from stackviz.web.http.download import Columns, json_response, table_file
from stackviz.web.http.errors import refuse_notes
from stackviz.web.http.formats import serves_formats
from stackviz.web.parts import cached_html, render_part

CACHE_S = 600
IN_A_FILE = 400  # entries at most in a file: each page's address gives its own
_KNOWN = frozenset({"a", "accelerator", "vendor", "field", "load", "each", "before", "format"})


@dataclass(frozen=True, slots=True)
class ChangesQuery:
    """The part of the log to show. `before`: where in the log the page begins; None at its newest entry.

    `title` is the accelerator's name where one is chosen.
    """

    part: LogFilter
    before: LogPosition | None = None
    title: str = ""
    notes: tuple[Note, ...] = field(default=(), compare=False)

    @property
    def is_front(self) -> bool:
        """Whether it is the page without filters, which begins with what is new."""
        return self.before is None and self.part == LogFilter() and not self.notes

    @property
    def query(self) -> QueryDict:
        """The filters as parameters, empty ones left out."""
        return as_query(self.part)


def as_query(part: LogFilter) -> QueryDict:
    query = QueryDict(mutable=True)
    named = {"a": part.accelerator, "vendor": part.vendor, "field": part.field, "load": part.load}
    query.update({name: str(value) for name, value in named.items() if value})
    if part.each:
        query["each"] = "1"
    return query


def read_changes_query(parameters: Mapping[str, str]) -> ChangesQuery:
    """Read the filters; unknown values are ignored with a note. Four queries at most."""
    reader = AddressReader(parameters)
    slug, title = _accelerator(reader)
    part = LogFilter(
        accelerator=slug,
        vendor=_vendor(reader),
        field=reader.choice("field", (*FIELDS, SHEETS, NAMES, PRICES, CITED), _("field")),
        load=reader.parsed("load", _load, _("Unknown load “%(value)s”")),
        each=bool(parameters.get("each")),
    )
    before = reader.parsed(
        "before", LogPosition.read, _("Unknown log position “%(value)s”"), _("the log starts at its newest entry")
    )
    return ChangesQuery(part=part, before=before, title=title, notes=reader.notes(_KNOWN))


def _accelerator(reader: AddressReader) -> tuple[str, str]:
    """An accelerator by slug or name, removed ones too -> (slug, name), or empty with a note."""
    text = reader.text("a") or reader.text("accelerator")
    if not text:
        return "", ""
    history: Any = Accelerator.history
    for rows in (Accelerator.objects.filter(is_public=True), history.filter(is_public=True).order_by("-history_id")):
        by_slug = rows.filter(slug=text).values_list("slug", "name").first()
        named = by_slug or rows.filter(name__iexact=text).values_list("slug", "name").first()
        if named:
            return str(named[0]), str(named[1])
    reader.unknown_value("a", _("accelerator"), text)
    return "", ""


def _vendor(reader: AddressReader) -> str:
    text = reader.text("vendor")
    if not text or Vendor.objects.filter(slug=text).exists():
        return text
    reader.unknown_value("vendor", _("vendor"), text)
    return ""


def _load(text: str) -> int | None:
    key = whole_number(text, max_digits=9)
    return key if key is not None and CatalogueLoad.objects.filter(pk=key).exists() else None


@require_safe
@serves_formats("csv", "json")
def changes(request: HttpRequest) -> HttpResponse:
    """What was added, corrected, retired and removed, newest first; with `format` as a file."""
    query = read_changes_query(request.GET.dict())
    if request.GET.get("format") in ("json", "csv"):
        if query.notes:
            return refuse_notes(query.notes)
        log = read_log(query.part, query.before, IN_A_FILE)
        is_csv = request.GET["format"] == "csv"
        return table_file("changes", _COLUMNS, log.entries) if is_csv else as_json(log, query, request)
    state = ("changes", query.part, query.before, query.title, *log_edition())
    body = cached_html(state, lambda: _body(query), CACHE_S)
    news = news_html() if query.is_front else ""
    feed = reverse("accelerators:changes-feed")
    filters = _filters(query)
    context = {"wanted": query, "news": news, "body": body, "feed": f"{feed}?{filters}" if filters else feed}
    return render(request, "accelerators/changes.html", context)


def log_edition() -> tuple[str, str]:
    """Names the state of everything that the log is read from. One query."""
    return CatalogueEdition.current(), CitedEdition.current()


def news_html() -> str:
    """What is new today, a section for each kind that has any; two queries more for the editions."""

    def draw() -> str:
        return render_part("accelerators/_news.jinja", parts=read_news(today))

    today = timezone.now().date().isoformat()
    return cached_html(("news", today, *news_edition()), draw, CACHE_S)


def news_edition() -> tuple[str, ...]:
    """Names the state of everything that news are read from. Two queries besides those of the log."""
    return (*log_edition(), Edition.current(), HostEdition.current())


def _body(query: ChangesQuery) -> str:
    log = read_log(query.part, query.before)
    context = {
        "wanted": query,
        "days": _by_day(log.entries, _filters(query)),
        "next": str(log.next_place) if log.next_place else "",
        "vendors": Vendor.objects.filter(accelerators__is_public=True).distinct().order_by("name"),
        "names": Accelerator.objects.filter(is_public=True).order_by("name").values_list("name", flat=True),
        "groups": [(group.title, [(item.name, item.words[0]) for item in fields]) for group, fields in grouped(FIELDS)],
        "others": [
            (SHEETS, _("accelerators added and removed")),
            (NAMES, _("names")),
            (PRICES, _("prices")),
            (CITED, _("cited results")),
        ],
    }
    return render_to_string("accelerators/_changes.html", context)


def _filters(query: ChangesQuery) -> str:
    return as_query(LogFilter(query.part.accelerator, query.part.vendor, query.part.field)).urlencode()


def _by_day(entries: tuple[Entry, ...], filters: str) -> list[tuple[str, list[tuple[str, Entry, str]]]]:
    """[(day, [(time of day, entry, query of its single steps)])], all in UTC. `filters`: of the log, as a query."""
    days: dict[str, list[tuple[str, Entry, str]]] = {}
    for entry in entries:
        when = entry.when.astimezone(UTC)
        days.setdefault(f"{when:%Y-%m-%d}", []).append((f"{when:%H:%M}", entry, _steps_of(entry, filters)))
    return list(days.items())


def _steps_of(entry: Entry, filters: str) -> str:
    """The query that shows the steps of a grouped entry one by one; "" for one that is a single step."""
    rest = f"&{filters}" if filters else ""
    if entry.load is not None:
        return f"load={entry.load}{rest}"
    if not entry.counts or entry.what == "loaded":  # loads of cited results leave no steps
        return ""
    # The log is cut below a place: the smallest step above the entry's first.
    return f"each=1&before={LogPosition(entry.when, 0, 10**16)}{rest}"


def as_json(log: Log, query: ChangesQuery, request: HttpRequest) -> HttpResponse:
    entries = [{name: _plain(value) for name, value in asdict(entry).items()} for entry in log.entries]
    parameters = query.query
    parameters["format"] = "json"
    if log.next_place:
        parameters["before"] = str(log.next_place)
    following = request.build_absolute_uri(f"{request.path}?{parameters.urlencode()}") if log.next_place else None
    return json_response("changes", {"entries": entries, "next": following})


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


def _text_of(name: str) -> Callable[[Entry], object]:
    def cell(entry: Entry) -> object:
        value = getattr(entry, name)
        return "; ".join(value) if isinstance(value, tuple) else value

    return cell


_COLUMNS: Columns[Entry] = {
    name: _text_of(name)
    for name in (
        "key", "when", "who", "what", "accelerator", "slug", "field", "condition", "old", "new", "details", "counts",
        "reason", "source_title", "source_url", "url",
    )
}  # fmt: skip
