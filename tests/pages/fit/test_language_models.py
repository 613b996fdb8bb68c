"""The table of models: what is printed agrees with what the shape comes to, and every row says where it is from."""

from urllib.parse import urlsplit

import pytest

from stackviz.pages.fit.language_models import language_models, model_named, precision_named
from stackviz.pages.fit.precisions import PRECISIONS

MODELS = language_models()
TOLERANCE = 0.015
ROUNDED = {"falcon-40b", "qwen-3.5-0.8b", "qwen-3.5-4b"}  # their notes say why


def test_the_well_known_models_are_there():
    wanted = {
        "llama-2-7b", "llama-2-13b", "llama-2-70b", "llama-3-8b", "llama-3-70b", "llama-3.1-405b", "llama-3.2-1b",
        "llama-3.2-3b", "mistral-7b", "mixtral-8x7b", "qwen-2.5-0.5b", "qwen-2.5-14b", "qwen-2.5-72b", "qwen-3-8b",
        "qwen-3-30b-a3b", "qwen-3-235b-a22b", "gpt-oss-20b", "gpt-oss-120b", "gemma-2-9b", "gemma-3-27b", "phi-4",
        "phi-3-mini", "deepseek-v3", "yi-34b", "falcon-40b", "glm-4.5-air", "kimi-k2", "minimax-m2", "llama-4-scout",
        "qwen-3.5-27b",
    }  # fmt: skip
    assert wanted <= set(MODELS)
    assert len(MODELS) >= 35


@pytest.mark.parametrize("slug", sorted(MODELS))
def test_printed_parameters_have_a_source_and_the_shape(slug):
    model = MODELS[slug]
    agrees = model.shape.parameters == pytest.approx(model.parameters, rel=TOLERANCE)
    assert agrees is (slug not in ROUNDED)
    assert agrees or "rounded" in model.note
    for title, url in ((model.source_title, model.source_url), (model.count_title, model.count_url)):
        assert title
        assert urlsplit(url).scheme == "https"


@pytest.mark.parametrize("slug", sorted(slug for slug, model in MODELS.items() if model.active_parameters))
def test_printed_active_parameters_are_those_of_the_shape(slug):
    model = MODELS[slug]
    active = model.shape.active_parameters
    with_embedding = active + model.shape.tensors["embedding"]
    closest = min((active, with_embedding), key=lambda count: abs(count - model.active_parameters))
    assert closest == pytest.approx(model.active_parameters, rel=0.02)


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("LLaMA 7B v2", "llama-2-7b"),
        ("Llama 3.1 8B Instruct", "llama-3.1-8b"),
        ("Meta-Llama-3.1-8B-Instruct-4bit", "llama-3.1-8b"),
        ("gpt-oss-120b", "gpt-oss-120b"),
        ("qwen3moe 30B.A3B", "qwen-3-30b-a3b"),
        ("Qwen/Qwen3-4B-Instruct-2507", "qwen-3-4b"),
        ("gemma-3-12b-it-4bit", "gemma-3-12b"),
        ("gemma-3-27b-it-qat", "gemma-3-27b"),
        ("qwen35moe 35B.A3B", "qwen-3.5-35b-a3b"),
        ("gemma4:31b-mlx", "gemma-4-31b"),
        ("Qwen3.6-27B-MLX-4bit", "qwen-3.5-27b"),
        ("Qwen2.5-Coder-32B-Instruct-AWQ", "qwen-2.5-32b"),
        ("qwen3-coder:30b-UD-Q4_K_XL", "qwen-3-30b-a3b"),
        ("deepseek-ai/DeepSeek-R1-Distill-Qwen-1.5B", "qwen-2.5-1.5b"),
        ("Mistral-Small-3.2-24B-Instruct-2506", "mistral-small-24b"),
    ],
)
def test_benchmarks_names_lead_to_the_model(name, slug):
    assert model_named(name).slug == slug


@pytest.mark.parametrize(
    ("written", "precision"),
    [
        ("Q4_K - Medium", "q4_k_m"),
        ("F16", "f16"),
        ("4bit", "mlx-4bit"),
        ("AWQ 4-bit", "int4"),
        ("GPTQ-Int4", "int4"),
        ("FP8", "fp8"),
        ("Q3_K_XL", ""),
    ],
)
def test_a_written_quantisation_leads_to_the_precision(written, precision):
    assert precision_named(written) == precision
    assert not precision or precision in PRECISIONS


def test_every_name_leads_to_its_own_model():
    for model in MODELS.values():
        for name in (model.slug, model.name, *model.names):
            assert model_named(name) is model, name
    for name in ("Gemma 4 E2B", "DeepSeek V4", "", "7B"):  # none of ours
        assert model_named(name) is None, name
