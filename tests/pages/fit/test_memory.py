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


@pytest.mark.parametrize(
    ("model", "state_mib"),
    [("qwen-3.5-9b", 50.25), ("qwen-3.5-27b", 149.625), ("qwen-3.5-35b-a3b", 62.8125), ("qwen-3-next-80b-a3b", 75.375)],
)
def test_states_are_those_llama_cpp_logs(model, state_mib):
    """ "llama_memory_recurrent: size = 50.25 MiB (1 cells, 32 layers, 1 seqs)", whatever the context."""
    shape = MODELS[model].shape
    growing = cache_bytes(shape, 262_144, 8.5) - state_mib * MIB
    assert cache_bytes(shape, 0, 8.5) == state_mib * MIB
    if model == "qwen-3.5-9b":  # "llama_kv_cache: size = 4352.00 MiB (262144 cells, 8 layers, 1/1 seqs), K (q8_0)"
        assert growing == 4352 * MIB
    parts = sizes(inference_parts(load(model, context=4096, batch=4)))
    assert parts["cache"] == 4 * cache_bytes(shape, 4096, 16)


def test_layers_without_a_window_may_have_heads_of_their_size():
    """llama-bench prints 11.91 B for Gemma 4 12B and 25.23 B for Gemma 4 26B-A4B, its model card 30.7 B for 31B."""
    for model, printed in (("gemma-4-12b", 11.91), ("gemma-4-26b-a4b", 25.23), ("gemma-4-31b", 30.70)):
        assert MODELS[model].shape.parameters / 1e9 == pytest.approx(printed, abs=0.01)
    shape = MODELS["gemma-4-31b"].shape
    assert cache_bytes(shape, 32_768, 16) == 10 * 32_768 * 2 * 4 * 512 * 2 + 50 * 1024 * 2 * 16 * 256 * 2
    part = next(part for part in inference_parts(load("gemma-4-31b")) if part.key == "cache")
    assert part.worked == "(2 × 4 × 512 × 10 × 8,192 + 2 × 16 × 256 × 50 × 1,536) × 1 × 16 ÷ 8"
    attention = 50 * (2 * (5376 + 8192) + 2 * (5376 + 4096)) + 10 * (2 * (5376 + 16_384) + 5376 + 2048)
    assert adapter_parameters(shape, 1) == attention + 60 * 3 * (5376 + 21_504)


def test_a_delta_net_counts_as_many_weights_as_its_matrices():
    """llama-bench prints 26.90 B for Qwen 3.5 27B and 34.66 B for Qwen 3.5 35B-A3B."""
    for model, printed in (("qwen-3.5-27b", 26.90), ("qwen-3.5-35b-a3b", 34.66), ("qwen-3-next-80b-a3b", 79.67)):
        assert MODELS[model].shape.parameters / 1e9 == pytest.approx(printed, abs=0.01)


def test_adapters_are_on_delta_nets_too():
    shape = MODELS["qwen-3.5-9b"].shape
    of_attention = 8 * ((4096 + 2 * 4096) + 2 * (4096 + 1024) + (4096 + 4096))
    of_delta_nets = 24 * ((4096 + 12_288 + 64) + (4096 + 4096))
    of_mlp = 32 * 3 * (4096 + 12_288)
    assert adapter_parameters(shape, 1) == of_attention + of_delta_nets + of_mlp


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
