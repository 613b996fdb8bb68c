"""Tables of sources that were misread once: what the shipped rows say of them now, and what the reader refuses."""

import pytest

from stackviz.records.cited.files import LineError, LineReader
from stackviz.records.cited.models import CitedResult
from stackviz.records.cited.registry import CITED_BENCHMARKS
from tests.records.cited.conftest import LINE

FASTER = {"source__key": "fastertransformer-guides-performance-1"}
EFFECTIVE = FASTER | {"params__framework": "TensorFlow", "params__engine": "FasterTransformer, effective"}


@pytest.mark.parametrize(
    ("name", "figure"),
    [("NVIDIA T4", "52.75"), ("NVIDIA V100", "26.55"), ("NVIDIA A100", "8.98"), ("A100 (MIG mode)", "53.2")],
)
def test_each_column_of_a_table_is_its_own_card(cited, db, name, figure):
    setting = {
        "params__precision": "fp16",
        "params__batch": 32,
        "params__sequence": 384,
        "benchmark": "inference-latency",
    }
    assert name in CitedResult.objects.filter(**EFFECTIVE, **setting, value=figure).values_list(
        "reported_name", flat=True
    )


def test_only_the_t4_has_rows_of_the_t4(cited, db):
    assert not CitedResult.objects.filter(**FASTER, reported_name="NVIDIA T4", value="8.98").exists()
    assert not CitedResult.objects.filter(reason__startswith="another card's column").exists()


@pytest.mark.parametrize(("source", "model"), [("50", "DCNv2"), ("51", "DLRM")])
def test_figures_in_millions_are_millions(cited, db, source, model):
    rows = CitedResult.objects.filter(source__key=f"nvidia-deeplearningexamples-{source}", unit="item/s")
    assert set(rows.values_list("params__model", flat=True)) == {model}
    assert min(rows.values_list("amount", flat=True)) > 500_000
    assert all("printed in millions" in note for note in rows.values_list("note", flat=True))


def test_base_and_large_are_two_models(cited, db):
    rows = CitedResult.objects.filter(source__key="nvidia-deeplearningexamples-48", benchmark="inference-throughput")
    assert set(rows.values_list("params__model", "state")) >= {("BERT-base", "public"), ("BERT-large", "public")}


def test_batch_sizes_of_a_table_are_no_models(cited, db):
    rows = CitedResult.objects.filter(source__key="ascend-modelzoo-pytorch-310-310p-t4-tables-4")
    assert set(rows.values_list("params__model", flat=True)) == {"GoogleNet"}
    assert set(rows.values_list("params__batch", flat=True)) == {1, 4, 8, 16, 32, 64}


def refusal(**changes):
    line = LINE | changes
    reader = LineReader(CITED_BENCHMARKS["llama-bench"], {LINE["source"]}, {LINE["accelerator"]})
    with pytest.raises(LineError) as error:
        reader.line(list(line.values()))
    return error.value.field, str(error.value)


@pytest.mark.parametrize(
    "model", ["64", "最优bs", "最优batch", "doc", "tensorrt", "trtis_cpp", "base", "README.md", "docs/"]
)
def test_what_is_no_model_is_refused(model):
    field, problem = refusal(params=f"model={model}; quant=Q4_0; test=tg128")
    assert field == "params"
    assert "not known, because" in problem


@pytest.mark.parametrize("value", ["2.23M", "13.9k", "1.2 G", "12 ms", "80 image/s"])
def test_a_suffix_nobody_parsed_is_refused(value):
    field, problem = refusal(value=value)
    assert field == "value"
    assert "not known, because" in problem
