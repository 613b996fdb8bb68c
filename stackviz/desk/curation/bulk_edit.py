"""Change many values at once: what would change is shown first, then all of it is proposed or saved, or nothing."""

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Max, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from stackviz.desk.curation.decide_proposals import Undecidable, needs_second_person
from stackviz.desk.curation.differences import differences, field_title, snapshot
from stackviz.desk.curation.forms import unit_choices
from stackviz.desk.curation.propose import SOURCE_CONFIRMED, check_proposal, check_source, submit, touches_the_public
from stackviz.desk.curation.value_admin import require
from stackviz.records.catalog import conditions
from stackviz.records.catalog.conditions import describe_condition
from stackviz.records.catalog.models import Proposal, Source, SpecValue
from stackviz.records.catalog.table_imports import Difference
from stackviz.records.curated.rows import is_readable

AT_ONCE = 200  # each is checked and proposed by itself, and whoever chose them waits
LEAVE = ("", gettext_lazy("leave as it is"))


class BulkForm(forms.Form):
    """What to set on all chosen values; what is left empty stays as it is, but for what has a box to clear it."""

    source = forms.ModelChoiceField(
        Source.objects.order_by("title"), required=False, label=gettext_lazy("Source"), empty_label=LEAVE[1]
    )
    unit = forms.ChoiceField(required=False, label=gettext_lazy("Unit"))
    source_confirmed = forms.BooleanField(
        required=False,
        label=SOURCE_CONFIRMED,
        help_text=gettext_lazy("needed where the unit of a public figure changes and its source stays"),
    )
    set_condition = forms.BooleanField(required=False, label=gettext_lazy("Set the condition"))
    condition = forms.CharField(
        required=False,
        max_length=conditions.MAX_CONDITION_LENGTH,
        label=gettext_lazy("Condition"),
        widget=forms.TextInput(attrs={"size": 40, "placeholder": "sparsity=dense; accumulate=fp32"}),
    )
    set_note = forms.BooleanField(required=False, label=gettext_lazy("Set the note"))
    note = forms.CharField(
        required=False, max_length=500, label=gettext_lazy("Note"), widget=forms.TextInput(attrs={"size": 60})
    )
    is_preferred = forms.ChoiceField(
        required=False, choices=[LEAVE, ("yes", gettext_lazy("preferred"))], label=gettext_lazy("Preferred")
    )
    status = forms.ChoiceField(
        required=False,
        choices=[LEAVE, *((value, value.label) for value in (SpecValue.Status.PUBLIC, SpecValue.Status.RETIRED))],
        label=gettext_lazy("Status"),
    )
    reason = forms.CharField(
        max_length=300,
        validators=[is_readable],
        label=gettext_lazy("Reason"),
        help_text=gettext_lazy("stored in the history of every value and shown publicly"),
        widget=forms.TextInput(attrs={"size": 60}),
    )

    def __init__(self, *arguments: Any, **more: Any) -> None:  # noqa: ANN401 - as Django's
        super().__init__(*arguments, **more)
        units = [choice for choice in unit_choices() if choice[0]]
        self.fields["unit"].choices = [LEAVE, *units]  # type: ignore[attr-defined]

    def clean_condition(self) -> str:
        try:
            return conditions.write(conditions.parse(self.cleaned_data["condition"]))
        except conditions.ConditionError as error:
            raise ValidationError(error.problem) from error

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not self.errors and not self.changes():
            raise ValidationError(_("Choose what to change."))
        return cleaned

    def changes(self) -> dict[str, Any]:
        """Attribute -> what it becomes."""
        chosen = {name: self.cleaned_data.get(name) for name in ("source", "unit", "status")}
        changes = {name: value for name, value in chosen.items() if value}
        for name in ("condition", "note"):
            if self.cleaned_data.get(f"set_{name}"):
                changes[name] = self.cleaned_data.get(name, "")
        if self.cleaned_data.get("is_preferred"):
            changes["is_preferred"] = True
        return changes


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkRow:
    """One value. `problem`: why it cannot be; `changes`: none where it has them already."""

    value: SpecValue
    wanted: SpecValue
    changes: tuple[Difference, ...]
    problem: str

    @property
    def title(self) -> str:
        """`Memory bandwidth (per GPU)`: which of the accelerator's figures it is."""
        condition = describe_condition(self.value.condition)
        field = field_title(self.value.field)
        return f"{field} ({condition})" if condition else field

    @property
    def kind(self) -> str:
        """As in the preview of an import."""
        return "refused" if self.problem else "changed" if self.changes else "same"


@dataclass(frozen=True, slots=True)
class BulkPlan:
    """`seen` names what was shown: what is confirmed must be the same."""

    rows: tuple[BulkRow, ...]
    seen: str

    @property
    def changed(self) -> int:
        return sum(row.kind == "changed" for row in self.rows)

    @property
    def refused(self) -> int:
        return sum(row.kind == "refused" for row in self.rows)


def plan_bulk_edit(
    values: Sequence[SpecValue], changes: dict[str, Any], by: User, *, source_confirmed: bool = False
) -> BulkPlan:
    """What the changes would do to these values (with accelerator and source); writes nothing."""
    slots = Counter((value.accelerator_id, value.field, changes.get("condition", value.condition)) for value in values)
    rows = []
    for value in values:
        wanted = _wanted(value, changes)
        slot = (value.accelerator_id, value.field, wanted.condition)
        problem = _problem(value, wanted, by, source_confirmed=source_confirmed)
        if not problem and changes.get("is_preferred") and slots[slot] > 1:
            problem = _("Several of the chosen values would be preferred under one condition.")
        shown = differences(snapshot(value), snapshot(wanted))
        rows.append(BulkRow(value=value, wanted=wanted, changes=shown, problem=problem if shown else ""))
    return BulkPlan(tuple(rows), _digest(rows, values))


