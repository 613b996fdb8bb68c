"""`llm-prefill`: a prompt read by a language model, up to the logits of its last token."""

from typing import Any

from stackviz.report.measuring.benchmark import AnyParams, Benchmark, Params, Prepared, gettext_noop, uniform_as
from stackviz.report.measuring.language_model import (
    MODELS,
    causal_attention,
    geometry,
    make_weights,
    making_bytes,
    pass_of,
    prepared_pass,
    program_of_pass,
    token_count,
)
from stackviz.report.measuring.weight_formats import QUANTIZED_BITS

__all__ = ["LLM_PREFILL"]


def _case(model: str, prompt: int, batch: int = 1, dtype: str = "bf16") -> Params:
    return {"model": model, "dtype": dtype, "batch": batch, "prompt": prompt}


_LIGHT = _case("135M", 128)
_ON_CPU = [_LIGHT, _case("135M", 128, dtype="fp32"), _case("135M", 512), _case("1B", 128)]
_ON_OTHERS = [
    _LIGHT,
    *(_case(model, prompt) for model in ("1B", "8B") for prompt in (512, 2048, 8192)),
    _case("1B", 512, batch=16),
    _case("8B", 512, batch=16),
    *({**_case("8B", 512), "weights": weights} for weights in QUANTIZED_BITS),
]


def _cases(kind: str, quick: bool) -> list[Params]:  # noqa: FBT001 (the signature of Benchmark.cases)
    if quick:
        return [_LIGHT] if kind == "cpu" else [_case("1B", 2048)]
    return _ON_CPU if kind == "cpu" else _ON_OTHERS


def _prepare(torch: Any, device: str, params: Params) -> Prepared:  # noqa: ANN401
    shape, dtype = MODELS[str(params["model"])], str(params["dtype"])
    batch, prompt = int(params["batch"]), int(params["prompt"])
    weights = make_weights(torch, device, shape, params)
    in_cache = (2, batch, shape.kv_heads, prompt, shape.head_width)
    x = uniform_as(torch, device, (batch, prompt, shape.width), dtype)
    cache = [torch.empty(in_cache, device=device, dtype=x.dtype) for _ in range(shape.layers)]
    by_head = (batch, prompt, -1, shape.head_width)

    def attend(layer: int, queries: Any, keys: Any, values: Any) -> Any:  # noqa: ANN401
        cached_keys, cached_values = cache[layer]
        cached_keys.copy_(keys.view(by_head).transpose(1, 2))
        cached_values.copy_(values.view(by_head).transpose(1, 2))
        mixed = torch.nn.functional.scaled_dot_product_attention(
            queries.view(by_head).transpose(1, 2), cached_keys, cached_values, is_causal=True, enable_gqa=True
        )
        return mixed.transpose(1, 2).reshape(queries.shape)

    return prepared_pass(torch, shape, weights, x, attend)


def _operations(params: AnyParams) -> float | None:
    """Each token sees itself and those before it; the output matrix sees the last one only."""
    known = pass_of(params, "prompt")
    if known is None:
        return None
    shape, prompt = known.shape, known.length
    in_layers = 2.0 * shape.layers * shape.layer_weights * prompt
    seen = prompt * (prompt + 1) / 2
    return known.batch * (in_layers + 2.0 * shape.head_weights + shape.attention_operations * seen)


def _bytes_moved(params: AnyParams) -> float | None:
    known = pass_of(params, "prompt")
    return known.bytes_moved if known else None


def _smaller(params: Params) -> tuple[Params, float] | None:
    """Of the smallest case a prompt of 16: a processor without units for bf16 takes seconds for 128 tokens."""
    smallest: Params = {**params, "model": "135M", "batch": 1, "prompt": 128}
    trial: Params = {**smallest, "prompt": 16} if params == smallest else smallest
    return trial, (_operations(params) or 0) / (_operations(trial) or 1)


def _working_set_bytes(params: Params) -> int:
    """Besides weights and cache what a layer hands to the next: some six arrays of its inner width."""
    known = geometry(params)
    shape, item_bytes = known or (MODELS["8B"], 4)
    handed_over = 6 * int(params["batch"]) * int(params["prompt"]) * shape.inner * item_bytes
    return int(_bytes_moved(params) or 0) + handed_over


def _script(params: Params) -> tuple[str, ...]:
    prompt = int(params["prompt"])
    return program_of_pass(params, prompt, prompt, causal_attention("c[0]", "c[1]"))


LLM_PREFILL = Benchmark(
    key="llm-prefill",
    version=1,
    title=gettext_noop("Language model: reading a prompt"),
    measures=gettext_noop("Tokens of a prompt per second that a language model with random weights reads."),
    runs=gettext_noop(
        "One pass of the prompt: all layers of a Llama geometry (grouped queries, causal attention, SwiGLU, RMSNorm; "
        "no rotary embedding), keys and values written to the cache, and the output matrix for the last token. "
        "int4 weights have a scale and a zero for each 64 of a row; int8 weights too by MLX, by torch a scale for each "
        "row."
    ),
    sizes="135M (SmolLM2), 1B (Llama 3.2), 8B (Llama 3.1); bf16, fp32; int8 and int4 weights; "
    "prompts of 128 to 8192; batch 1, 16",
    order=42,
    cases=_cases,
    light=_LIGHT,
    prepare=_prepare,
    working_set_bytes=_working_set_bytes,
    extra_bytes=making_bytes,
    smaller=_smaller,
    is_long=lambda _kind, params: int(params["batch"]) * int(params["prompt"]) > 2048,
    unit="token/s",
    work=lambda params: token_count(params, "prompt"),
    formula="batch·prompt / s",
    source="geometry from the config.json of HuggingFaceTB/SmolLM2-135M, Llama-3.2-1B and Llama-3.1-8B",
    operations=_operations,
    operations_formula="batch·(2·prompt·weights of layers + 2·output matrix"
    " + 2·layers·heads·head width·prompt·(prompt + 1))",
    bytes_moved=_bytes_moved,
    bytes_formula="weight bytes·weights + item·batch·prompt·2·layers·kv heads·head width",
    script=_script,
)
