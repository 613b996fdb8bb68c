"""The queue of proposed changes, and what feeds and links answered last."""

from typing import Any, cast

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from stackviz.desk.freshness.decide_changes import CannotApply, apply_change, decline_change
from stackviz.desk.freshness.models import FeedCheck, LinkCheck, ProposedChange
from stackviz.web.readonly_admin import ShownOnlyAdmin


class ChangeDecisionForm(forms.ModelForm[ProposedChange]):
    """A decision; declining needs a reason, because the same difference never comes again."""

    def clean(self) -> dict[str, Any]:
        decision = super().clean() or self.cleaned_data
        if decision.get("state") == ProposedChange.State.DECLINED and not (decision.get("answer") or "").strip():
            self.add_error("answer", _("Say why it is declined."))
        return decision


@admin.register(ProposedChange)
class ProposedChangeAdmin(admin.ModelAdmin[ProposedChange]):
    """Decided by people who approve values, seen by those who propose them; nobody adds or deletes one."""

    form = ChangeDecisionForm
    list_display = ("proposed_at", "kind", "what", "released", "support_ends", "before", "doubt", "feed", "state")
    list_display_links = ("what",)
    list_filter = ("state", "kind", "feed")
    search_fields = ("component", "version", "url")
    list_per_page = 50
    actions = ("apply_selected",)
    fields = (
        "kind", "feed", "component", "version", "variant", "released", "support_ends", "url", "before", "doubt",
        "new_url", "state", "answer", "proposed_at", "decided_by", "decided_at",
    )  # fmt: skip

    @admin.display(description=_("what"))
    def what(self, change: ProposedChange) -> str:
        return str(change)

    def get_readonly_fields(self, request: HttpRequest, obj: ProposedChange | None = None) -> tuple[str, ...]:
        """What is decided stays as it is; of a waiting one the decision, and of a link the new address, are open.

        The state is read again: a form with an error has put its own into `obj`.
        """
        waiting = ProposedChange.objects.filter(state=ProposedChange.State.WAITING)
        is_open = obj is not None and self._may_decide(request) and waiting.filter(pk=obj.pk).exists()
        is_link = obj is not None and obj.kind in ProposedChange.OF_LINKS
        editable = (("state", "answer", "new_url") if is_link else ("state", "answer")) if is_open else ()
        return tuple(name for name in self.fields if name not in editable)

    def changeform_view(self, request: HttpRequest, *arguments: Any, **named: Any) -> HttpResponse:  # noqa: ANN401
        """As Django's; a change that cannot be applied is explained and stays open."""
        try:
            return super().changeform_view(request, *arguments, **named)
        except CannotApply as problem:
            messages.error(request, str(problem))
            return HttpResponseRedirect(request.path)

    def save_model(self, request: HttpRequest, obj: ProposedChange, form: Any, change: bool) -> None:  # noqa: ANN401, ARG002, FBT001
        user = cast("User", request.user)
        if obj.state == ProposedChange.State.APPLIED:
            apply_change(obj, user, obj.answer)
        elif obj.state == ProposedChange.State.DECLINED:
            decline_change(obj, user, obj.answer)
        else:
            ProposedChange.objects.filter(pk=obj.pk, state=obj.state).update(answer=obj.answer, new_url=obj.new_url)

    @admin.action(description=_("Apply those without a doubt"), permissions=["change"])
    def apply_selected(self, request: HttpRequest, rows: QuerySet[ProposedChange]) -> None:
        waiting = rows.filter(state=ProposedChange.State.WAITING, doubt="").exclude(kind__in=ProposedChange.OF_LINKS)
        applied = 0
        for row in waiting:
            try:
                apply_change(row, cast("User", request.user))
                applied += 1
            except CannotApply as problem:
                messages.error(request, f"{row}: {problem}")
        messages.info(request, ngettext("%(n)d change applied", "%(n)d changes applied", applied) % {"n": applied})

    def _may_decide(self, request: HttpRequest) -> bool:
        return request.user.has_perm("catalog.approve")

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def has_view_permission(self, request: HttpRequest, obj: ProposedChange | None = None) -> bool:  # noqa: ARG002
        return request.user.has_perm("catalog.propose") or self._may_decide(request)

    def has_change_permission(self, request: HttpRequest, obj: ProposedChange | None = None) -> bool:  # noqa: ARG002
        return self._may_decide(request)

    def has_add_permission(self, request: HttpRequest) -> bool:  # noqa: ARG002
        return False

    def has_delete_permission(self, request: HttpRequest, obj: ProposedChange | None = None) -> bool:  # noqa: ARG002
        return False


@admin.register(FeedCheck)
class FeedCheckAdmin(ShownOnlyAdmin):
    list_display = ("feed", "outcome", "newest", "releases", "checked_at", "answered_at", "problem")
    list_filter = ("outcome",)


@admin.register(LinkCheck)
class LinkCheckAdmin(ShownOnlyAdmin):
    list_display = ("url", "outcome", "status", "failing_since", "checked_at", "problem")
    list_filter = ("outcome",)
    search_fields = ("url",)
    list_per_page = 100