@transaction.atomic
def apply_bulk_edit(plan: BulkPlan, by: User, reason: str) -> tuple[int, int]:
    """(proposed or published, saved): all rows that change, or none. Raises ValidationError, Undecidable."""
    proposed = saved = 0
    for row in plan.rows:
        if row.problem:
            raise ValidationError(f"{row.value}: {row.problem}")
        if not row.changes:
            continue
        try:
            if touches_the_public(row.wanted, row.value):
                submit(row.wanted, by=by, reason=reason)
                proposed += 1
            else:
                row.wanted._history_user = by  # type: ignore[attr-defined]  # noqa: SLF001 - simple_history's
                row.wanted.set_change_reason(reason)
                row.wanted.save()
                saved += 1
        except ValidationError as error:
            raise ValidationError(f"{row.value}: {' '.join(error.messages)}") from error
        except Undecidable as error:
            raise ValidationError(f"{row.value}: {error}") from error
    return proposed, saved


def _wanted(value: SpecValue, changes: dict[str, Any]) -> SpecValue:
    wanted = copy(value)
    wanted._state = copy(value._state)  # noqa: SLF001 - related rows are cached in it
    wanted._state.fields_cache = dict(value._state.fields_cache)  # noqa: SLF001
    for name, new in changes.items():
        setattr(wanted, name, new)
    if wanted.status == SpecValue.Status.RETIRED:
        wanted.is_preferred = False
    return wanted


def _problem(value: SpecValue, wanted: SpecValue, by: User, *, source_confirmed: bool) -> str:
    try:
        wanted.normalise()
        if not source_confirmed:
            check_source(wanted, value)
        if touches_the_public(wanted, value):
            check_proposal(wanted, value, by)
        elif wanted.is_preferred:
            return _("Only a public value can be preferred.")
    except ValidationError as error:
        return " ".join(error.messages)
    return ""


def _digest(rows: Sequence[BulkRow], values: Sequence[SpecValue]) -> str:
    """Of values, changes, and the newest proposal about any of them: a form sent twice is not what was seen."""
    newest = Proposal.objects.filter(target__in=[value.pk for value in values]).aggregate(newest=Max("pk"))
    shown = [
        [row.value.pk, row.value.digest, [(item.name, item.old, item.new) for item in row.changes]] for row in rows
    ]
    return hashlib.sha256(json.dumps([shown, newest["newest"]]).encode()).hexdigest()


# The action of the list of values.


class EditsMany(admin.ModelAdmin[Any]):
    """The list gets the action `edit_many`."""

    @admin.action(description=gettext_lazy("Edit: set source, unit, condition, note or status"), permissions=["change"])
    def edit_many(self, request: HttpRequest, queryset: QuerySet[SpecValue]) -> HttpResponse | None:
        """Three answers to the same action: the form, the form with the preview, the list."""
        user = require(request, "propose")
        rows = queryset.order_by("accelerator__name", "field", "condition", "pk")
        values = list(rows.select_related("accelerator__vendor", "source")[: AT_ONCE + 1])
        if len(values) > AT_ONCE:
            self.message_user(request, _("At most %(n)d values at a time.") % {"n": AT_ONCE}, messages.ERROR)
            return None
        is_begun = "begun" in request.POST
        form = BulkForm(request.POST if is_begun else None)
        if not (is_begun and form.is_valid()):
            return self._bulk_page(request, values, form, None)
        is_confirmed = form.cleaned_data["source_confirmed"]
        plan = plan_bulk_edit(values, form.changes(), user, source_confirmed=is_confirmed)
        if "confirm" not in request.POST or plan.refused or not plan.changed:
            return self._bulk_page(request, values, form, plan)
        if request.POST.get("seen") != plan.seen:
            text = _("What would change is different by now. Nothing was changed; please look at it again.")
            self.message_user(request, text, messages.ERROR)
            return self._bulk_page(request, values, form, plan)
        try:
            proposed, saved = apply_bulk_edit(plan, user, form.cleaned_data["reason"])
        except ValidationError as error:
            self.message_user(request, " ".join([_("Nothing was changed."), *error.messages]), messages.ERROR)
            return self._bulk_page(request, values, form, plan)
        self._say_done(request, proposed, saved)
        return None

    def _say_done(self, request: HttpRequest, proposed: int, saved: int) -> None:
        if proposed and needs_second_person():
            text = ngettext("%(n)d value proposed.", "%(n)d values proposed.", proposed)
            self.message_user(request, text % {"n": proposed}, messages.SUCCESS)
        elif proposed:
            text = ngettext("%(n)d value changed.", "%(n)d values changed.", proposed)
            self.message_user(request, text % {"n": proposed}, messages.SUCCESS)
        if saved:
            text = ngettext("%(n)d value saved, not public.", "%(n)d values saved, not public.", saved)
            self.message_user(request, text % {"n": saved}, messages.SUCCESS)

    def _bulk_page(
        self, request: HttpRequest, values: list[SpecValue], form: BulkForm, plan: BulkPlan | None
    ) -> HttpResponse:
        context = {
            **self.admin_site.each_context(request),
            "title": _("Edit values"),
            "opts": self.opts,
            "values": values,
            "form": form,
            "plan": plan,
            "checkbox": ACTION_CHECKBOX_NAME,
            "needs_second_person": needs_second_person(),
            "is_nav_sidebar_enabled": False,
        }
        return TemplateResponse(request, "curation/bulk_edit.html", context)
