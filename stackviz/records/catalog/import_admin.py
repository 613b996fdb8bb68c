"""Pages of an admin that import tables: upload, preview, confirm. What the rows mean is its own."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.core.files.uploadedfile import UploadedFile
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.defaultfilters import filesizeformat
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from stackviz.base.units import format_number
from stackviz.records.catalog.models import TableImport
from stackviz.records.catalog.table_imports import KINDS, REFUSED, ImportPlan, Unconfirmed, store_import
from stackviz.records.curated.rows import CONTROLS, is_readable
from stackviz.web.table_file import MOST_BYTES, MOST_ROWS, TableError, read_table

if TYPE_CHECKING:  # Django's classes take type arguments only from its stubs
    _Mixin = admin.ModelAdmin[Any]
else:
    _Mixin = object

ROWS_A_PAGE = 100
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


class UploadForm(forms.Form):
    """A table and the reason for its changes."""

    columns: ClassVar[Sequence[str]] = ()
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
            self.cleaned_data["table"] = read_table(file.read(), self.columns)
        except TableError as error:
            raise forms.ValidationError(str(error)) from error
        return file

    def about(self) -> dict[str, Any]:
        """What else is stored with the table."""
        return {}


class ImportsTables(_Mixin):
    """The list of a model gets an import. Its templates: `import_template`, `imported_template`."""

    upload_form: type[UploadForm]
    imports: type[TableImport]
    import_template: str
    imported_template: str
    list_title: str | Promise
    field_title: str | Promise  # what `PlannedRow.field` is

    def importing_user(self, request: HttpRequest) -> User:
        """Who may import. Raises PermissionDenied."""
        raise NotImplementedError

    def plan_upload(self, upload: Any) -> ImportPlan:  # noqa: ANN401 - one of `imports`
        """What the table would change now; writes nothing."""
        raise NotImplementedError

    def confirm_upload(self, upload_id: int, *, by: User, seen: str, is_leaving_out: bool) -> str:
        """Change what the plan says -> what was done, in words. Raises Unconfirmed, having written nothing."""
        raise NotImplementedError

    def upload_context(self) -> dict[str, Any]:
        """Of the page with the form."""
        return {}

    def confirm_text(self, plan: ImportPlan) -> str:
        """The button's."""
        raise NotImplementedError

    def imported_context(self, upload: Any) -> dict[str, Any]:  # noqa: ANN401
        """Of the page of a confirmed import."""
        raise NotImplementedError

    # --- pages ---

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        return [
            path("import/", view(self.upload_view), name=self._page_name("import")),
            path("import/<int:upload_id>/", view(self.preview_view), name=self._page_name("preview")),
            *super().get_urls(),
        ]

    def upload_view(self, request: HttpRequest) -> HttpResponse:
        """Read and store a file, then show the preview."""
        user = self.importing_user(request)
        form = self.upload_form(request.POST or None, request.FILES or None)
        if request.method == "POST" and form.is_valid():
            table = form.cleaned_data["table"]
            name = CONTROLS.sub("", form.cleaned_data["file"].name or "") or _("a table")
            reason = form.cleaned_data["reason"]
            upload = store_import(self.imports, table, file_name=name, reason=reason, by=user, **form.about())
            for note in table.notes:
                self.message_user(request, note, messages.WARNING)
            return HttpResponseRedirect(self._preview_url(upload))
        context = {
            "form": form,
            "columns": form.columns,
            "most_rows": format_number(MOST_ROWS),
            "most_bytes": filesizeformat(MOST_BYTES),
        }
        return self._page(request, self.import_template, context | self.upload_context())

    def preview_view(self, request: HttpRequest, upload_id: int) -> HttpResponse:
        """Show what the table would change; confirming changes it."""
        user = self.importing_user(request)
        rows = self.imports._default_manager.select_related("uploaded_by")  # noqa: SLF001
        upload = get_object_or_404(rows, pk=upload_id)
        if upload.confirmed_at:
            context = {"title": _("Imported table"), "upload": upload, **self.imported_context(upload)}
            return self._page(request, self.imported_template, context)
        if upload.uploaded_by_id != user.pk:
            raise Http404
        if request.method == "POST" and self._confirm(request, upload, user):
            return HttpResponseRedirect(self._preview_url(upload))
        return self._preview(request, upload, self.plan_upload(upload))

    def _confirm(self, request: HttpRequest, upload: TableImport, user: User) -> bool:
        """Whether the table was imported; a message says what was done, or why not."""
        seen, is_leaving_out = request.POST.get("seen", ""), "leave_out" in request.POST
        try:
            done = self.confirm_upload(upload.pk, by=user, seen=seen, is_leaving_out=is_leaving_out)
        except Unconfirmed as error:
            self.message_user(request, str(error), messages.ERROR)
            return False
        self.message_user(request, done, messages.SUCCESS)
        return True

    def _preview(self, request: HttpRequest, upload: TableImport, plan: ImportPlan) -> HttpResponse:
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
            "refused": counts[REFUSED],
            "confirm_text": self.confirm_text(plan),
        }
        return self._page(request, "imports/import_preview.html", context)

    def _page(self, request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
        base = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "list_title": self.list_title,
            "list_url": reverse(f"admin:{self._page_name('changelist')}"),
            "upload_title": _("Import a table"),
            "upload_url": reverse(f"admin:{self._page_name('import')}"),
            "field_title": self.field_title,
        }
        return TemplateResponse(request, template, {**base, **context})

    def _page_name(self, page: str) -> str:
        return f"{self.opts.app_label}_{self.opts.model_name}_{page}"

    def _preview_url(self, upload: TableImport) -> str:
        return reverse(f"admin:{self._page_name('preview')}", args=[upload.pk])
