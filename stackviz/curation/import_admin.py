"""The admin's pages to import and export tables of values: upload, preview, confirm, export."""

import io
from typing import TYPE_CHECKING, Any

import tablib
from django import forms
from django.contrib import admin, messages
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import ALL_VAR, ERROR_FLAG, ORDER_VAR, PAGE_VAR
from django.core.files.uploadedfile import UploadedFile
from django.core.paginator import Paginator
from django.db.models import Count, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.defaultfilters import filesizeformat
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from stackviz.catalog.curated import CONTROLS, is_readable
from stackviz.catalog.models import SpecValue, ValueImport
from stackviz.curation import value_imports
from stackviz.curation.import_file import COLUMNS, MOST_BYTES, MOST_ROWS, TableError, read_table
from stackviz.curation.import_plan import KINDS, ImportPlan, ValueResource
from stackviz.curation.value_admin import require, user_of
from stackviz.units import format_number
from stackviz.web.download import csv_response, safe_cell

if TYPE_CHECKING:  # Django's classes take type arguments only from its stubs
    _Mixin = admin.ModelAdmin[Any]
else:
    _Mixin = object

ROWS_A_PAGE = 100
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


EXAMPLE = """device,field,value,unit,condition,basis,status,source,note
nvidia-h100-sxm5-80gb,bf16_tensor_tflops,989.4,TFLOPS,sparsity=dense; accumulate=fp32,published,public,\
nvidia-h100-datasheet,"""


class UploadForm(forms.Form):
    """A table and the reason for its proposals."""

    file = forms.FileField(
        label=gettext_lazy("Table"),
        help_text=gettext_lazy("CSV or XLSX with the columns of the curated files"),
        widget=forms.ClearableFileInput(attrs={"accept": f".csv,.xlsx,text/csv,{XLSX}"}),
    )
    reason = forms.CharField(
        max_length=300,
        validators=[is_readable],
        label=gettext_lazy("Reason"),
        help_text=gettext_lazy("stored in the history of every value and shown publicly"),
        widget=forms.TextInput(attrs={"size": 60}),
    )

    def clean_file(self) -> "UploadedFile[Any]":
        file: UploadedFile[Any] = self.cleaned_data["file"]
        size = file.size or 0
        if size > MOST_BYTES:
            sizes = {"size": filesizeformat(size), "most": filesizeformat(MOST_BYTES)}
            raise forms.ValidationError(_("The file is %(size)s; the limit is %(most)s. Split it.") % sizes)
        try:
            self.cleaned_data["table"] = read_table(file.read())
        except TableError as error:
            raise forms.ValidationError(str(error)) from error
        return file


class BringsTables(_Mixin):
    """The list of values gets an import and an export."""

    change_list_template = "curation/values.html"

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        return [
            path("import/", view(self.upload_view), name="catalog_specvalue_import"),
            path("import/<int:upload_id>/", view(self.preview_view), name="catalog_specvalue_preview"),
            path("export/<str:kind>/", view(self.export_view), name="catalog_specvalue_export"),
            *super().get_urls(),
        ]

    # --- in ---

    def upload_view(self, request: HttpRequest) -> HttpResponse:
        """Read and store a file, then show the preview."""
        user = require(request, "propose")
        form = UploadForm(request.POST or None, request.FILES or None)
        if request.method == "POST" and form.is_valid():
            table = form.cleaned_data["table"]
            name = CONTROLS.sub("", form.cleaned_data["file"].name or "") or _("a table")
            upload = value_imports.keep(table, file_name=name, reason=form.cleaned_data["reason"], by=user)
            for note in table.notes:
                self.message_user(request, note, messages.WARNING)
            return HttpResponseRedirect(preview_url(upload))
        imports = ValueImport.objects.filter(confirmed_at__isnull=False).select_related("uploaded_by")
        context = {
            "title": _("Import values"),
            "form": form,
            "columns": COLUMNS,
            "example": EXAMPLE,
            "most_rows": format_number(MOST_ROWS),
            "most_bytes": filesizeformat(MOST_BYTES),
            "imports": imports.annotate(proposal_count=Count("proposals"))[:10],
        }
        return self._page(request, "curation/import.html", context)

    def preview_view(self, request: HttpRequest, upload_id: int) -> HttpResponse:
        """Show what the table would change; confirming turns its rows into proposals."""
        user = require(request, "propose")
        upload = get_object_or_404(ValueImport.objects.select_related("uploaded_by"), pk=upload_id)
        if upload.confirmed_at:
            return self._brought(request, upload)
        if upload.uploaded_by_id != user.pk:
            raise Http404
        if request.method == "POST":
            answer = self._confirm(request, upload)
            if answer:
                return answer
        return self._preview(request, upload, value_imports.plan_upload(upload))

    def _confirm(self, request: HttpRequest, upload: ValueImport) -> HttpResponse | None:
        try:
            done = value_imports.confirm(
                upload.pk,
                by=user_of(request),
                seen=request.POST.get("seen", ""),
                is_leaving_out="leave_out" in request.POST,
            )
        except value_imports.Unconfirmed as error:
            self.message_user(request, str(error), messages.ERROR)
            return None
        text = ngettext("%(n)d value proposed.", "%(n)d values proposed.", done.proposals) % {"n": done.proposals}
        self.message_user(request, text, messages.SUCCESS)
        return HttpResponseRedirect(preview_url(upload))

    def _preview(self, request: HttpRequest, upload: ValueImport, plan: ImportPlan) -> HttpResponse:
        kind_filter = request.GET.get("show", "")
        rows = plan.of(kind_filter) if kind_filter in KINDS else plan.rows
        titles = {"new": _("New"), "changed": _("Changed"), "same": _("The same"), "refused": _("Refused")}
        counts = plan.counts
        context = {
            "title": _("Import preview"),
            "upload": upload,
            "plan": plan,
            "page": Paginator(rows, ROWS_A_PAGE).get_page(request.GET.get("page")),
            "show": kind_filter if kind_filter in KINDS else "",
            "tabs": [(kind, titles[kind], counts[kind]) for kind in KINDS],
            "kind_titles": titles,
            "refused": counts["refused"],
        }
        return self._page(request, "curation/preview.html", context)

    def _brought(self, request: HttpRequest, upload: ValueImport) -> HttpResponse:
        counts = upload.proposals.order_by().values("state").annotate(n=Count("pk"))
        states = dict(upload.proposals.model.State.choices)
        context = {
            "title": _("Imported table"),
            "upload": upload,
            "states": [(states[row["state"]], row["n"]) for row in counts],
            "queue": f"{reverse('admin:catalog_proposal_changelist')}?state=all&batch__id__exact={upload.pk}",
        }
        return self._page(request, "curation/imported.html", context)

    def _page(self, request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
        base = {**self.admin_site.each_context(request), "opts": self.opts}
        return TemplateResponse(request, template, {**base, **context})

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


def preview_url(upload: ValueImport) -> str:
    return reverse("admin:catalog_specvalue_preview", args=[upload.pk])


def as_workbook(table: tablib.Dataset) -> bytes:
    """The table as XLSX; no cell of it is a formula."""
    safe = tablib.Dataset(headers=table.headers, title="values")
    for row in table:
        safe.append([CONTROLS.sub("", cell) if isinstance(cell := safe_cell(value), str) else cell for value in row])
    return bytes(io.BytesIO(safe.export("xlsx")).getvalue())
