"""What a language model's name and number format say of the least work for a token."""

import pytest

from stackviz.records.cited.bounds import least_work, parameters_in_name

BANDWIDTH, RATE = "memory_bandwidth_gb_s", "fp16_tensor_tflops"


@pytest.mark.parametrize(
    ("model", "parameters"),
    [
        ("Qwen2.5-14B", 14e9),
        ("Llama-3.1-8B", 8e9),
        ("Llama 3.2:3b", 3e9),
        ("Phi 4 Mini Reasoning 3.8B", 3.8e9),
        ("h2oai/h2ogpt-4096-llama2-70b-chat", 70e9),
        ("Qwen3-30B-A3B-Instruct-2507", 3e9),
        ("qwen3moe 30B.A3B", 3e9),
        ("granite-3.0-1b-a400m", 4e8),
        ("Gemma 4 E2B", 2e9),
        ("DeepSeek R1 14b", 14e9),
        ("gpt-oss 20b", None),
        ("Mixtral 46.7B", None),
        ("DeepSeek V3 671B", None),
        ("phi-4", None),
        ("BERT base", None),
    ],
)
def test_the_parameters_that_a_token_passes_stand_in_the_name(model, parameters):
    assert parameters_in_name(model) == parameters


@pytest.mark.parametrize(
    ("params", "work"),
    [
        ({"model": "Llama 3 8B", "quant": "F16", "test": "tg128"}, 16e9),
        ({"model": "Llama 3 8B", "quant": "Q4_K_M", "test": "tg128"}, 4e9),
        ({"model": "Llama 3 8B", "quant": "i1-Q4_K_M", "test": "tg"}, 4e9),
        ({"model": "Llama 3 8B", "quant": "UD-Q3_K_XL", "test": "tg"}, 3e9),
        ({"model": "Llama 3 8B", "quant": "4bit", "test": "tg"}, 4e9),
        ({"model": "Llama 3 8B", "precision": "EXL2 2.5 bpw"}, 2.5e9),
        ({"model": "Llama 3 8B", "precision": "gptq-int4"}, 4e9),
        ({"model": "Llama 3 8B", "precision": "AWQ 4-bit", "batch": 4}, 1e9),
        ({"model": "Llama 3 8B", "precision": "AWQ 4-bit", "batch": 4, "per": "user"}, 4e9),
        ({"model": "Llama 3 8B", "precision": "AWQ 4-bit", "batch": 0}, None),
        ({"model": "Llama 3 8B", "precision": "AWQ 4-bit", "batch": "1 to 4"}, None),
        ({"model": "Llama 3 8B", "precision": "GPTQ"}, None),
        ({"model": "Llama 3 8B", "quant": "Q4_0", "test": "pp512+tg128"}, None),
    ],
)
def test_decoding_reads_at_least_the_bits_of_the_format(params, work):
    assert least_work(params, BANDWIDTH) == work


def test_prompt_takes_two_operations_a_parameter():
    assert least_work({"model": "Llama 3 8B", "quant": "Q4_0", "test": "pp512"}, RATE) == 4e9
