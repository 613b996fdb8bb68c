"""The parts of what is needed, against logs and papers."""

import pytest

from stackviz.pages.fit.language_models import language_models
from stackviz.pages.fit.memory import Workload, cache_bytes, fullest_card, inference_parts
from stackviz.pages.fit.precisions import PRECISIONS
from stackviz.pages.fit.targets import GIB, memory_limit
from stackviz.pages.fit.training import TrainingRun, activation_bytes_per_token, adapter_parameters, training_parts

MIB = 2**20
MODELS = language_models()
Q4 = PRECISIONS["q4_k_m"]


def sizes(parts):
    return {part.key: part.size for part in parts}


def load(model, **more):
    return Workload(**{"shape": MODELS[model].shape, "precision": Q4, "context": 8192} | more)


def test_the_buffers_are_those_llama_cpp_logs():
    """ "Metal compute buffer size = 258.50 MiB", "KV buffer size = 1024.00 MiB" (GPU-Benchmarks-on-LLM-Inference)."""
    parts = sizes(inference_parts(load("llama-3-8b")))
    assert parts["activations"] / MIB == pytest.approx(258.5)
    assert parts["cache"] / MIB == 1024


def test_caches_are_bounded_by_windows_and_latent_attention():
    shape = MODELS["gpt-oss-20b"].shape
    assert cache_bytes(shape, 100, 16) == 24 * 100 * 2048
    assert cache_bytes(shape, 10_128, 16) == 12 * 10_128 * 2048 + 12 * 128 * 2048
    assert cache_bytes(MODELS["deepseek-v3"].shape, 1, 16) == 61 * 576 * 2


def test_the_cache_grows_with_batch_shrinks_with_precision():
    parts = sizes(inference_parts(load("llama-2-7b", context=4096, batch=4)))
    assert parts["cache"] == 4 * 2 * 32 * 4096 * 4096 * 2
    assert sizes(inference_parts(load("llama-2-7b", context=4096, cache_precision="q8_0")))["cache"] == pytest.approx(
        parts["cache"] / 4 * 8.5 / 16
    )


@pytest.mark.parametrize("split", ["pipeline", "tensor"])
@pytest.mark.parametrize("cards", [2, 3, 8])
def test_a_split_leaves_a_card_between_its_share_and_all(cards, split):
    one = load("llama-3-70b")
    parts = inference_parts(load("llama-3-70b", cards=cards))
    fullest = fullest_card(parts, one.shape, cards, split)
    assert sum(part.size for part in parts) / cards <= fullest * 1.000001
    assert fullest < fullest_card(inference_parts(one), one.shape, 1, split)


def test_full_mixed_training_takes_16_bytes_a_parameter():
    """ZeRO, section 3.1: 2 + 2 + 12 bytes."""
    shape = MODELS["llama-2-7b"].shape
    parts = sizes(training_parts(TrainingRun(shape=shape, precision=PRECISIONS["bf16"], context=512)))
    states = sum(parts[key] for key in ("weights", "tables", "gradients", "master", "optimizer"))
    assert states == 16 * shape.parameters
    assert parts["logits"] == 512 * 32_000 * 8  # and their gradient, both in 32 bits


def test_bf16_training_with_sgd_takes_27_gb_for_llama_2_7b():
    """torchtune, pull request 389: 13.5 GB of weights and as much of gradients, none for the optimizer."""
    run = TrainingRun(
        shape=MODELS["llama-2-7b"].shape, precision=PRECISIONS["bf16"], context=512, optimizer="sgd", has_master=False
    )
    parts = sizes(training_parts(run))
    assert parts["weights"] + parts["tables"] + parts["gradients"] + parts["optimizer"] == pytest.approx(27e9, rel=0.01)


def test_activations_are_those_of_korthikanti_without_dropout():
    """34 x hidden bytes a token and layer for the MLP of four times the width; 2 of them are masks of dropout."""
    shape = MODELS["falcon-7b"].shape
    full_heads = type(shape)(
        layers=1, hidden=4096, heads=32, kv_heads=32, head_size=128, intermediate=16384, vocabulary=1, is_gated=False
    )
    assert activation_bytes_per_token(full_heads, 16) == 32 * 4096


def test_adapters_of_rank_8_have_20_million_parameters():
    """PEFT prints 19,988,480 trainable parameters for all linear layers at rank 8."""
    assert adapter_parameters(MODELS["llama-2-7b"].shape, 8) == 19_988_480


def test_checkpoints_save_memory_and_lora_no_gradients():
    shape = MODELS["llama-3-8b"].shape
    common = {"shape": shape, "context": 4096}
    full = sizes(training_parts(TrainingRun(**common, precision=PRECISIONS["bf16"], checkpointing="none")))
    kept = sizes(training_parts(TrainingRun(**common, precision=PRECISIONS["bf16"])))
    lora = sizes(training_parts(TrainingRun(**common, precision=PRECISIONS["nf4"], method="lora")))
    assert kept["activations"] < full["activations"] / 10
    assert "gradients" not in lora
    assert sum(lora.values()) < sum(kept.values()) / 5


@pytest.mark.parametrize(
    ("vendor", "kind", "printed", "more", "usable"),
    [
        ("apple", "soc", 8, {}, 5726.63e6),  # logged on an M1
        ("apple", "soc", 16, {}, 11453.25e6),  # logged on an M3
        ("apple", "soc", 192, {}, 154618.82e6),  # logged on an M2 Ultra
        ("apple", "soc", 32, {"reported": 26800.60e6}, 26800.60e6),  # logged on an M5 with macOS 26
        ("nvidia", "gpu", 48, {"has_inband_ecc": True}, 0.99 * 45 * GIB),  # 46,068 MiB reported by an RTX A6000
        ("nvidia", "gpu", 24, {}, 0.99 * 24 * GIB),
        ("nvidia", "soc", 128, {}, 0.9 * 128e9),
        ("google", "asic", 16, {}, 0.97 * 16e9),
    ],
)
def test_the_limit_of_each_kind_of_memory(vendor, kind, printed, more, usable):
    limit = memory_limit(vendor=vendor, kind=kind, printed_gb=printed, **more)
    assert limit.usable == pytest.approx(usable, rel=1e-4)
