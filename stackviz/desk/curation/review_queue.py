"""The review queue: proposals with old and new values; approve, reject, withdraw."""

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin import helpers
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_POST

from stackviz.desk.curation import decide_proposals
from stackviz.desk.curation.differences import (
    differences,
    field_title,
    formula_problem,
    snapshot,
    unchanged_source_question,
    wanted,
)
from stackviz.desk.curation.value_admin import proposal_url, user_of
from stackviz.desk.curation.value_list import AcceleratorFilter
from stackviz.records.catalog.by_formula import published_by
from stackviz.records.catalog.fields import FIELDS
from stackviz.records.catalog.figures import for_people
from stackviz.records.catalog.models import Proposal, SpecValue
from stackviz.records.catalog.table_imports import Difference
from stackviz.web.readonly_admin import ShownOnlyAdmin

State = Proposal.State
MOST_AT_ONCE = 500  # each is a transaction of its own, and whoever chose them waits


class AnswerForm(helpers.ActionForm):
    """A rejection says why; one answer for all that are chosen."""

    answer = forms.CharField(max_length=300, required=False, label=gettext_lazy("Answer:"))


class StateFilter(admin.SimpleListFilter):
    """What waits for review, unless another state or all is asked for."""

    title = gettext_lazy("state")
    parameter_name = "state"
    ALL = "all"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:  # noqa: ANN401, ARG002
        others = [(str(state), state.label) for state in State if state != State.REVIEW]
        return [(str(State.REVIEW), State.REVIEW.label), *others, (self.ALL, _("all"))]

    def choices(self, changelist: Any) -> Any:  # noqa: ANN401 - Django's
        for value, label in self.lookup_choices:
            query = changelist.get_query_string({self.parameter_name: value})
            yield {"selected": value == (self.value() or State.REVIEW), "query_string": query, "display": label}

    def queryset(self, request: HttpRequest, queryset: QuerySet[Proposal]) -> QuerySet[Proposal]:  # noqa: ARG002
        state = self.value() or State.REVIEW
        return queryset if state == self.ALL else queryset.filter(state=state)


class FieldFilter(admin.SimpleListFilter):
    """The fields anything is proposed for."""

    title = gettext_lazy("field")
    parameter_name = "field"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:  # noqa: ANN401, ARG002
        names = set(Proposal.objects.order_by().values_list("field", flat=True).distinct())
        return [(name, field.title) for name, field in FIELDS.items() if name in names]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Proposal]) -> QuerySet[Proposal]:  # noqa: ARG002
        return queryset.filter(field=self.value()) if self.value() else queryset


