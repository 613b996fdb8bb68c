"""Views of `/data/`: the list of downloads, the schema, and the files."""

from collections.abc import Mapping
from urllib.parse import urljoin

from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import get_conditional_response
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from stackviz.base.units import format_number, quantity_label
from stackviz.pages.data import stored_dumps
from stackviz.pages.data.formats import CONTENT_TYPES, FORMATS
from stackviz.pages.data.licence import SPDX, TERMS, licence_in_dataset
from stackviz.pages.data.schema import SCHEMA_VERSION, TABLES, TYPES
from stackviz.pages.data.stored_dumps import Dump, File
from stackviz.web.preview import Introduction, make_preview

RETRY_AFTER_S = 120  # the worker replaces a withdrawn dump within a minute

# To copy from the page; `address` is that of the folder of files.
CHECK_COMMAND = """curl -fsSLO {address}spec_values.csv
curl -fsSLO {address}SHA256SUMS
sha256sum --check --ignore-missing SHA256SUMS"""
LOAD_PROGRAM = """import pandas
values = pandas.read_csv("{address}spec_values.csv")
print(values.query("field == 'bf16_tensor_tflops' and condition == 'sparsity=dense' and status == 'preferred'"))"""


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    """The files of the newest dump with sizes and checksums. At most two queries."""
    dump = stored_dumps.newest()
    withheld = dump is not None and not stored_dumps.is_still_public(dump)
    answer = _(
        "All public data of this site, exported every night as JSON Lines, CSV and, where it is installed, Parquet."
    )
    introduction = Introduction(_("accelweb: all public data"), answer)
    page, folder = map(request.build_absolute_uri, (reverse("data:index"), _folder_of_files()))
    data = _dataset(introduction, page, folder, dump, withheld=withheld) if dump else ()
    context = {
        "preview": make_preview(request, introduction, reverse("data:index"), data=data),
        "dump": dump,
        "tables": _listed(dump, withheld=withheld) if dump else (),
        "others": [_listed_file(file) for file in dump.others] if dump else [],
        "older": [name for name in stored_dumps.dump_names() if dump is None or name != dump.name],
        "check_command": CHECK_COMMAND.format(address=folder),
        "load_program": LOAD_PROGRAM.format(address=folder),
        "schema_version": SCHEMA_VERSION,
        "terms": _(TERMS),
        "spdx": SPDX,
    }
    return render(request, "data/index.html", context)


def _folder_of_files() -> str:
    """Files have one address in all languages, which ends in their name."""
    return reverse("data:file", args=["-"]).removesuffix("-")


def _dataset(introduction: Introduction, page: str, folder: str, dump: Dump, *, withheld: bool) -> Mapping[str, object]:
    """The newest dump as a `Dataset` of schema.org, with the files in `folder` that can be downloaded now."""
    files = [file for file in dump.files if file.form in FORMATS and not (withheld and dump.is_of_machines(file))]
    return {
        "@context": "https://schema.org",
        "@type": "Dataset",
        "name": introduction.title,
        "description": introduction.answer,
        "url": page,
        "version": dump.name,
        "dateModified": dump.created_at,
        "creator": {"@type": "Organization", "name": "accelweb", "url": urljoin(page, "/")},
        "license": licence_in_dataset(page),
        "isAccessibleForFree": True,
        "distribution": [
            {
                "@type": "DataDownload",
                "name": file.name,
                "encodingFormat": CONTENT_TYPES[file.form].partition(";")[0],
                "contentUrl": folder + file.name,
                "contentSize": f"{file.bytes} B",
                "sha256": file.sha256,
            }
            for file in files
        ],
    }


@require_safe
def data_schema(request: HttpRequest) -> HttpResponse:
    """The tables with their columns. No query."""
    context = {"tables": TABLES, "types": TYPES, "formats": FORMATS, "schema_version": SCHEMA_VERSION}
    return render(request, "data/schema.html", context)


@require_safe
def file(request: HttpRequest, name: str, dump_name: str = "") -> HttpResponseBase:
    """One file of the newest or the given dump, streamed, with its checksum as ETag. At most one query."""
    dump = stored_dumps.dump_named(dump_name) if dump_name else stored_dumps.newest()
    stored = dump.file(name) if dump else None
    if dump is None or stored is None:
        raise Http404(_("There is no data file “%(name)s”.") % {"name": name})
    if dump.is_of_machines(stored) and not stored_dumps.is_still_public(dump):
        return _withheld(is_newest=not dump_name)
    tag = f'"{stored.sha256}"'
    unchanged = get_conditional_response(request, etag=tag)
    response = unchanged if unchanged is not None else _streamed(dump, stored)
    response.headers["ETag"] = tag
    response.headers["Cache-Control"] = "public, no-cache"
    return response


def _streamed(dump: Dump, stored: File) -> FileResponse:
    try:
        opened = (dump.folder / stored.name).open("rb")
    except OSError:  # the dump was removed a moment ago
        raise Http404(_("There is no data file “%(name)s”.") % {"name": stored.name}) from None
    ending = stored.name.rpartition(".")[2]
    content_type = CONTENT_TYPES.get(ending, CONTENT_TYPES["txt"])
    as_attachment = ending not in ("json", "SHA256SUMS")
    return FileResponse(opened, content_type=content_type, as_attachment=as_attachment, filename=stored.name)


def _withheld(*, is_newest: bool) -> HttpResponse:
    """410 for a file of an older dump, which is gone for good; 503 for the newest, which is being rebuilt."""
    if not is_newest:
        return HttpResponse(
            _("This file was withdrawn: it contained data that is no longer public.") + "\n",
            CONTENT_TYPES["txt"],
            status=410,
        )
    text = _("This file is being rebuilt because it contains data that is no longer public. Try again in two minutes.")
    return HttpResponse(text + "\n", CONTENT_TYPES["txt"], status=503, headers={"Retry-After": str(RETRY_AFTER_S)})


def _listed(dump: Dump, *, withheld: bool) -> list[dict[str, object]]:
    """Return each table with its files. `withheld`: it contains data that is no longer public and is being rebuilt."""
    known = {table.name: table for table in TABLES}
    return [
        {
            "table": known[written.name],
            "rows": format_number(written.rows),
            "withheld": withheld and written.of_machines,
            "files": [_listed_file(file) for file in written.files],
        }
        for written in dump.tables
        if written.name in known
    ]


def _listed_file(stored: File) -> dict[str, str]:
    """`size` is rounded, with its unit, `exact` in bytes."""
    return {
        "name": stored.name,
        "url": reverse("data:file", args=[stored.name]),
        "form": FORMATS.get(stored.form, ""),
        "size": quantity_label(stored.bytes, "B", digits=3),
        "exact": f"{stored.bytes:,} B",
        "sha256": stored.sha256,
    }
