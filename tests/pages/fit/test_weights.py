"""Weights in each precision come to the size of published files, and a pass reads what it must."""

import pytest

from stackviz.pages.fit.language_models import language_models
from stackviz.pages.fit.precisions import PRECISIONS, bytes_read, weight_bytes
from stackviz.pages.fit.shapes import ModelShape

GIB = 2**30
STRIX = "strix-halo-testing 5ee14b5: llama-bench logs"
GPUS = "GPU-Benchmarks-on-LLM-Inference aa72e0e: llama-bench logs"
SPARK = "llama.cpp 4c7e989: benches/dgx-spark.md"
DOCKER = "docker/model-cards a433166"
# model, precision, GiB of the file as its source prints it
FILES = [
    ("llama-2-7b", "q4_0", 3.56, STRIX),
    ("llama-2-7b", "q4_k_m", 3.80, STRIX),
    ("llama-2-7b", "q8_0", 6.67, STRIX),
    ("llama-2-7b", "f16", 12.55, STRIX),
    ("llama-3.1-405b", "q4_k_m", 226.37, STRIX),
    ("deepseek-v3", "q4_k_m", 376.65, STRIX),
    ("llama-3-8b", "q4_k_m", 4.58, GPUS),
    ("llama-3-8b", "f16", 14.96, GPUS),
    ("llama-3-70b", "q4_k_m", 39.59, GPUS),
    ("llama-3-70b", "f16", 131.42, GPUS),
    ("gpt-oss-20b", "mxfp4", 11.27, SPARK),
    ("gpt-oss-120b", "mxfp4", 59.02, SPARK),
    ("qwen-3-30b-a3b", "q8_0", 30.25, SPARK),
    ("llama-3-8b", "q4_0", 4.33, DOCKER),
    ("llama-3-70b", "q4_0", 37.22, DOCKER),
    ("llama-3.2-1b", "q8_0", 1.22, DOCKER),
    ("llama-3.2-3b", "q4_k_m", 1.87, DOCKER),
    ("mistral-7b", "q4_k_m", 4.07, DOCKER),
    ("mistral-nemo-12b", "q4_k_m", 6.96, DOCKER),
    ("phi-4", "q4_0", 7.80, DOCKER),
    ("qwen-2.5-7b", "q4_k_m", 4.36, DOCKER),
    ("qwen-2.5-14b", "q4_k_m", 8.37, DOCKER),
    ("qwen-2.5-32b", "q4_k_m", 18.48, DOCKER),
    ("qwen-3-8b", "q4_k_m", 4.68, DOCKER),
    ("qwen-3-14b", "q6_k", 11.28, DOCKER),
    ("gemma-3-4b", "q4_k_m", 2.31, DOCKER),
]


@pytest.mark.parametrize(("model", "precision", "size", "source"), FILES)
def test_weights_have_the_size_of_the_published_file(model, precision, size, source):
    computed = sum(weight_bytes(language_models()[model].shape, PRECISIONS[precision]).values())
    assert computed / GIB == pytest.approx(size, rel=0.005), source


TINY = ModelShape(layers=2, hidden=8, heads=2, kv_heads=1, head_size=4, intermediate=16, vocabulary=32)


def test_parameters_are_counted_by_tensor():
    # attention 8·4·(2 + 2·1) + 2·4·8, MLP 3·8·16, norms 2·8 a layer; two tables of 32·8; the last norm
    assert TINY.parameters == 2 * (8 * 4 * 4 + 8 * 8 + 3 * 8 * 16 + 2 * 8) + 2 * 32 * 8 + 8


def test_a_token_reads_everything_but_the_embedding():
    assert bytes_read(TINY, PRECISIONS["fp16"]) == 2 * (TINY.parameters - 32 * 8)


def test_a_token_of_a_model_with_experts_reads_its_share_of_them():
    shape = language_models()["gpt-oss-20b"].shape
    assert shape.active_experts(1) == 4
    assert 24 < shape.active_experts(12) < 32
    assert shape.active_experts(10_000) == pytest.approx(32)


@pytest.mark.parametrize("slug", sorted(PRECISIONS))
def test_every_precision_has_a_source_and_takes_bits(slug):
    precision = PRECISIONS[slug]
    assert precision.source_url.startswith("https://")
    for model in language_models().values():
        assert all(2 <= bits <= 32 for bits in precision.bits_of(model.shape).values())
