"""Readers' corrections at the desk: what is said, the value it is about, the answer."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from stackviz.desk.curation.models import ReaderCorrection
from stackviz.desk.curation.reader_corrections import decide_correction
from stackviz.desk.curation.value_admin import user_of
from stackviz.records.catalog.models import SpecValue

if TYPE_CHECKING:  # Django's classes take type arguments only from its stubs
    _ModelAdmin = admin.ModelAdmin[ReaderCorrection]
    _ModelForm = forms.ModelForm[ReaderCorrection]
else:
    _ModelAdmin, _ModelForm = admin.ModelAdmin, forms.ModelForm


class CorrectionForm(_ModelForm):
    """A decision needs an answer: the reader, and where it is accepted everybody, reads it."""

    def clean(self) -> dict[str, Any]:
        answer = super().clean() or self.cleaned_data
        if answer.get("state") != ReaderCorrection.State.WAITING and not answer.get("answer"):
            self.add_error("answer", _("Say what was found: the reader sees it."))
        return answer


class ReaderCorrectionAdmin(_ModelAdmin):
    """Decided by people who propose or approve values; nobody adds or deletes one."""

    form = CorrectionForm
    list_display = ("reported_at", "accelerator", "field", "wrong", "right", "state")
    list_filter = ("state",)
    list_select_related = ("accelerator",)
    list_per_page = 50
    fields = (
        "accelerator", "field", "condition", "shown", "wrong", "right", "source_url", "name", "contact", "reported_at",
        "values", "state", "answer", "decided_by", "decided_at",
    )  # fmt: skip
    readonly_fields = tuple(name for name in fields if name not in ("state", "answer"))

    @admin.display(description=gettext_lazy("value"))
    def values(self, row: ReaderCorrection) -> str:
        """A link to the values of the cell, where a change is proposed."""
        value = SpecValue.objects.filter(
            accelerator=row.accelerator_id, field=row.field, condition=row.condition, is_preferred=True
        ).first()
        if value is None:
            address = reverse("admin:catalog_accelerator_change", args=[row.accelerator_id])
        else:
            address = reverse("admin:catalog_specvalue_change", args=[value.pk])
        return format_html('<a href="{}">{}</a>', address, _("propose a change"))

    def save_model(self, request: HttpRequest, obj: ReaderCorrection, form: Any, change: bool) -> None:  # noqa: ANN401, ARG002, FBT001
        decide_correction(obj, by=user_of(request))

    def _may(self, request: HttpRequest) -> bool:
        return request.user.has_perm("catalog.propose") or request.user.has_perm("catalog.approve")

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self._may(request)

    def has_view_permission(self, request: HttpRequest, obj: ReaderCorrection | None = None) -> bool:  # noqa: ARG002
        return self._may(request)

    def has_change_permission(self, request: HttpRequest, obj: ReaderCorrection | None = None) -> bool:  # noqa: ARG002
        return self._may(request)

    def has_add_permission(self, request: HttpRequest) -> bool:  # noqa: ARG002
        return False

    def has_delete_permission(self, request: HttpRequest, obj: ReaderCorrection | None = None) -> bool:  # noqa: ARG002
        return False
