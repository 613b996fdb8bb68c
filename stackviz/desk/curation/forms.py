"""Form inputs for a value: the condition as one select per key, the units of the field, the whole form.

All of it works without scripts; `curation.js` only narrows the units and queries `value_check` during typing.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, cast

from django import forms
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.forms.renderers import get_default_renderer
from django.template.loader import render_to_string
from django.utils.functional import cached_property, lazy
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from stackviz.base.units import UNITS
from stackviz.desk.curation import differences
from stackviz.desk.curation.differences import formula_problem
from stackviz.desk.curation.propose import SOURCE_CONFIRMED, check_proposal, check_source, touches_the_public
from stackviz.records.catalog import conditions
from stackviz.records.catalog.by_formula import published_by
from stackviz.records.catalog.fields import FIELDS, grouped
from stackviz.records.catalog.models import Accelerator, SpecValue
from stackviz.records.curated.rows import is_readable


def field_choices() -> list[Any]:
    """The registry's fields under their group headings, for a select box."""
    nothing: list[Any] = [("", "---------")]
    return nothing + [
        (str(group.title), [(field.name, f"{field.title} ({field.name})") for field in fields])
        for group, fields in grouped(FIELDS)
    ]


def units_of(field_name: str) -> list[str]:
    """The units that measure a field; none for text and for what the registry does not know."""
    field = FIELDS.get(field_name)
    if field is None or field.is_text:
        return []
    return [symbol for symbol, unit in UNITS.items() if symbol and unit.si == UNITS[field.unit].si]


def unit_choices(field_name: str = "") -> list[Any]:
    """The units of one field; without one, those any field is measured in, under what they measure."""
    nothing: list[Any] = [("", gettext("none (text)"))]
    if field_name in FIELDS:
        return nothing + [(symbol, symbol) for symbol in units_of(field_name)]
    bases = list(dict.fromkeys(UNITS[field.unit].si for field in FIELDS.values() if field.unit))
    by_base = [(base, [symbol for symbol, unit in UNITS.items() if symbol and unit.si == base]) for base in bases]
    return nothing + [(base, [(symbol, symbol) for symbol in symbols]) for base, symbols in by_base]


class ConditionPicker(forms.MultiWidget):
    """One select per key of a condition; a text input where the key takes any text."""

    use_fieldset = True

    def __init__(self) -> None:
        super().__init__({key.name: _input_for(key) for key in conditions.KEYS})

    def decompress(self, value: str | None) -> list[str]:
        try:
            parts = conditions.parse(value or "")
        except conditions.ConditionError:  # written by an older registry: it cannot be selected
            parts = {}
        return [parts.get(key.name, "") for key in conditions.KEYS]

    def get_context(self, name: str, value: Any, attrs: dict[str, Any] | None) -> dict[str, Any]:  # noqa: ANN401
        context: dict[str, Any] = super().get_context(name, value, attrs)
        parts = context["widget"]["subwidgets"]
        for key, part in zip(conditions.KEYS, parts, strict=True):
            part["key"], part["meaning"] = key.name, str(key.meaning)
            part["html"] = SafeString(get_default_renderer().render(part["template_name"], {"widget": part}))
        context["common"] = [part for part in parts if part["key"] in COMMON or _is_chosen(part)]
        context["further"] = [part for part in parts if part not in context["common"]]
        return context

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:  # noqa: ANN401, ARG002
        # Django's form renderer looks in app folders only; our templates are all in one folder.
        return render_to_string("curation/condition.html", self.get_context(name, value, attrs))


COMMON = ("sparsity", "accumulate", "scope", "direction", "clock")


def _is_chosen(part: Mapping[str, Any]) -> bool:
    return bool(part["value"] and part["value"] != [""])


def _input_for(key: conditions.Key) -> forms.Widget:
    if not key.values:
        return forms.TextInput(attrs={"size": 14, "maxlength": conditions.MAX_CONDITION_LENGTH})
    label = lazy(_choice_label, str)  # the form is made once, when the site starts
    return forms.Select(choices=[("", "—"), *((value, label(value, words)) for value, words in key.values.items())])


def _choice_label(value: str, words: Any) -> str:  # noqa: ANN401 - text, or text in the reader's language
    return value if value == str(words) else f"{value}: {words}"


class ConditionField(forms.Field):
    """The canonical text of what was picked."""

    widget = ConditionPicker

    def to_python(self, value: Any) -> str:  # noqa: ANN401 - what the widget read
        picked = zip(conditions.KEYS, value or [], strict=False)
        try:
            return conditions.write({key.name: text.strip() for key, text in picked if text and text.strip()})
        except conditions.ConditionError as error:
            raise ValidationError(error.problem) from error

    def has_changed(self, initial: Any, data: Any) -> bool:  # noqa: ANN401 - Django's
        try:
            return bool((initial or "") != self.to_python(data))
        except ValidationError:
            return True


