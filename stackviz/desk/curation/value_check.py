"""Check a value while it is typed: problems, its amount, other public values. Read-only."""

from collections.abc import Mapping

from django.core.exceptions import ValidationError
from django.utils.datastructures import MultiValueDict
from django.utils.translation import gettext as _

from stackviz.desk.curation.differences import snapshot, unchanged_source_question
from stackviz.desk.curation.forms import ConditionField, ConditionPicker, units_of
from stackviz.desk.curation.formula_check import formula_problem
from stackviz.records.catalog.by_formula import published_by
from stackviz.records.catalog.figures import for_people
from stackviz.records.catalog.models import Accelerator, Source, SpecValue
from stackviz.web.address import row_key

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
