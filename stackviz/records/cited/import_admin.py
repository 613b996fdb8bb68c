"""The admin's pages to import a table of cited results."""

from pathlib import PurePath
from typing import Any, cast

from django import forms
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from stackviz.records.catalog.import_admin import ImportsTables, UploadForm
from stackviz.records.catalog.table_imports import ImportPlan
from stackviz.records.cited.files import HEADER
from stackviz.records.cited.models import CitedImport
from stackviz.records.cited.registry import CITED_BENCHMARKS
from stackviz.records.cited.table import import_upload, plan_results

EXAMPLE = """accelerator,reported_name,count,params,value,unit,software,date,source,doubt,note
nvidia-geforce-rtx-4090,RTX 4090,1,model=Llama 2 7B; quant=Q4_0; test=tg128,189.05,token/s,llama.cpp=b5000,2025-07-01,\
llama-cpp-cuda-scoreboard-discussion-15013,,"""


class ResultsUploadForm(UploadForm):
    """A table of one benchmark's results."""

    columns = HEADER
    benchmark = forms.ChoiceField(
        required=False,
        label=gettext_lazy("Benchmark"),
        help_text=gettext_lazy("a curated file is named for its benchmark"),
        choices=lambda: [
            ("", _("as the file is named")),
            *((key, f"{key}: {benchmark.title}") for key, benchmark in CITED_BENCHMARKS.items()),
        ],
    )
    field_order = ("file", "benchmark", "reason")

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        file = self.cleaned_data.get("file")
        if file is not None and not self.cleaned_data.get("benchmark"):
            stem = PurePath(file.name or "").stem
            if stem not in CITED_BENCHMARKS:
                text = _("No cited benchmark is named %(name)r, as the file is: choose the benchmark.")
                self.add_error("benchmark", text % {"name": stem[:40]})
            self.cleaned_data["benchmark"] = stem
        return cleaned

    def about(self) -> dict[str, Any]:
        return {"benchmark": self.cleaned_data["benchmark"]}


class ImportsResults(ImportsTables):
    """The list of cited results gets an import."""

    change_list_template = "cited/results.html"
    upload_form = ResultsUploadForm
    imports = CitedImport
    import_template = "cited/import.html"
    imported_template = "cited/imported.html"
    list_title = gettext_lazy("Cited results")
    field_title = gettext_lazy("Parameters")

    def importing_user(self, request: HttpRequest) -> User:
        if not (self.has_add_permission(request) and self.has_change_permission(request)):
            raise PermissionDenied
        return cast("User", request.user)

    def plan_upload(self, upload: CitedImport) -> ImportPlan:
        return plan_results(upload)

    def confirm_upload(self, upload_id: int, *, by: User, seen: str, is_leaving_out: bool) -> str:
        counts = import_upload(upload_id, by=by, seen=seen, is_leaving_out=is_leaving_out)
        return _("Imported: %(added)d results added, %(changed)d changed.") % counts

    def confirm_text(self, plan: ImportPlan) -> str:
        n = plan.change_count
        return ngettext("Import %(n)s result", "Import %(n)s results", n) % {"n": n}

    def upload_context(self) -> dict[str, Any]:
        imports = CitedImport.objects.filter(confirmed_at__isnull=False).select_related("uploaded_by")
        return {"title": _("Import cited results"), "example": EXAMPLE, "imports": imports[:10]}

    def imported_context(self, upload: CitedImport) -> dict[str, Any]:
        return {"benchmark": CITED_BENCHMARKS.get(upload.benchmark)}
