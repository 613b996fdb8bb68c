"""Shared by admin pages that save values: public changes are proposed, others are saved."""

from collections.abc import Mapping
from typing import Any, cast

from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.datastructures import MultiValueDict
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from stackviz.desk.curation.decide_proposals import Undecidable
from stackviz.desk.curation.differences import formula_problem, snapshot, unchanged_source_question
from stackviz.desk.curation.forms import ConditionField, ConditionPicker, units_of
from stackviz.desk.curation.propose import submit, touches_the_public
from stackviz.records.catalog.by_formula import published_by
from stackviz.records.catalog.figures import for_people
from stackviz.records.catalog.models import Accelerator, Proposal, Source, SpecValue
from stackviz.web.http.address import row_key


def user_of(request: HttpRequest) -> User:
    """The logged-in user; the admin requires one."""
    return cast("User", request.user)


def proposal_url(proposal: Proposal) -> str:
    return reverse("admin:catalog_proposal_change", args=[proposal.pk])


def proposal_link(proposal: Proposal) -> SafeString:
    return format_html('<a href="{}">{}</a>', proposal_url(proposal), proposal)


class ProposesValues(admin.ModelAdmin[Any]):
    """Saves a value, or proposes it where it is public or shall be, and says which of the two was done."""

    def save_model(self, request: HttpRequest, obj: Model, form: Any, change: bool) -> None:  # noqa: ANN401, FBT001
        if isinstance(obj, SpecValue):
            self.save_or_propose(request, form)
        else:
            super().save_model(request, obj, form, change)

    def save_or_propose(self, request: HttpRequest, form: Any) -> None:  # noqa: ANN401 - a SpecValueForm
        """The form is valid: its value is in `instance`, what the table has in `current`."""
        value: SpecValue = form.instance
        if not touches_the_public(value, form.current):
            value._history_user = request.user  # type: ignore[attr-defined]  # noqa: SLF001 - simple_history's
            value.save()
            return
        reason, as_draft = form.cleaned_data["reason"], form.cleaned_data.get("as_draft", False)
        try:
            made = submit(value, by=user_of(request), reason=reason, as_draft=as_draft)
        except (ValidationError, Undecidable) as error:  # somebody else was quicker than this form
            request._undone = True  # type: ignore[attr-defined]  # noqa: SLF001
            problems = error.messages if isinstance(error, ValidationError) else [str(error)]
            self.message_user(request, " ".join(problems), messages.ERROR)
            return
        request._proposal = made  # type: ignore[attr-defined]  # noqa: SLF001 (for the answer and the admin's log)
        self.message_user(request, outcome_message(made), messages.SUCCESS)

    def log_addition(self, request: HttpRequest, obj: Model, message: Any) -> Any:  # noqa: ANN401
        return self._log(super().log_addition, request, obj, message)

    def log_change(self, request: HttpRequest, obj: Model, message: Any) -> Any:  # noqa: ANN401
        return self._log(super().log_change, request, obj, message)

    def _log(self, log: Any, request: HttpRequest, obj: Model, message: Any) -> Any:  # noqa: ANN401
        """Log the proposal in Django's admin log, since the value itself is unchanged."""
        if not isinstance(obj, SpecValue):
            return log(request, obj, message)
        if hasattr(request, "_undone"):
            return None
        return log(request, getattr(request, "_proposal", obj), message)

    def response_add(self, request: HttpRequest, obj: Model, post_url_continue: str | None = None) -> HttpResponse:
        return self._to_list(request, obj) or super().response_add(request, obj, post_url_continue)

    def response_change(self, request: HttpRequest, obj: Model) -> HttpResponse:
        return self._to_list(request, obj) or super().response_change(request, obj)

    def _to_list(self, request: HttpRequest, obj: Model) -> HttpResponse | None:
        """After a proposal the value was not saved, so Django's own words would be wrong."""
        if not isinstance(obj, SpecValue) or not (hasattr(request, "_proposal") or hasattr(request, "_undone")):
            return None
        return HttpResponseRedirect(reverse("admin:catalog_specvalue_changelist"))

    def tell_of_proposals(self, request: HttpRequest, value: SpecValue) -> None:
        """Show a message for each proposal on this value that is waiting for review."""
        for proposal in value.proposals.filter(state=Proposal.State.REVIEW).select_related("accelerator"):
            text = format_html(_("A change to this value is waiting for review: {}"), proposal_link(proposal))
            self.message_user(request, text, messages.INFO)

    def propose_all(self, request: HttpRequest, rows: QuerySet[SpecValue], status: SpecValue.Status) -> None:
        """Propose each value on its own; values that fail are listed with the reason."""
        reason = request.POST.get("reason", "")
        done, left = 0, []
        for value in rows.select_related("accelerator", "source"):
            value.status = status
            value.is_preferred = value.is_preferred and status == SpecValue.Status.PUBLIC
            try:
                submit(value, by=user_of(request), reason=reason)
            except (ValidationError, Undecidable) as error:
                why = " ".join(error.messages) if isinstance(error, ValidationError) else str(error)
                left.append(f"{value}: {why}")
            else:
                done += 1
        self._tell_all(request, done, left)

    def _tell_all(self, request: HttpRequest, done: int, left: list[str]) -> None:
        if done:
            text = ngettext("%(n)d proposal made.", "%(n)d proposals made.", done) % {"n": done}
            self.message_user(request, text, messages.SUCCESS)
        if left:
            self.message_user(request, _("Unchanged: %(values)s") % {"values": "; ".join(left)}, "WARNING")


