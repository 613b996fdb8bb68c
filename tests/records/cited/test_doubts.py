"""What arithmetic finds doubtful: impossible figures, far too slow ones, and settings with a lost parameter."""

import pytest

from stackviz.records.catalog.models import Accelerator
from stackviz.records.cited.doubts import ABOVE_THE_PEAK, FAR_TOO_SLOW, LOST_PARAMETER, bandwidth_share, doubts
from stackviz.records.cited.models import CitedResult, CitedSource
from stackviz.records.cited.queries import peaks_by_accelerator
from stackviz.records.cited.registry import CITED_BENCHMARKS
from stackviz.records.cited.work import least_need

PUBLIC = CitedResult.State.PUBLIC
RATE = "fp16_tensor_tflops"


@pytest.mark.parametrize(
    ("key", "params", "amount", "count", "needs"),
    [
        ("inference-latency", {"model": "BERT-base", "sequence": 128, "batch": 8}, 0.01, 1, 2 * 85e6 * 128 * 8 / 0.01),
        ("inference-throughput", {"model": "ViT B_16-224"}, 100, 2, 35e9 * 50),
        ("inference-throughput", {"model": "resnet50", "input": "448"}, 100, 1, 7.6e9 / 2.25 * 4 * 100),
        ("train-throughput", {"model": "VGG16"}, 10, 1, 3 * 30.9e9 / 2.25 * 10),
        ("model-time", {"model": "resnet152", "mode": "train", "batch": 16}, 0.1, 1, 3 * 22.6e9 / 2.25 * 160),
        ("llm-throughput", {"model": "Llama 3.3 70B"}, 8000, 8, 140e12),
        ("train-tokens-per-device", {"model": "LLAMA3_70B"}, 1000, 64, 420e12),
        ("train-tokens-per-device", {"model": "llama2_7b_finetune-pytorch"}, 1000, 8, 28e12),
        ("llm-time-to-first-token", {"model": "Llama-3-70B", "input_tokens": 1000}, 0.5, 1, 280e12),
        ("llm-inter-token-latency", {"model": "Qwen/Qwen3-8B", "precision": "bf16"}, 0.01, 2, 0.8e12),
        ("operator-time", {"op": "MatMul", "shape": "dim=10x64x1024 dim=10x1024x32"}, 1e-3, 1, 2 * 655_360 * 32 * 1e3),
        ("average-power", {}, 1400, 2, 700),
    ],
)  # fmt: skip
def test_a_result_says_what_it_needs_at_least(key, params, amount, count, needs):
    assert least_need(CITED_BENCHMARKS[key], params, amount, count).amount == pytest.approx(needs)


@pytest.mark.parametrize(
    ("key", "params"),
    [
        ("inference-throughput", {"model": "a network of tomorrow"}),
        ("inference-throughput", {"model": "BERT-base"}),
        ("model-time", {"model": "resnet50 cifar100", "per": "epoch"}),
        ("llm-throughput", {"model": "DeepSeek-R1"}),
        ("train-tokens-per-device", {"model": "GPT OSS 120B"}),
        ("fluidx3d", {"precision": "FP32/FP32"}),
    ],
)
def test_what_the_names_do_not_say_is_left_open(key, params):
    assert least_need(CITED_BENCHMARKS[key], params, 1.0, 1) is None


def test_four_bits_may_use_the_units_for_four_bits():
    fields = {
        precision: least_need(
            CITED_BENCHMARKS["inference-throughput"], {"model": "resnet50", "precision": precision}, 1, 1
        ).fields
        for precision in ("int8", "mixed", "fp32 (tf32 where available)")
    }
    assert "fp4_tensor_tflops" in fields["int8"]
    assert RATE in fields["mixed"]
    assert "int8_tensor_tops" not in fields["mixed"]
    assert RATE not in fields["fp32 (tf32 where available)"]


@pytest.fixture
def make(curated, db):
    """`make(value, ...)`: a result that is not saved, of a language model on an RTX 4090 where nothing else is given."""
    source = CitedSource.objects.create(key="mine", title="Mine", url="https://example.org/")

    def result(value, slug="nvidia-geforce-rtx-4090", benchmark="localscore", unit="token/s", **changes):
        params = {"model": "Llama-3.1-8B", "quant": "Q4_K_M", "test": "tg"}
        row = CitedResult(
            accelerator=Accelerator.objects.get(slug=slug), reported_name=slug, source=source, value=str(value),
            **{"benchmark": benchmark, "params": params, "unit": unit} | changes,
        )  # fmt: skip
        row.normalise()
        return row

    return result


def test_the_card_of_another_column_is_impossible(make):
    """8.98 ms of BERT-base is a V100's; a T4 would need 3.5 times its peak."""
    params = {"model": "BERT-base", "precision": "fp16", "batch": 128, "sequence": 128}
    row = make("8.98", "nvidia-t4", "inference-latency", "ms", params=params)
    assert doubts([row]) == {0: ABOVE_THE_PEAK}


def test_a_rate_far_below_its_bound_and_the_others_is_doubtful(make):
    params = {"quant": "Q4_K_M", "test": "tg"}
    others = [make(rate, params=params | {"model": f"Qwen2.5-{size}B"}) for rate, size in ((75, 14), (30, 32))]
    slow = make(20)
    assert doubts([slow, *others]) == {0: FAR_TOO_SLOW}
    assert doubts([make(120), *others]) == {}
    assert doubts([slow]) == {}


def test_small_models_and_several_cards_are_not_called_slow(make):
    small = make(335, params={"model": "Llama-3.2-1B", "quant": "Q4_K_M", "test": "tg"})
    assert bandwidth_share(small, peaks_by_accelerator()[small.accelerator_id]) > 0.25
    several = make(20, count=8)
    assert bandwidth_share(several, peaks_by_accelerator()[several.accelerator_id]) is None


def test_equal_settings_with_unequal_figures_lost_a_parameter(make):
    assert doubts([make(60), make(91), make(80, software={"build": "b2"})]) == dict.fromkeys((0, 1), LOST_PARAMETER)
    assert doubts([make(60), make(89)]) == {}


def rows_of(source, **known):
    return CitedResult.objects.filter(source__key=source, **known)


@pytest.mark.parametrize(
    ("source", "known"),
    [
        ("aitemplate-examples-reference-speed-3", {"params__engine": "AITemplate", "params__batch": 1}),
        ("localscore-leaderboard", {"value": "1563.57"}),
        ("localscore-leaderboard", {"value": "23.41"}),
        ("clpeak-stored-results-2", {"params__test": "Global memory bandwidth", "amount__lt": 13e9}),
    ],
)
def test_known_wrong_rows_of_the_shipped_data_are_doubtful(cited, db, source, known):
    rows = rows_of(source, **known)
    assert rows.exists()
    assert set(rows.values_list("state", flat=True)) == {"doubtful"}
    assert all(rows.values_list("reason", flat=True))


def test_shipped_public_results_hold_every_rule(cited, db):
    rows = list(CitedResult.objects.filter(state=PUBLIC).select_related("accelerator"))
    assert len(rows) > 25_000
    assert not set(doubts(rows).values()) & {ABOVE_THE_PEAK, LOST_PARAMETER}
