"""`llm-decode`: one more token for each sequence of a language model with a full cache of keys and values."""

from typing import Any

from stackviz.report.measuring.benchmark import AnyParams, Benchmark, Params, Prepared, gettext_noop, uniform_as
from stackviz.report.measuring.language_model import (
    MODELS,
    make_weights,
    making_bytes,
    pass_of,
    prepared_pass,
    program_of_pass,
)
from stackviz.report.measuring.weight_formats import QUANTIZED_BITS

__all__ = ["LLM_DECODE"]


def _case(model: str, batch: int = 1, context: int = 512, dtype: str = "bf16") -> Params:
    return {"model": model, "dtype": dtype, "batch": batch, "context": context}


_LIGHT = _case("135M")
_ON_CPU = [
    _LIGHT,
    _case("135M", dtype="fp32"),
    *({**_case("135M"), "weights": weights} for weights in QUANTIZED_BITS),
    _case("1B"),
    _case("1B", batch=16),
]
_ON_OTHERS = [
    _LIGHT,
    *(_case("1B", batch, context) for batch in (1, 16, 64) for context in (512, 4096)),
    *(_case("8B", batch, context) for batch in (1, 16) for context in (512, 4096)),
    _case("8B", context=32768),
    *({**_case(model), "weights": weights} for model in ("1B", "8B") for weights in QUANTIZED_BITS),
]


def _cases(kind: str, quick: bool) -> list[Params]:  # noqa: FBT001 (the signature of Benchmark.cases)
    if quick:
        return [_LIGHT] if kind == "cpu" else [_case("1B")]
    return _ON_CPU if kind == "cpu" else _ON_OTHERS


def _prepare(torch: Any, device: str, params: Params) -> Prepared:  # noqa: ANN401
    """Queries that share a key are rows of one product: nothing is copied for them, and the cache is read once."""
    shape, dtype = MODELS[str(params["model"])], str(params["dtype"])
    batch, context = int(params["batch"]), int(params["context"])
    weights = make_weights(torch, device, shape, params)
    first = uniform_as(torch, device, (2, batch, shape.kv_heads, context, shape.head_width), dtype)
    cache = [first, *(first.clone() for _ in range(shape.layers - 1))]
    x = uniform_as(torch, device, (batch, 1, shape.width), dtype)
    grouped = (batch, shape.kv_heads, shape.heads // shape.kv_heads, shape.head_width)
    of_token = (batch, shape.kv_heads, shape.head_width)

    def attend(layer: int, queries: Any, keys: Any, values: Any) -> Any:  # noqa: ANN401
        cached_keys, cached_values = cache[layer]
        cached_keys[:, :, -1] = keys.view(of_token)
        cached_values[:, :, -1] = values.view(of_token)
        product = torch.nn.functional.scaled_dot_product_attention
        return product(queries.view(grouped), cached_keys, cached_values).reshape(queries.shape)

    return prepared_pass(torch, shape, weights, x, attend)


def _tokens(params: AnyParams) -> float | None:
    known = pass_of(params, "context")
    return known.batch if known else None


def _operations(params: AnyParams) -> float | None:
    known = pass_of(params, "context")
    if known is None:
        return None
    shape = known.shape
    return known.batch * (2.0 * shape.read_weights + shape.attention_operations * known.length)


def _bytes_moved(params: AnyParams) -> float | None:
    known = pass_of(params, "context")
    return known.bytes_moved if known else None


def _smaller(params: Params) -> tuple[Params, float] | None:
    if params["model"] == "135M":
        return None
    trial: Params = {**params, "model": "135M", "batch": 1, "context": 512}
    return trial, max((count(params) or 0) / (count(trial) or 1) for count in (_operations, _bytes_moved))


def _script(params: Params) -> tuple[str, ...]:
    attend = "F.scaled_dot_product_attention(q.reshape(B, K, H // K, d), c[0], c[1]).reshape(B, T, H * d)"
    return program_of_pass(params, 1, int(params["context"]), attend)


LLM_DECODE = Benchmark(
    key="llm-decode",
    version=1,
    title=gettext_noop("Language model: decoding"),
    measures=gettext_noop(
        "Tokens per second that a language model with random weights writes, for all sequences of a batch together."
    ),
    runs=gettext_noop(
        "One more token for each sequence: all layers of a Llama geometry (grouped queries, SwiGLU, RMSNorm; no rotary "
        "embedding) and the output matrix, operator by operator, without a compiler; `context` tokens are in the "
        "cache, the new one among them. int4 weights have a scale and a zero for each 64 of a row; int8 weights too by "
        "MLX, by torch a scale for each row."
    ),
    sizes="135M (SmolLM2), 1B (Llama 3.2), 8B (Llama 3.1); bf16, fp32; int8 and int4 weights; "
    "batch 1, 16, 64; context 512, 4096, 32768",
    order=40,
    cases=_cases,
    light=_LIGHT,
    prepare=_prepare,
    working_set_bytes=lambda params: int(_bytes_moved(params) or 0),
    extra_bytes=making_bytes,
    smaller=_smaller,
    is_long=lambda _kind, params: int(params["context"]) > 4096 or (params["model"], params["batch"]) == ("8B", 16),
    unit="token/s",
    work=_tokens,
    formula="batch / s",
    source="geometry from the config.json of HuggingFaceTB/SmolLM2-135M, Llama-3.2-1B and Llama-3.1-8B",
    operations=_operations,
    operations_formula="batch·(2·weights + 4·layers·heads·head width·context)",
    bytes_moved=_bytes_moved,
    bytes_formula="weight bytes·weights + item·batch·context·2·layers·kv heads·head width",
    script=_script,
)