def outcome_message(proposal: Proposal) -> SafeString:
    """The outcome of a saved form, in words, with a link to the proposal."""
    texts = {
        Proposal.State.DRAFT: _("Saved as a draft; nothing public has changed: {}"),
        Proposal.State.REVIEW: _("Proposed; it becomes public when a second person approves it: {}"),
        Proposal.State.APPROVED: _("Saved and published: {}"),
    }
    return format_html(texts[Proposal.State(proposal.state)], proposal_link(proposal))


def require(request: HttpRequest, permission: str) -> User:
    """The user, who has this permission of the catalogue. Raises PermissionDenied."""
    user = user_of(request)
    if not user.has_perm(f"catalog.{permission}"):
        raise PermissionDenied
    return user


# Checks while a value is typed.


MOST_OTHERS = 5


def check_typed_value(typed: Mapping[str, str]) -> dict[str, object]:
    """`typed`: a form's content by input name. -> problems, notes and the units that fit, as plain data.

    Five queries at most.
    """
    value = SpecValue(field=typed.get("field", ""), value=typed.get("value", ""), unit=typed.get("unit", ""))
    problems, notes = [], []
    try:
        value.condition = ConditionField().to_python(
            ConditionPicker().value_from_datadict(typed, MultiValueDict(), "condition")
        )
        if value.field and value.value:
            value.normalise()
            notes += _notes(value)
    except ValidationError as error:
        problems = error.messages
    accelerator = _accelerator(typed.get("accelerator", ""))
    if not problems and value.field and accelerator:
        value.accelerator, value.note = accelerator, typed.get("note", "")
        value.is_preferred = "is_preferred" in typed
        problems += _by_formula(value)
        notes += _source_question(value, typed)
        notes += _other_values(value, typed.get("id", ""))
    return {"problems": problems, "notes": notes, "units": units_of(value.field)}


def _notes(value: SpecValue) -> list[str]:
    if value.amount is None:
        return []
    shown = for_people(value)
    return [_("Shown as %(label)s; exactly %(exact)s.") % {"label": shown.label, "exact": shown.exact}]


def _accelerator(typed: str) -> Accelerator | None:
    return Accelerator.objects.filter(pk=row_key(typed)).first()


def _by_formula(value: SpecValue) -> list[str]:
    if value.amount is None:
        return []
    published = published_by(value.accelerator.slug, value.accelerator.spec_values.filter(is_preferred=True))
    problem = formula_problem(value, None, published)
    return [problem] if problem else []


def _source_question(value: SpecValue, typed: Mapping[str, str]) -> list[str]:
    edited = SpecValue.objects.filter(pk=row_key(typed.get("id", "")), status=SpecValue.Status.PUBLIC)
    current = edited.select_related("source").first()
    if current is None:
        return []
    value.source = Source.objects.filter(pk=row_key(typed.get("source", ""))).first()
    question = unchanged_source_question(snapshot(current), snapshot(value))
    return [question] if question else []


def _other_values(value: SpecValue, edited_id: str) -> list[str]:
    """What the catalogue has of this accelerator, field and condition."""
    rows = SpecValue.objects.filter(accelerator=value.accelerator, field=value.field, condition=value.condition)
    rows = rows.filter(status=SpecValue.Status.PUBLIC).exclude(pk=row_key(edited_id))
    return [
        (
            _("Preferred now: %(value)s (%(source)s).")
            if row.is_preferred
            else _("Also published: %(value)s (%(source)s).")
        )
        % {"value": for_people(row).label, "source": row.source}
        for row in rows.select_related("source").order_by("-is_preferred", "pk")[:MOST_OTHERS]
    ]
