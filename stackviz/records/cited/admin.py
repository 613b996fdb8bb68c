"""Admin of cited results: list, filter, correct, withdraw, accept and delete with a reason, import tables of them.

Rows of the curated files that are changed here keep their changes when the files are loaded again.
"""

from typing import TYPE_CHECKING, Any, cast

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.actions import delete_selected
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from stackviz.records.catalog.curated_admin import FileLoadAdmin, HistoryAdmin, OriginFilter, WhyForm
from stackviz.records.cited.host_admin import HostAdmin
from stackviz.records.cited.host_proposal_admin import HostProposalAdmin
from stackviz.records.cited.import_admin import ImportsResults
from stackviz.records.cited.models import CitedLoad, CitedResult, CitedSource, HostProposal
from stackviz.records.cited.registry import CITED_BENCHMARKS
from stackviz.records.cited.write import delete_results, update_results
from stackviz.records.curated.rows import CONTROLS
from stackviz.records.hosts.models import Host

MOST_NAMED = 20  # results that an action left, named one by one
MOST_CHANGED = 20_000  # about 15 s
MOST_DELETED = 500  # Django's confirmation lists each, and a form has at most 1,000 fields

if TYPE_CHECKING:  # Django's classes take type arguments only from its stubs
    _SourceAdmin = admin.ModelAdmin[CitedSource]
    _ResultForm = forms.ModelForm[CitedResult]
else:
    _SourceAdmin = admin.ModelAdmin
    _ResultForm = forms.ModelForm


class CitedResultForm(_ResultForm):
    """A cited result, and why it changes."""

    benchmark = forms.ChoiceField(label=_("benchmark"))
    why = forms.CharField(
        max_length=300, label=_("reason of this change"), help_text=_("stored in the history, shown publicly")
    )

    class Meta:
        model = CitedResult
        fields = "__all__"

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - as Django's
        super().__init__(*args, **kwargs)
        if "benchmark" in self.fields:
            choices = [(key, item.title) for key, item in CITED_BENCHMARKS.items()]
            self.fields["benchmark"].choices = choices  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        self.instance.set_change_reason(self.cleaned_data.get("why", ""))
        return cleaned


@admin.register(CitedResult)
class CitedResultAdmin(ImportsResults, HistoryAdmin):
    form = CitedResultForm
    action_form = WhyForm
    actions = ["withdraw", "accept", "delete_selected"]
    list_display = ["benchmark", "shown_name", "settings", "figure", "count", "date", "state", "source_link"]
    list_filter = ["state", "source__kind", OriginFilter, "benchmark"]
    list_select_related = ["accelerator", "source", "host"]
    search_fields = ["reported_name", "accelerator__name", "accelerator__slug", "source__title", "note", "reason"]
    autocomplete_fields = ["accelerator", "source"]
    readonly_fields = ["amount", "params_key", "host", "data_key", "changed_at"]
    fields = [
        "benchmark", "accelerator", ("reported_name", "count"), "host", "params", ("value", "unit", "amount"),
        "software", "date", "source", "note", ("state", "reason"), "why", ("data_key", "params_key", "changed_at"),
    ]  # fmt: skip
    list_per_page = 50
    show_full_result_count = False

    @admin.display(description=_("accelerator"))
    def shown_name(self, result: CitedResult) -> str:
        return result.accelerator.name if result.accelerator is not None else result.reported_name

    @admin.display(description=_("parameters"))
    def settings(self, result: CitedResult) -> str:
        return ", ".join(f"{name}={value}" for name, value in result.params.items())[:120]

    @admin.display(description=_("value"), ordering="amount")
    def figure(self, result: CitedResult) -> str:
        return f"{result.value} {result.unit}"

    @admin.display(description=_("source"))
    def source_link(self, result: CitedResult) -> SafeString:
        return format_html('<a href="{}" rel="noopener">{}</a>', result.source.url, result.source.title[:60])

    @admin.action(description=_("Withdraw: take out of every chart, with the reason"))
    def withdraw(self, request: HttpRequest, rows: QuerySet[CitedResult]) -> None:
        self._change_state(request, rows, CitedResult.State.WITHDRAWN)

    @admin.action(description=_("Accept: show in charts, with the reason"))
    def accept(self, request: HttpRequest, rows: QuerySet[CitedResult]) -> None:
        self._change_state(request, rows, CitedResult.State.PUBLIC)

    def _change_state(self, request: HttpRequest, rows: QuerySet[CitedResult], state: CitedResult.State) -> None:
        """Change all that may be in the state, with their history; the others are named and left."""
        why = CONTROLS.sub("", request.POST.get("why", "")).strip()
        if not why:
            problem = gettext("Give a reason. It is stored in the history and shown publicly.")
            self.message_user(request, problem, messages.ERROR)
            return
        if _are_more_than(MOST_CHANGED, rows):
            text = gettext("At most %(n)s results can be changed at once: filter the list.")
            self.message_user(request, text % {"n": f"{MOST_CHANGED:,}"}, messages.ERROR)
            return
        changed, left = [], []
        for row in rows.select_related("accelerator", "host"):
            row.state, row.reason = state, why
            try:
                row.clean()
            except ValidationError as error:
                left.append(f"{row}: {' '.join(error.messages)}")
            else:
                changed.append(row)
        update_results(changed, ["state", "reason"], by=cast("User", request.user), reason=why)
        for problem in left[:MOST_NAMED]:
            self.message_user(request, problem, messages.WARNING)
        if len(left) > MOST_NAMED:
            more = gettext("%(n)d more were left as they are.") % {"n": len(left) - MOST_NAMED}
            self.message_user(request, more, messages.WARNING)
        text = ngettext("%(n)d result changed.", "%(n)d results changed.", len(changed)) % {"n": len(changed)}
        self.message_user(request, text, messages.SUCCESS if changed else messages.WARNING)

    @admin.action(description=_("Delete selected cited results"), permissions=["delete"])
    def delete_selected(self, request: HttpRequest, queryset: QuerySet[CitedResult]) -> HttpResponse | None:
        """Django's own, for as many as its page of confirmation can list."""
        if _are_more_than(MOST_DELETED, queryset):
            text = gettext(
                "At most %(n)d results can be deleted at once. Withdraw them instead: they leave every chart "
                "and their pages say why."
            )
            self.message_user(request, text % {"n": MOST_DELETED}, messages.ERROR)
            return None
        return delete_selected(self, request, queryset)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[CitedResult]) -> None:
        delete_results(list(queryset), by=cast("User", request.user), reason=gettext("Deleted in the admin"))


def _are_more_than(most: int, rows: QuerySet[CitedResult]) -> bool:
    return len(rows.order_by().values_list("pk")[: most + 1]) > most


@admin.register(CitedSource)
class CitedSourceAdmin(_SourceAdmin):
    list_display = ["title", "key", "kind", "licence", "url"]
    list_filter = ["kind", OriginFilter]
    search_fields = ["title", "key", "url"]
    readonly_fields = ["data_key", "changed_at"]


admin.site.register(CitedLoad, FileLoadAdmin)
admin.site.register(Host, HostAdmin)
admin.site.register(HostProposal, HostProposalAdmin)