class ProposalAdmin(ShownOnlyAdmin):
    """Nothing is edited here: a proposal is made at the value, and decided in this list or on its own page."""

    action_form = AnswerForm
    list_display = ["what", "now", "change", "source_link", "why"]
    list_display_links = ["what"]
    list_filter = [
        StateFilter,
        AcceleratorFilter,
        "action",
        "accelerator__vendor",
        FieldFilter,
        ("batch", admin.RelatedOnlyFieldListFilter),
    ]
    list_select_related = ["accelerator", "source", "target", "proposed_by", "batch"]
    search_fields = ["accelerator__name", "accelerator__slug", "field", "value", "reason", "source__title"]
    list_per_page = 50
    actions = ["approve_chosen", "reject_chosen"]
    change_form_template = "curation/proposal.html"
    change_list_template = "curation/proposals.html"

    class Media:
        css = {"all": ["css/curation.css"]}

    def has_view_permission(self, request: HttpRequest, obj: Proposal | None = None) -> bool:
        user = user_of(request)
        return bool(
            super().has_view_permission(request, obj)
            or user.has_perm("catalog.propose")
            or user.has_perm("catalog.approve")
        )

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def has_approve_permission(self, request: HttpRequest) -> bool:
        return user_of(request).has_perm("catalog.approve")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Proposal]:
        """Drafts are visible to their author, and to approvers, since a draft blocks other proposals."""
        rows: QuerySet[Proposal] = super().get_queryset(request)
        if self.has_approve_permission(request):
            return rows
        return rows.filter(~Q(state=State.DRAFT) | Q(proposed_by=user_of(request)))

    def get_urls(self) -> list[URLPattern]:
        decision = path(
            "<int:proposal_id>/decide/",
            self.admin_site.admin_view(require_POST(self.decide_view)),
            name="catalog_proposal_decide",
        )
        return [decision, *super().get_urls()]

    # --- the list ---

    @admin.display(description=gettext_lazy("proposal"), ordering="accelerator__name")
    def what(self, proposal: Proposal) -> str:
        return f"{proposal.accelerator.name}: {field_title(proposal.field)} ({proposal.get_action_display()})"

    @admin.display(description=gettext_lazy("old → new"))
    def change(self, proposal: Proposal) -> SafeString:
        skipped = () if proposal.before else ("field", "source", "status", "basis")
        changes = [item for item in differences(proposal.before, wanted(proposal)) if item.name not in skipped]
        if not unchanged_source_question(proposal.before, wanted(proposal)):
            return difference_lines(changes)
        return format_html('{}<div class="help">{}</div>', difference_lines(changes), _("same source"))

    @admin.display(description=gettext_lazy("source"))
    def source_link(self, proposal: Proposal) -> str | SafeString:
        if proposal.source is None:
            return "—"
        return format_html('<a href="{}" rel="nofollow">{}</a>', proposal.source.url, proposal.source.title)

    @admin.display(description=gettext_lazy("reason, author, date"), ordering="proposed_at")
    def why(self, proposal: Proposal) -> SafeString:
        batch = f", {proposal.batch.file_name}" if proposal.batch else ""
        who = f"{proposal.proposed_by or '—'}, {proposal.proposed_at:%Y-%m-%d %H:%M}{batch}"
        return format_html('{}<div class="help">{}</div>', proposal.reason, who)

    @admin.display(description=gettext_lazy("state"), ordering="state")
    def now(self, proposal: Proposal) -> str | SafeString:
        if proposal.state in Proposal.OPEN and decide_proposals.is_stale(proposal):
            return format_html('<strong class="conflict">{}</strong>', _("changed since the proposal"))
        return proposal.get_state_display()

    # --- deciding ---

    @admin.action(description=gettext_lazy("Approve and publish"), permissions=["approve"])
    def approve_chosen(self, request: HttpRequest, queryset: QuerySet[Proposal]) -> None:
        answer = request.POST.get("answer", "")
        done = self._each(request, queryset, lambda pk: decide_proposals.approve(pk, user_of(request), answer))
        if done:
            text = ngettext("%(n)d proposal approved.", "%(n)d proposals approved.", done) % {"n": done}
            self.message_user(request, text, messages.SUCCESS)

    @admin.action(description=gettext_lazy("Reject with a reason"), permissions=["approve"])
    def reject_chosen(self, request: HttpRequest, queryset: QuerySet[Proposal]) -> None:
        answer = request.POST.get("answer", "")
        done = self._each(request, queryset, lambda pk: decide_proposals.reject(pk, user_of(request), answer))
        if done:
            text = ngettext("%(n)d proposal rejected.", "%(n)d proposals rejected.", done) % {"n": done}
            self.message_user(request, text, messages.SUCCESS)

    def _each(self, request: HttpRequest, rows: QuerySet[Proposal], act: Callable[[int], Proposal]) -> int:
        """Decide each in its own transaction, oldest first; shows each error once. Returns how many succeeded."""
        done, problems = 0, []
        chosen = list(rows.order_by("pk").values_list("pk", flat=True)[: MOST_AT_ONCE + 1])
        if len(chosen) > MOST_AT_ONCE:
            problems.append(_("At most %(n)d at a time. Select the others again.") % {"n": MOST_AT_ONCE})
        for pk in chosen[:MOST_AT_ONCE]:
            try:
                act(pk)
                done += 1
            except (PermissionDenied, decide_proposals.Undecidable) as error:
                problems.append(str(error))
            except ValidationError as error:
                problems.append(" ".join(error.messages))
        for text in dict.fromkeys(problems):
            self.message_user(request, text, messages.ERROR)
        return done

    def decide_view(self, request: HttpRequest, proposal_id: int) -> HttpResponse:
        """One decision from a proposal's own page."""
        user, answer = user_of(request), request.POST.get("answer", "")
        if not self.get_queryset(request).filter(pk=proposal_id).exists() or not self.has_view_permission(request):
            raise Http404
        actions: dict[str, Callable[[], Proposal]] = {
            "approve": lambda: decide_proposals.approve(proposal_id, user, answer),
            "reject": lambda: decide_proposals.reject(proposal_id, user, answer),
            "withdraw": lambda: decide_proposals.withdraw(proposal_id, user),
            "send": lambda: decide_proposals.send(proposal_id, user),
            "anew": lambda: decide_proposals.rebase_proposal(proposal_id, user),
        }
        action = actions.get(request.POST.get("decision", ""))
        if action is None:
            raise Http404
        try:
            proposal = action()
        except (decide_proposals.Undecidable, ValidationError) as error:
            text = " ".join(error.messages) if isinstance(error, ValidationError) else str(error)
            self.message_user(request, text, messages.ERROR)
            return HttpResponseRedirect(reverse("admin:catalog_proposal_change", args=[proposal_id]))
        text = f"{proposal}: {proposal.get_state_display()}"
        self.message_user(request, text, messages.SUCCESS)
        return HttpResponseRedirect(proposal_url(proposal))

    # --- one proposal ---

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        rows = self.get_queryset(request).select_related(
            "accelerator", "source", "target__source", "target__accelerator", "proposed_by", "decided_by", "batch"
        )
        proposal = rows.filter(pk=object_id).first() if object_id.isdecimal() else None
        context = self._proposal_context(proposal, request) if proposal else {}
        answer: HttpResponse = super().change_view(request, object_id, form_url, {**(extra_context or {}), **context})
        return answer

    def _proposal_context(self, proposal: Proposal, request: HttpRequest) -> dict[str, Any]:
        user, is_open = user_of(request), proposal.state in Proposal.OPEN
        stale = is_open and decide_proposals.is_stale(proposal)
        now = snapshot(proposal.target) if stale and proposal.target else {}
        return {
            "title": str(proposal),
            "subtitle": None,
            "proposal": proposal,
            "field_title": field_title(proposal.field),
            "differences": differences(proposal.before, wanted(proposal)),
            "source_kept": unchanged_source_question(proposal.before, wanted(proposal)) if is_open else "",
            "is_stale": stale,
            "meanwhile": differences(proposal.before, now) if stale else (),
            "others": _others(proposal) if is_open else [],
            "formula": _formula(proposal) if is_open else "",
            "is_open": is_open,
            "may_approve": proposal.state == State.REVIEW and decide_proposals.may_approve(proposal, user),
            "may_reject": is_open and user.has_perm("catalog.approve"),
            "is_own": proposal.proposed_by_id == user.pk,
            "may_propose": user.has_perm("catalog.propose"),
            "needs_second_person": decide_proposals.needs_second_person(),
        }


