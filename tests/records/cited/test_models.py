"""What a cited result may say: constraints with names, and what a person typed wrong."""

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError

from stackviz.records.cited.load import load_cited
from stackviz.records.cited.models import CitedEdition, CitedResult
from stackviz.records.cited.registry import CITED_BENCHMARKS


@pytest.fixture
def result(rtx_4090, folder) -> CitedResult:
    load_cited(folder())
    return CitedResult.objects.get(value="189.05")


@pytest.mark.parametrize(
    ("changes", "constraint"),
    [
        ({"amount": -1.0}, "citedresult_amount_finite_not_negative"),
        ({"amount": 1e25}, "citedresult_amount_finite_not_negative"),
        ({"amount": 0.0}, "citedresult_public_amount_positive"),
        ({"accelerator": None}, "citedresult_public_has_accelerator"),
        ({"state": "doubtful", "reason": ""}, "citedresult_doubt_has_a_reason"),
        ({"count": 0}, "citedresult_count_at_least_one"),
        ({"state": "liked"}, "citedresult_state_is_known"),
    ],
)
def test_a_row_the_data_must_not_have_is_refused(result, changes, constraint):
    with pytest.raises(IntegrityError, match=constraint):
        CitedResult.objects.filter(pk=result.pk).update(**changes)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"benchmark": "guesses"}, "benchmark"),
        ({"unit": "GB/s"}, "unit"),
        ({"value": "nan"}, "value"),
        ({"value": "0"}, "value"),
        ({"params": {"colour": "red"}}, "params"),
        ({"params": {"depth": "4096"}}, "params"),
        ({"params": {"test": 128}}, "params"),
        ({"params": ["tg128"]}, "params"),
        ({"accelerator": None}, "accelerator"),
        ({"state": "withdrawn"}, "reason"),
        ({"note": "bell\x07"}, "note"),
    ],
)
def test_what_was_typed_wrong_is_named(result, changes, field):
    for name, value in changes.items():
        setattr(result, name, value)
    with pytest.raises(ValidationError) as wrong:
        result.full_clean()
    assert field in wrong.value.message_dict


def test_saving_computes_the_amount_and_the_case(result):
    before = result.params_key
    result.value, result.params = "0.2", {"test": "tg128", "model": "Llama 2 7B", "quant": "Q8_0"}
    result.save()
    assert (result.amount, result.params_key == before) == (0.2, False)


def test_settings_that_need_not_agree_are_the_same_case(result):
    before = result.params_key
    result.params = {**result.params, "backend": "CUDA", "flash_attention": "on"}
    result.save()
    assert result.params_key == before


def test_every_change_moves_the_edition(result):
    editions = [CitedEdition.current()]
    result.save()
    editions.append(CitedEdition.current())
    CitedResult.objects.filter(pk=result.pk).update(note="x")
    editions.append(CitedEdition.current())
    result.source.save()
    editions.append(CitedEdition.current())
    result.delete()
    editions.append(CitedEdition.current())
    assert len(set(editions)) == 5


def test_share_of_one_device_needs_devices_that_add_up(result):
    assert CITED_BENCHMARKS["gemm"].adds_up
    assert not CITED_BENCHMARKS["llm-inter-token-latency"].adds_up
    result.benchmark, result.count, result.amount = "gemm", 4, 8e12
    assert result.amount_per_device == 2e12
    result.benchmark = "llm-decode"
    assert result.amount_per_device == 8e12
