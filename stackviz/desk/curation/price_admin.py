"""Curation of dated prices: one person enters a price with its source, a second one makes it public or retires it."""

from datetime import UTC, datetime
from typing import Any, cast

from django import forms
from django.contrib import admin, messages
from django.contrib.admin import helpers
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from stackviz.records.catalog.curated_admin import HistoryAdmin, OriginFilter, WhyForm
from stackviz.records.catalog.models import Price
from stackviz.records.prices.decide_prices import PriceDecision, approve_prices, retire_prices


class PriceForm(forms.ModelForm[Price]):
    reason = forms.CharField(max_length=300, label=gettext_lazy("Reason"))

    class Meta:
        model = Price
        fields = (
            "accelerator", "kind", "amount", "currency", "cards", "day", "is_month", "seller", "offer", "source",
            "note",
        )  # fmt: skip


class PriceDecisionForm(WhyForm):
    """With the moment at which the list was shown: a price that was changed later is not decided by it."""

    seen_at = forms.CharField(
        required=False, label="", widget=forms.HiddenInput, initial=lambda: timezone.now().isoformat()
    )


class PriceAdmin(HistoryAdmin):
    """A price in review can be changed; a public one cannot: it is retired, and the right one entered."""

    form = PriceForm
    action_form: type[helpers.ActionForm] = PriceDecisionForm
    list_display = ["accelerator", "kind", "label", "cards", "day_words", "seller", "status", "is_preferred", "source"]
    list_filter = ["kind", "status", "currency", OriginFilter]
    list_select_related = ["accelerator", "source"]
    search_fields = ["accelerator__name", "accelerator__slug", "seller", "offer", "source__title"]
    autocomplete_fields = ["accelerator", "source"]
    date_hierarchy = "day"
    actions = ["approve", "retire"]

    def has_change_permission(self, request: HttpRequest, obj: Price | None = None) -> bool:
        is_open = obj is None or obj.status == Price.Status.REVIEW
        return is_open and bool(super().has_change_permission(request, obj))

    def has_delete_permission(self, request: HttpRequest, obj: Price | None = None) -> bool:
        is_open = obj is not None and obj.status == Price.Status.REVIEW
        return is_open and bool(super().has_delete_permission(request, obj))

    def has_approve_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("catalog.approve")

    def save_model(self, request: HttpRequest, obj: Price, form: Any, change: bool) -> None:  # noqa: ANN401, FBT001
        """Whoever saved it last has proposed it; nothing is public before somebody else has looked."""
        obj.status, obj.is_preferred = Price.Status.REVIEW, False
        obj.proposed_by_id, obj.checked_by, obj.checked_at = request.user.pk, None, None
        obj.set_change_reason(form.cleaned_data.get("reason", "") if hasattr(form, "cleaned_data") else "")
        super().save_model(request, obj, form, change)

    @admin.action(description=gettext_lazy("Approve: make prices public"), permissions=["approve"])
    def approve(self, request: HttpRequest, queryset: QuerySet[Price]) -> None:
        """Prices in review that somebody else has entered; the first of its seller and day is preferred."""
        chosen = queryset.count()
        self._report(request, approve_prices(queryset, _decision(request)), chosen)

    @admin.action(description=gettext_lazy("Retire: withdraw wrong prices"), permissions=["approve"])
    def retire(self, request: HttpRequest, queryset: QuerySet[Price]) -> None:
        """Public prices, with a reason; they stay, so that nobody enters them again."""
        if not _why(request):
            self.message_user(request, _("Say why: the reason is missing."), messages.ERROR)
            return
        chosen = queryset.count()
        self._report(request, retire_prices(queryset, _decision(request)), chosen)

    def _report(self, request: HttpRequest, done: int, chosen: int) -> None:
        self.message_user(request, ngettext("%(n)d price decided.", "%(n)d prices decided.", done) % {"n": done})
        if done < chosen:
            words = _("%(n)d left: in another state, entered by you, or changed since the list was shown.")
            self.message_user(request, words % {"n": chosen - done}, messages.WARNING)


def _why(request: HttpRequest) -> str:
    return request.POST.get("why", "").strip()


def _decision(request: HttpRequest) -> PriceDecision:
    """Without a readable moment nothing counts as seen."""
    try:
        seen_at = datetime.fromisoformat(request.POST.get("seen_at", ""))
    except ValueError:
        seen_at = None
    if seen_at is None or seen_at.tzinfo is None:
        seen_at = datetime.min.replace(tzinfo=UTC)
    return PriceDecision(cast("User", request.user), _why(request), seen_at)  # the admin lets nobody else in