class SpecValueForm(forms.ModelForm[SpecValue]):
    """A value and the reason for the change. A change to the public catalogue is validated as a proposal."""

    field = forms.ChoiceField(
        label=_("Field"), choices=field_choices, widget=forms.Select(attrs={"class": "value-field"})
    )
    unit = forms.ChoiceField(label=_("Unit"), choices=unit_choices, required=False)
    condition = ConditionField(label=_("Condition"), required=False)
    source_confirmed = forms.BooleanField(
        required=False,
        label=SOURCE_CONFIRMED,
        help_text=_("needed where a public figure changes and its source stays"),
    )
    reason = forms.CharField(
        max_length=300,
        required=False,
        validators=[is_readable],
        label=_("Reason for the change"),
        help_text=_("stored in the history and shown publicly; required for every correction"),
        widget=forms.TextInput(attrs={"size": 60}),
    )
    as_draft = forms.BooleanField(
        required=False,
        label=_("Save as draft"),
        help_text=_("a change to a public value stays a draft until you send it to review"),
    )
    user: User | None = None  # who types; set by the admin's form class
    current: SpecValue | None = None

    class Meta:
        model = SpecValue
        fields = ["field", "value", "unit", "condition", "basis", "source", "said_by", "note", "status", "is_preferred"]
        widgets = {
            "value": forms.TextInput(attrs={"size": 14}),
            "note": forms.TextInput(attrs={"size": 60}),
            "said_by": forms.TextInput(attrs={"size": 60}),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - as Django's
        super().__init__(*args, **kwargs)
        chosen = self["field"].value() or ""
        units = cast("forms.ChoiceField", self.fields["unit"])
        if chosen in FIELDS and not self.is_bound:
            units.choices = unit_choices(chosen)

    def _get_validation_exclusions(self) -> set[str]:
        """As Django's, but another value's preference is no obstacle: once approved, the mark moves by itself.

        A missing source is named by the model's `clean`, so the constraint that wants one need not name it again.
        """
        excluded = set(super()._get_validation_exclusions()) | {"is_preferred"}  # type: ignore[misc]
        return excluded if self.cleaned_data.get("source") else excluded | {"source"}

    def _post_clean(self) -> None:
        super()._post_clean()  # type: ignore[misc]
        if self.errors or self.is_left_alone():
            return
        self.current = SpecValue.objects.select_related("source").filter(pk=self.instance.pk or 0).first()
        is_public = touches_the_public(self.instance, self.current)
        reason = self.cleaned_data.get("reason", "").strip()
        if (is_public or self.current) and not reason:
            self.ask_for_reason()
        elif is_public:
            self._check_proposal()
        elif self.instance.is_preferred:
            self.add_error("is_preferred", gettext("Only a public value can be preferred."))
        if reason:
            self.instance.set_change_reason(reason)

    def ask_for_reason(self) -> None:
        self.add_error("reason", gettext("Give a reason. It is stored in the history and shown publicly."))

    def is_left_alone(self) -> bool:
        """Whether there is nothing to save. Never for a single form: a revert shows an old value unchanged."""
        return False

    def _check_proposal(self) -> None:
        try:
            if not self.cleaned_data.get("source_confirmed"):
                check_source(self.instance, self.current)
            check_proposal(self.instance, self.current, by=self.user)
        except ValidationError as error:
            for name, problems in (
                error.message_dict.items() if hasattr(error, "error_dict") else [("", error.messages)]
            ):
                self.add_error(name if name in self.fields else None, problems)


class SharedByRows(forms.Form):
    """The source and the reason of each changed row of a sheet that has none of its own."""

    reason = forms.CharField(
        max_length=300,
        required=False,
        validators=[is_readable],
        label=_("Reason for all rows"),
        help_text=_("for each row that you add or change and that has no reason of its own; shown publicly"),
        widget=forms.TextInput(attrs={"size": 80}),
    )

    def __init__(self, *args: Any, source: forms.Field, **kwargs: Any) -> None:  # noqa: ANN401 - as Django's
        """`source`: the input for a source, as the admin makes it for this user."""
        super().__init__(*args, **kwargs)
        source.label = gettext("Source for all rows")
        source.help_text = gettext("for each row that you add or change and that has no source of its own")
        self.fields = {"source": source, **self.fields}


class InlineValueForm(SpecValueForm):
    """The same in one row of a table: the condition as text, brought to its canonical form when saved.

    A row that is there offers only its own field and source, since a sheet has a hundred rows; its page has all.
    A new row is public unless another status is chosen, and in the field's own unit unless another is.
    """

    condition = forms.CharField(  # type: ignore[assignment]
        label=_("Condition"),
        required=False,
        max_length=conditions.MAX_CONDITION_LENGTH,
        widget=forms.TextInput(attrs={"size": 26, "placeholder": "sparsity=dense; accumulate=fp32"}),
    )

    def __init__(self, *args: Any, shared: SharedByRows, **kwargs: Any) -> None:  # noqa: ANN401 - as Django's
        super().__init__(*args, **kwargs)
        self.shared = shared
        self.fields["source_confirmed"].label = _("prints it")
        self.fields["reason"].widget.attrs["size"] = 30
        value: SpecValue = self.instance
        if not value.pk:
            self.initial["status"] = SpecValue.Status.PUBLIC
            units = cast("forms.ChoiceField", self.fields["unit"])
            units.choices = [("", gettext("the field’s own")), *list(cast("Any", units.choices))[1:]]
            return
        choices = cast("forms.ChoiceField", self.fields["field"])
        choices.choices = [(value.field, differences.field_title(value.field))]
        current = [(value.source_id, str(value.source))] if value.source else []
        self.fields["source"].widget = forms.Select(choices=[("", "---------"), *current])

    def has_changed(self) -> bool:
        """A new row of which only the field is chosen is empty."""
        return bool(set(self.changed_data) - (set() if self.instance.pk else {"field"}))

    def is_left_alone(self) -> bool:
        return not self.has_changed()

    def clean_unit(self) -> str:
        unit, field = str(self.cleaned_data["unit"]), FIELDS.get(self.cleaned_data.get("field", ""))
        return field.unit if field and not unit and not self.instance.pk else unit

    def clean_source(self) -> Any:  # noqa: ANN401 - a Source, or None
        return self._typed_or_shared("source")

    def clean_reason(self) -> Any:  # noqa: ANN401 - text
        return self._typed_or_shared("reason")

    def _typed_or_shared(self, name: str) -> Any:  # noqa: ANN401 - what the field holds
        typed = self.cleaned_data[name]
        return typed or (self.shared.cleaned_data.get(name, typed) if self.has_changed() else typed)

    def _check_proposal(self) -> None:
        if self.user is None or self.user.has_perm("catalog.propose"):
            super()._check_proposal()
        else:
            self.add_error("status", gettext("You do not have permission to propose values."))

    def ask_for_reason(self) -> None:
        """Once for all rows, beside the input that fills all of them."""
        if not self.shared.has_error("reason"):
            self.shared.add_error("reason", gettext("Give a reason, here or in each row that you add or change."))

    class Meta(SpecValueForm.Meta):
        widgets = {"value": forms.TextInput(attrs={"size": 14}), "note": forms.TextInput(attrs={"size": 30})}


class ValueFormSet(forms.BaseInlineFormSet[SpecValue, Accelerator, forms.ModelForm[SpecValue]]):
    """The rows of a sheet. Those of a new one are checked against each other: nothing else is published of it."""

    source_input: forms.Field  # of `shared`; set by the admin

    @cached_property
    def shared(self) -> SharedByRows:
        typed = self.data if self.is_bound else None
        form = SharedByRows(typed, prefix=f"{self.prefix}-all", source=self.source_input)
        form.is_valid()  # rows read what it holds
        return form

    def get_form_kwargs(self, index: int | None) -> dict[str, Any]:
        return {**super().get_form_kwargs(index), "shared": self.shared}

    def clean(self) -> None:
        super().clean()
        rows = [row for row in self.forms if row.has_changed() and row.is_valid()]
        self._refuse_twins(rows)
        if not self.instance.pk:
            self._check_formulas(rows)
        if self.shared.errors:
            raise ValidationError(gettext("Please correct the source or the reason of all rows."))

    def _refuse_twins(self, rows: Sequence[forms.ModelForm[SpecValue]]) -> None:
        """The second proposal for the same value would replace the first."""
        seen: set[tuple[str, str, int | None]] = set()
        for row in rows:
            value: SpecValue = row.instance
            key = (value.field, value.condition, value.source_id)
            if not value.pk and key in seen:
                row.add_error("field", gettext("Another row has the same field, condition and source."))
            seen.add(key)

    def _check_formulas(self, rows: Sequence[forms.ModelForm[SpecValue]]) -> None:
        values = [copy(row.instance) for row in rows if row.instance.status == SpecValue.Status.PUBLIC]
        for value in values:
            value.is_preferred = True  # as the first of its field and condition will be
        published = published_by(self.instance.slug, values)
        public = (row for row in rows if row.instance.status == SpecValue.Status.PUBLIC)
        for row, value in zip(public, values, strict=True):
            if problem := formula_problem(value, None, published):
                row.add_error("value", problem)
