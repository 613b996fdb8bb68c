"""What llama.cpp prints of a model becomes the name that cited results have, or stays as printed."""

import csv

import pytest

from stackviz.records.cited import files
from stackviz.records.cited.parameters import read_params
from stackviz.records.cited.registry import CITED_BENCHMARKS
from stackviz.report.measuring.llama_bench import MODELS, WEIGHTS_BYTES, compared_model


@pytest.mark.parametrize(
    ("printed", "parameters", "model"),
    [
        ("llama 7B Q4_0", "6.74 B", {"model": "Llama 2 7B", "quant": "Q4_0"}),
        ("llama 7B mostly Q4_0", "6.74 B", {"model": "Llama 2 7B", "quant": "Q4_0"}),
        ("LLaMA 7B mostly F16", "6.74  B", {"model": "Llama 2 7B", "quant": "F16"}),
        ("llama 7B all F32", "6.74 B", {"model": "Llama 2 7B", "quant": "F32"}),
        ("llama 7B Q4_0", "7.24 B", {"model": "Mistral 7B", "quant": "Q4_0"}),
        ("llama 8B Q4_K - Medium", "8.03 B", {"model": "Llama 3 8B", "quant": "Q4_K_M"}),
        ("llama 8B Q4_K - Medium (guessed)", "8.03 B", {"model": "Llama 3 8B", "quant": "Q4_K_M"}),
        ("llama 70B Q3_K - Large", "70.55 B", {"model": "Llama 3 70B", "quant": "Q3_K_L"}),
        ("gpt-oss 20B MXFP4 MoE", "20.91 B", {"model": "gpt-oss 20B", "quant": "MXFP4"}),
        ("qwen3moe 30B.A3B Q8_0", "30.53 B", {"model": "qwen3moe 30B.A3B", "quant": "Q8_0"}),
        ("llama 8B IQ2_XS - 2.3125 bpw", "8.03 B", {"model": "Llama 3 8B", "quant": "IQ2_XS"}),
        ("llama 8B IQ3_S mix - 3.66 bpw", "8.03 B", {"model": "Llama 3 8B", "quant": "IQ3_M"}),
        ("llama 8B TQ1_0 - 1.69 bpw ternary", "8.03 B", {"model": "Llama 3 8B", "quant": "TQ1_0"}),
        ("deepseek2 30B.A3B BF16", "29.94 B", {"model": "deepseek2 30B.A3B", "quant": "BF16", "parameters": "29.94 B"}),
        ("llama 7B Q4_0", "6.61 B", {"model": "llama 7B", "quant": "Q4_0", "parameters": "6.61 B"}),
        ("llama 7B Q4_0", "", {"model": "llama 7B", "quant": "Q4_0"}),
        ("tiny.Q8_0", "", {"model": "tiny.Q8_0"}),
        ("not in the text", "", {"model": "not in the text"}),
        ("", "", {"model": ""}),
    ],
)
def test_the_printed_model_is_named(printed, parameters, model):
    assert compared_model(printed, parameters) == model


def cited_models() -> set[str]:
    with (files.DATA / "results" / "llama-bench.csv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    benchmark = CITED_BENCHMARKS["llama-bench"]
    return {str(read_params(row["params"], benchmark).get("model")) for row in rows}


def test_every_model_of_the_table_is_one_that_somebody_cited():
    assert set(MODELS.values()) <= cited_models()
    assert {model for model, _quant in WEIGHTS_BYTES} <= set(MODELS.values())


def test_labels_of_the_table_are_looked_up_in_small_letters():
    assert all(label == label.casefold() for label, _parameters in MODELS)
