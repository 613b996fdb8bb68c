"""The admin's pages to import and export tables of values: what is its own of them."""

import io
from typing import Any

import tablib
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import ALL_VAR, ERROR_FLAG, ORDER_VAR, PAGE_VAR
from django.contrib.auth.models import User
from django.db.models import Count, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from stackviz.desk.curation import import_plan
from stackviz.desk.curation.import_plan import ValueResource
from stackviz.desk.curation.import_rows import COLUMNS
from stackviz.desk.curation.value_admin import require
from stackviz.records.catalog.import_admin import XLSX, ImportsTables, UploadForm
from stackviz.records.catalog.models import SpecValue, ValueImport
from stackviz.records.catalog.table_imports import ImportPlan
from stackviz.records.curated.rows import CONTROLS
from stackviz.web.http.download import csv_response, safe_cell

EXAMPLE = """device,field,value,unit,condition,basis,status,source,note
nvidia-h100-sxm5-80gb,bf16_tensor_tflops,989.4,TFLOPS,sparsity=dense; accumulate=fp32,published,public,\
nvidia-h100-datasheet,"""


class ValueUploadForm(UploadForm):
    """A table of values."""

    columns = COLUMNS


class BringsTables(ImportsTables):
    """The list of values gets an import and an export."""

    change_list_template = "curation/values.html"
    upload_form = ValueUploadForm
    imports = ValueImport
    import_template = "curation/import.html"
    imported_template = "curation/imported.html"
    list_title = gettext_lazy("Spec values")
    field_title = gettext_lazy("Field")

    def get_urls(self) -> list[URLPattern]:
        export = path(
            "export/<str:kind>/", self.admin_site.admin_view(self.export_view), name="catalog_specvalue_export"
        )
        return [export, *super().get_urls()]

    # --- in ---

    def importing_user(self, request: HttpRequest) -> User:
        return require(request, "propose")

    def plan_upload(self, upload: ValueImport) -> ImportPlan:
        return import_plan.plan_upload(upload)

    def confirm_upload(self, upload_id: int, *, by: User, seen: str, is_leaving_out: bool) -> str:
        done = import_plan.confirm(upload_id, by=by, seen=seen, is_leaving_out=is_leaving_out)
        return ngettext("%(n)d value proposed.", "%(n)d values proposed.", done.proposals) % {"n": done.proposals}

    def confirm_text(self, plan: ImportPlan) -> str:
        n = plan.change_count
        return ngettext("Propose %(n)s value", "Propose %(n)s values", n) % {"n": n}

    def upload_context(self) -> dict[str, Any]:
        imports = ValueImport.objects.filter(confirmed_at__isnull=False).select_related("uploaded_by")
        return {
            "title": _("Import values"),
            "example": EXAMPLE,
            "imports": imports.annotate(proposal_count=Count("proposals"))[:10],
        }

    def imported_context(self, upload: ValueImport) -> dict[str, Any]:
        counts = upload.proposals.order_by().values("state").annotate(n=Count("pk"))
        states = dict(upload.proposals.model.State.choices)
        return {
            "states": [(states[row["state"]], row["n"]) for row in counts],
            "queue": f"{reverse('admin:catalog_proposal_changelist')}?state=all&batch__id__exact={upload.pk}",
        }

    # --- out ---

    def export_view(self, request: HttpRequest, kind: str) -> HttpResponse:
        """The values of the list as it is filtered, as the import takes them."""
        if not self.has_view_permission(request) or kind not in ("csv", "xlsx"):
            raise Http404
        parameters = request.GET.copy()
        for name in (PAGE_VAR, ORDER_VAR, ALL_VAR):  # of the list's pages: the file has all of them, in its own order
            parameters.pop(name, None)
        request.GET = parameters  # type: ignore[assignment]
        try:
            values: QuerySet[SpecValue] = self.get_changelist_instance(request).get_queryset(request)
        except IncorrectLookupParameters:  # as the list answers it
            return HttpResponseRedirect(f"{reverse('admin:catalog_specvalue_changelist')}?{ERROR_FLAG}=1")
        rows = values.select_related("accelerator", "source").order_by("accelerator__slug", "field", "condition", "pk")
        table = ValueResource().export(rows)
        if kind == "csv":
            return csv_response("values", table.headers, table)
        response = HttpResponse(as_workbook(table), content_type=XLSX)
        response["Content-Disposition"] = 'attachment; filename="values.xlsx"'
        return response


def as_workbook(table: tablib.Dataset) -> bytes:
    """The table as XLSX; no cell of it is a formula."""
    safe = tablib.Dataset(headers=table.headers, title="values")
    for row in table:
        safe.append([CONTROLS.sub("", cell) if isinstance(cell := safe_cell(value), str) else cell for value in row])
    return bytes(io.BytesIO(safe.export("xlsx")).getvalue())
