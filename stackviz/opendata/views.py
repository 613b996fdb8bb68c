"""`/data/`: what there is to download, what its columns mean, and the files themselves."""

from dataclasses import dataclass

from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import get_conditional_response
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from stackviz.opendata import stored_dumps
from stackviz.opendata.formats import CONTENT_TYPES, FORMATS
from stackviz.opendata.schema import SCHEMA_VERSION, TABLES, TYPES, Table
from stackviz.opendata.stored_dumps import Dump, File
from stackviz.units import format_number, format_quantity

ASK_AGAIN_S = 120  # a dump that may be handed out no more is written anew within a minute


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedFile:
    """A file as the page lists it: `size` in words, `exact` in bytes."""

    name: str
    url: str
    form: str
    size: str
    exact: str
    sha256: str


@dataclass(frozen=True, slots=True)
class ListedTable:
    """A table as the page lists it. `withheld`: it shows what is public no more, and is being written anew."""

    table: Table
    rows: str
    withheld: bool
    files: tuple[ListedFile, ...]


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    """The files of the newest dump with their sizes and checksums, and how to check them. Two queries at most."""
    dump = stored_dumps.newest()
    withheld = dump is not None and not stored_dumps.is_still_public(dump)
    context = {
        "dump": dump,
        "tables": _listed(dump, withheld=withheld) if dump else (),
        "others": tuple(_listed_file(file) for file in dump.others) if dump else (),
        "older": [name for name in stored_dumps.names() if dump is None or name != dump.name],
        "address": request.build_absolute_uri(reverse("opendata:index")),
        "schema_version": SCHEMA_VERSION,
    }
    return render(request, "opendata/index.html", context)


@require_safe
def schema(request: HttpRequest) -> HttpResponse:
    """Every table with its columns. No query."""
    context = {"tables": TABLES, "types": TYPES, "formats": FORMATS, "schema_version": SCHEMA_VERSION}
    return render(request, "opendata/schema.html", context)


@require_safe
def file(request: HttpRequest, name: str, dump_name: str = "") -> HttpResponseBase:
    """One file of the newest dump, or of the one named: streamed, with its checksum as the tag. One query at most."""
    dump = stored_dumps.named(dump_name) if dump_name else stored_dumps.newest()
    found = dump.file(name) if dump else None
    if dump is None or found is None:
        raise Http404(_("No file of the data is called “%(name)s”.") % {"name": name})
    if dump.is_of_machines(found) and not stored_dumps.is_still_public(dump):
        return _withheld(is_newest=not dump_name)
    tag = f'"{found.sha256}"'
    unchanged = get_conditional_response(request, etag=tag)
    response = unchanged if unchanged is not None else _streamed(dump, found)
    response.headers["ETag"] = tag
    response.headers["Cache-Control"] = "public, no-cache"
    return response


def _streamed(dump: Dump, found: File) -> FileResponse:
    try:
        opened = (dump.folder / found.name).open("rb")
    except OSError:  # the dump was removed a moment ago
        raise Http404(_("No file of the data is called “%(name)s”.") % {"name": found.name}) from None
    ending = found.name.rpartition(".")[2]
    content_type = CONTENT_TYPES.get(ending, CONTENT_TYPES["txt"])
    as_attachment = ending not in ("json", "SHA256SUMS")
    return FileResponse(opened, content_type=content_type, as_attachment=as_attachment, filename=found.name)


def _withheld(*, is_newest: bool) -> HttpResponse:
    """Something in it was taken from the public since: an older dump loses it for good, the newest is replaced."""
    if not is_newest:
        return HttpResponse(_("This file held what is public no more.") + "\n", CONTENT_TYPES["txt"], status=410)
    text = _("This file holds what is public no more and is being written anew: ask again in two minutes.")
    return HttpResponse(text + "\n", CONTENT_TYPES["txt"], status=503, headers={"Retry-After": str(ASK_AGAIN_S)})


def _listed(dump: Dump, *, withheld: bool) -> tuple[ListedTable, ...]:
    known = {table.name: table for table in TABLES}
    return tuple(
        ListedTable(
            table=known[written.name],
            rows=format_number(written.rows),
            withheld=withheld and written.of_machines,
            files=tuple(_listed_file(file) for file in written.files),
        )
        for written in dump.tables
        if written.name in known
    )


def _listed_file(found: File) -> ListedFile:
    return ListedFile(
        name=found.name,
        url=reverse("opendata:file", args=[found.name]),
        form=FORMATS.get(found.form, ""),
        size=format_quantity(found.bytes, "B", digits=3).label,
        exact=f"{found.bytes:,} B",
        sha256=found.sha256,
    )