def _formula(proposal: Proposal) -> str:
    """Why the figure cannot be right beside what the sheet prefers by now, or "". One query."""
    if proposal.action == Proposal.Action.RETIRE:
        return ""
    value = SpecValue(is_preferred=proposal.is_preferred, status=SpecValue.Status.PUBLIC)
    for name in ("accelerator", "field", "value", "unit", "condition", "note"):
        setattr(value, name, getattr(proposal, name))
    try:
        value.normalise()
    except ValidationError as error:  # the registry has changed since
        return " ".join(error.messages)
    sheet = proposal.accelerator.spec_values.filter(is_preferred=True).exclude(pk=proposal.target_id or 0)
    return formula_problem(value, None, published_by(proposal.accelerator.slug, sheet))


def _others(proposal: Proposal) -> list[dict[str, Any]]:
    """What else is public under the same condition. One query."""
    rows = SpecValue.objects.filter(
        accelerator=proposal.accelerator_id,
        field=proposal.field,
        condition=proposal.condition,
        status=SpecValue.Status.PUBLIC,
    )
    rows = rows.exclude(pk=proposal.target_id or 0).select_related("source").order_by("-is_preferred", "pk")
    return [
        {"figure": for_people(row).label, "source": row.source, "is_preferred": row.is_preferred, "note": row.note}
        for row in rows
    ]


def difference_lines(changes: list[Difference]) -> SafeString:
    """Differences as HTML for a table cell: old values deleted, new ones inserted."""
    return format_html_join(
        "",
        '<div class="difference"><span>{}</span> {}{}</div>',
        (
            (
                item.label,
                format_html("<del>{}</del> → ", item.old) if item.old else "",
                format_html("<ins>{}</ins>", item.new) if item.new else "—",
            )
            for item in changes
        ),
    )
