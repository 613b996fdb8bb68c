"""The admin's completeness page: accelerators by fields, also as a file."""

from dataclasses import dataclass

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from stackviz.desk.curation.completeness import (
    COUNTED,
    STATES,
    Matrix,
    MatrixAccelerator,
    MatrixCell,
    Tally,
    read_matrix,
    remaining,
)
from stackviz.records.catalog.asked_for import most_requested
from stackviz.records.catalog.fields import GROUPS, HEADLINES, Field
from stackviz.records.catalog.models import Accelerator, Vendor
from stackviz.web.http.address import AddressReader, Note
from stackviz.web.http.download import Columns, table_file
from stackviz.web.paging import page_number, page_of

PER_PAGE = 60


@dataclass(frozen=True, slots=True)
class CompletenessQuery:
    """`fields`: "" the headline fields, "all", or a group. `state`: only accelerators with a cell in this state."""

    vendor: str = ""
    fields: str = ""
    state: str = ""
    only: str = ""
    notes: tuple[Note, ...] = ()

    @property
    def query(self) -> QueryDict:
        """The filters as parameters, empty ones left out."""
        query = QueryDict(mutable=True)
        query.update({name: value for name in ("vendor", "fields", "state", "only") if (value := getattr(self, name))})
        return query

    def chosen_fields(self) -> tuple[Field, ...]:
        if self.fields == "all":
            return COUNTED
        if self.fields:
            return tuple(field for field in COUNTED if field.group == self.fields)
        return HEADLINES


@dataclass(frozen=True, slots=True)
class MatrixCellText:
    """A cell as it is shown: a number or a sign, its state, and a description."""

    text: str
    state: str
    words: str


@dataclass(frozen=True, slots=True)
class MatrixRow:
    accelerator: Accelerator
    tally: Tally
    cells: tuple[MatrixCellText, ...]


def read_completeness_query(parameters: QueryDict) -> CompletenessQuery:
    """Read the filters. One query where a vendor is named."""
    reader = AddressReader(parameters)
    vendors = set(Vendor.objects.values_list("slug", flat=True)) if parameters.get("vendor") else set()
    return CompletenessQuery(
        vendor=reader.choice("vendor", vendors, _("vendor")),
        fields=reader.choice("fields", {"all", *(group.name for group in GROUPS)}, _("group of fields")),
        state=reader.choice("state", set(STATES), _("state")),
        only=reader.choice("only", {"asked", "hidden"}, _("selection")),
        notes=reader.notes({"vendor", "fields", "state", "only", "format", "page"}),
    )


def _accelerators(query: CompletenessQuery) -> QuerySet[Accelerator]:
    rows = Accelerator.objects.filter(is_public=query.only != "hidden").order_by("vendor__name", "name")
    if query.vendor:
        rows = rows.filter(vendor__slug=query.vendor)
    return rows.filter(slug__in=most_requested()) if query.only == "asked" else rows


def _in_state(matrix: Matrix, state: str) -> Matrix:
    if not state:
        return matrix

    def is_meant(cell: MatrixCell) -> bool:
        return cell.has_one_source if state == "one-source" else cell.state == state

    return Matrix(matrix.fields, tuple(device for device in matrix.devices if any(map(is_meant, device.cells))))


@require_safe
def completeness(request: HttpRequest) -> HttpResponse:
    """Accelerators by fields, for people of the admin who may see values. Six queries beside the admin's own."""
    if not request.user.has_perm("catalog.view_specvalue"):
        raise PermissionDenied
    query = read_completeness_query(request.GET)
    matrix = _in_state(read_matrix(_accelerators(query), query.chosen_fields(), timezone.now()), query.state)
    if request.GET.get("format") == "csv":
        return completeness_csv(matrix)
    page = page_of(matrix.devices, page_number(request), PER_PAGE)
    slugs = most_requested()
    whole = read_matrix(Accelerator.objects.filter(slug__in=slugs), HEADLINES, timezone.now()) if slugs else None
    context = {
        **admin.site.each_context(request),
        "title": _("Catalogue completeness"),
        "asked": query,
        "notes": query.notes,
        "page": page,
        "rows": [_row(device) for device in page.items],
        "fields": list(zip(matrix.fields, matrix.columns(), strict=True)),
        "total": matrix.total(),
        "sums": _sums(matrix),
        "remaining": remaining(whole, slugs) if whole else (),
        "vendors": Vendor.objects.filter(accelerators__isnull=False).distinct().order_by("name"),
        "groups": GROUPS,
        "states": STATES.items(),
    }
    return TemplateResponse(request, "curation/completeness.html", context)


def _sums(matrix: Matrix) -> list[tuple[str, str]]:
    total = matrix.total()
    return [
        (_("Accelerators"), f"{len(matrix.devices):,}"),
        (_("Public values"), f"{total.values:,}"),
        (_("Not public"), f"{total.waiting:,}"),
        (_("Fields filled"), total.share),
        (_("Missing"), f"{total.missing:,}"),
        (_("One source only"), f"{total.one_source:,}"),
        (_("Not checked for two years"), f"{total.old:,}"),
    ]


def _row(device: MatrixAccelerator) -> MatrixRow:
    return MatrixRow(device.accelerator, device.tally, tuple(_shown(cell) for cell in device.cells))


def _shown(cell: MatrixCell) -> MatrixCellText:
    state = cell.state
    words = [str(STATES[state])]
    if cell.values:
        words.append(_("%(values)d values from %(sources)d sources") % {"values": cell.values, "sources": cell.sources})
        if cell.checked:
            words.append(_("checked %(day)s") % {"day": f"{cell.checked:%Y-%m-%d}"})
        if cell.is_old and cell.has_one_source:
            words.append(str(STATES["one-source"]))
    if cell.waiting:
        words.append(_("%(n)d not public") % {"n": cell.waiting})
    signs = {"missing": "✕", "not-applicable": "–", "unreviewed": "?"}
    return MatrixCellText(signs.get(state, str(cell.values)), state, ", ".join(words))


_COLUMNS: Columns[tuple[MatrixAccelerator, MatrixCell]] = {
    "device": lambda row: row[0].accelerator.slug,
    "name": lambda row: row[0].accelerator.name,
    "vendor": lambda row: row[0].accelerator.vendor.slug,
    "field": lambda row: row[1].field,
    "state": lambda row: row[1].state,
    "values": lambda row: row[1].values,
    "sources": lambda row: row[1].sources,
    "not_public": lambda row: row[1].waiting,
    "checked": lambda row: f"{row[1].checked:%Y-%m-%d}" if row[1].checked else "",
}


def completeness_csv(matrix: Matrix) -> HttpResponse:
    """Return a line for each cell: spreadsheets pivot it, programs need not."""
    return table_file("completeness", _COLUMNS, ((device, cell) for device in matrix.devices for cell in device.cells))
