"""What the tables must hold is a constraint with a name one can read in a log."""

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from stackviz.records.catalog.models import Alias, Source, SpecValue


def rejected_by(constraint: str):
    return pytest.raises(IntegrityError, match=constraint)


@pytest.mark.parametrize(
    ("changes", "constraint"),
    [
        ({"amount": None}, "specvalue_amount_null_only_for_text"),
        ({"unit": ""}, "specvalue_amount_null_only_for_text"),
        ({"amount": -1.0}, "specvalue_amount_finite_not_negative"),
        ({"amount": float("inf")}, "specvalue_amount_finite_not_negative"),
        ({"source": None}, "specvalue_public_has_source"),
        ({"status": "unreviewed"}, "specvalue_preferred_is_public"),
    ],
)
def test_a_row_that_breaks_a_rule_is_refused_by_name(bandwidth, changes, constraint):
    with rejected_by(constraint), transaction.atomic():
        SpecValue.objects.filter(pk=bandwidth.pk).update(**changes)


def test_only_one_value_is_preferred_under_a_condition(bandwidth):
    again = {"value": "3000", "unit": "GB/s", "status": "public", "is_preferred": True}
    with rejected_by("UNIQUE|unique"), transaction.atomic():
        SpecValue.objects.create(
            accelerator=bandwidth.accelerator, field=bandwidth.field, source=bandwidth.source, **again
        )


def test_another_condition_has_its_own_preferred_value(bandwidth):
    SpecValue.objects.create(
        accelerator=bandwidth.accelerator,
        field=bandwidth.field,
        value="6700",
        unit="GB/s",
        condition="scope=board",
        source=bandwidth.source,
        status="public",
        is_preferred=True,
    )
    assert bandwidth.accelerator.spec_values.filter(is_preferred=True).count() == 2


def test_a_source_stands_on_the_web(db):
    with rejected_by("source_address_is_on_the_web"), transaction.atomic():
        Source.objects.create(key="mine", title="My notes", url="javascript:alert(1)")


def test_a_name_is_given_once_to_an_accelerator(card):
    Alias.objects.create(accelerator=card, name="Acme ONE")
    with rejected_by("UNIQUE|unique|alias_once"), transaction.atomic():
        Alias.objects.create(accelerator=card, name="acme_one")


def test_name_includes_memory_size(card):
    Alias.objects.create(accelerator=card, name="One", memory_bytes=8_000_000_000)
    Alias.objects.create(accelerator=card, name="One", memory_bytes=16_000_000_000)
    assert card.aliases.count() == 2


def test_saving_a_value_normalises_it(card, sheet_source):
    value = SpecValue(accelerator=card, field="fp16_tensor_tflops", value="165.2", unit="TFLOPS", source=sheet_source)
    value.condition = "accumulate=fp32;sparsity=dense"
    value.save()
    assert (value.amount, value.condition) == (165.2e12, "sparsity=dense; accumulate=fp32")


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"value": "fast"}, "value", "is a number, not 'fast'"),
        ({"unit": "W"}, "value", "measures something else"),
        ({"condition": "wet"}, "condition", "not key=value"),
        ({"field": "colour"}, "field", "not in the field registry"),
        ({"source": None}, "source", "needs a source"),
    ],
)
def test_a_wrong_value_says_what_is_wrong_beside_the_input(bandwidth, changes, field, words):
    for name, changed in changes.items():
        setattr(bandwidth, name, changed)
    with pytest.raises(ValidationError) as error:
        bandwidth.full_clean()
    assert words in error.value.message_dict[field][0]


def test_a_value_changed_after_it_was_loaded_knows_it(bandwidth):
    bandwidth.data_key, bandwidth.loaded_digest = "acme-one/bandwidth", bandwidth.digest
    assert not bandwidth.is_corrected_here
    bandwidth.value = "3352"
    assert bandwidth.is_corrected_here


def test_every_change_is_kept_with_its_reason(bandwidth):
    bandwidth.value = "3352"
    bandwidth.set_change_reason("the data sheet was corrected")
    bandwidth.save()
    newest, first = bandwidth.history.all()
    assert (first.value, newest.value, newest.history_change_reason) == ("3350", "3352", "the data sheet was corrected")
