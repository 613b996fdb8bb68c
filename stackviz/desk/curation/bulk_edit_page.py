"""The action of the list of values that edits many: choose, preview, confirm."""

from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from stackviz.desk.curation.bulk_edit import AT_ONCE, BulkForm, BulkPlan, apply_bulk_edit, plan_bulk_edit
from stackviz.desk.curation.decide import needs_second_person
from stackviz.desk.curation.value_admin import require
from stackviz.records.catalog.models import SpecValue

if TYPE_CHECKING:  # Django's classes take type arguments only from its stubs
    _Mixin = admin.ModelAdmin[Any]
else:
    _Mixin = object


class EditsMany(_Mixin):
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
