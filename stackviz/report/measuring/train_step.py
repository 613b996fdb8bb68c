"""`train-step`: one step of training a language model: forward, loss, backward, and the update of all weights."""

import time
from collections.abc import Callable
from typing import Any

from stackviz.report.measuring.benchmark import (
    FLOAT_BYTES,
    AnyParams,
    Benchmark,
    Params,
    Prepared,
    Unavailable,
    float_type,
    gettext_noop,
)
from stackviz.report.measuring.language_model import (
    MODELS,
    Geometry,
    Weights,
    causal_attention,
    make_weights,
    making_bytes,
    pass_of,
    program_of_layers,
    program_of_sizes,
    through_layers,
    token_count,
)

__all__ = ["TRAIN_STEP"]

_LEARNING_RATE = 1e-4  # so small that each of the first steps lowers the loss
_PASSES = 3  # forward once; backward twice the operations: gradients of the weights and of what they multiply
# Of each number of the weights: read forward and backward, gradient written; AdamW reads it, its gradient and two
# moments, and writes it and the moments.
_ACCESSES = 10
# So many times as long as 16 tokens the smallest case takes, which has 128, in fp32 by the time of a processor: eight
# times the operations, but as many weights to update. In a type that is emulated it takes longer.
_LONGER_THAN_16_TOKENS = 2.4
_STORED = 4  # of each number of the weights: itself, gradient, two moments


def _case(model: str, batch: int, sequence: int, dtype: str = "bf16", mode: str = "eager") -> Params:
    return {"model": model, "dtype": dtype, "batch": batch, "sequence": sequence, "mode": mode}


_LIGHT = _case("135M", 1, 128, dtype="fp32")
_SHAPES = (("135M", 8, 1024), ("1B", 1, 2048), ("1B", 4, 2048))


def _cases(kind: str, quick: bool) -> list[Params]:  # noqa: FBT001 (the signature of Benchmark.cases)
    """A quick run of a processor has no seconds to spare; `torch.compile` needs Triton on an accelerator."""
    if kind == "cpu":
        return [] if quick else [_LIGHT, _case("135M", 1, 128)]
    if quick:
        return [_case("135M", 8, 1024)]
    modes = ("eager", "compiled") if kind in {"cuda", "xpu"} else ("eager",)
    return [_case(*shape, mode=mode) for mode in modes for shape in _SHAPES]


def _prepare(torch: Any, device: str, params: Params) -> Prepared:  # noqa: ANN401
    """Gradients need tensors made outside of inference mode, which measuring is in."""
    with torch.inference_mode(mode=False), torch.enable_grad():
        return _prepared(torch, device, params)


def _prepared(torch: Any, device: str, params: Params) -> Prepared:  # noqa: ANN401
    shape = MODELS[str(params["model"])]
    weights = make_weights(torch, device, shape, params)
    trained = [weights.head, *(each for layer in weights.layers for each in layer)]
    for each in trained:
        each.requires_grad_()
    optimizer = torch.optim.AdamW(trained, lr=_LEARNING_RATE)
    tokens = torch.randint(shape.vocabulary, (int(params["batch"]), int(params["sequence"]) + 1), device=device)

    def loss_of() -> Any:  # noqa: ANN401
        return _loss(torch, shape, weights, tokens)

    first = float(loss_of().detach())
    step_loss, compile_s = _compiled(torch, loss_of, trained) if params["mode"] == "compiled" else (loss_of, None)

    def run() -> None:
        with torch.inference_mode(mode=False), torch.enable_grad():
            step_loss().backward()
            optimizer.step()
            optimizer.zero_grad()

    def check() -> str | None:
        now = float(loss_of().detach())
        return None if now < first else f"training does not lower the loss: {first:.4g} before, {now:.4g} after"

    compilation = {} if compile_s is None else {"compile_s": compile_s}
    return Prepared(run=run, output=weights.head, check=check, conditions={"inputs": "uniform", **compilation})


def _loss(torch: Any, shape: Geometry, weights: Weights, tokens: Any) -> Any:  # noqa: ANN401
    """Cross-entropy of each next token; the output matrix is the table of embeddings too, as in both models."""
    functional = torch.nn.functional
    read, expected = tokens[:, :-1], tokens[:, 1:]
    by_head = (*read.shape, -1, shape.head_width)

    def attend(_layer: int, *given: Any) -> Any:  # noqa: ANN401
        heads = (each.view(by_head).transpose(1, 2) for each in given)
        mixed = functional.scaled_dot_product_attention(*heads, is_causal=True, enable_gqa=True)
        return mixed.transpose(1, 2).reshape(given[0].shape)

    x = through_layers(torch, shape, weights, functional.embedding(read, weights.head), attend)
    logits = functional.linear(functional.rms_norm(x, (shape.width,)), weights.head)
    return functional.cross_entropy(logits.flatten(0, 1).float(), expected.flatten())


def _compiled(torch: Any, loss_of: Callable[[], Any], trained: list[Any]) -> tuple[Callable[[], Any], float]:  # noqa: ANN401
    """-> (the compiled function, the seconds that its first forward and backward pass took)."""
    compiled = torch.compile(loss_of)
    started = time.perf_counter()
    try:
        compiled().backward()
    except torch._dynamo.exc.TorchDynamoException as error:  # noqa: SLF001 (torch documents no other name)
        raise Unavailable(f"torch.compile does not work here: {str(error).splitlines()[0][:200]}") from error
    for each in trained:
        each.grad = None
    return compiled, round(time.perf_counter() - started, 3)


def _operations(params: AnyParams) -> float | None:
    """All matrices see each token, the output matrix too; a token sees itself and those before it."""
    known = pass_of(params, "sequence")
    if known is None:
        return None
    shape, length = known.shape, known.length
    forward = 2.0 * shape.read_weights * length + shape.attention_operations * length * (length + 1) / 2
    return _PASSES * known.batch * forward


def _bytes_moved(params: AnyParams) -> float | None:
    """Of the weights alone: what lies between the layers may stay in caches."""
    known = pass_of(params, "sequence")
    return _ACCESSES * known.item_bytes * known.shape.read_weights if known else None


def _working_set_bytes(params: Params) -> int:
    """Weights, gradients and moments; what the layers keep for the backward pass; logits twice in 32 bits and once in
    their own type.
    """
    shape, item = MODELS[str(params["model"])], FLOAT_BYTES[str(params["dtype"])]
    tokens = int(params["batch"]) * int(params["sequence"])
    of_layers = shape.layers * (8 * shape.width + 2 * shape.qkv_rows + 4 * shape.inner) * item
    return _STORED * item * shape.read_weights + tokens * (of_layers + shape.vocabulary * (8 + item))


def _smaller(params: Params) -> tuple[Params, float] | None:
    dtype = str(params["dtype"])
    trial = _case("135M", 1, 128, dtype=dtype)
    if params == trial:
        return _case("135M", 1, 16, dtype=dtype), _LONGER_THAN_16_TOKENS
    return trial, (_operations(params) or 0) / (_operations(trial) or 1)


def _script(params: Params) -> tuple[str, ...]:
    shape = MODELS[str(params["model"])]
    loss = (
        "def loss(x):",
        *program_of_layers(causal_attention("k", "v")),
        "    return F.cross_entropy(F.linear(norm(x), head).flatten(0, 1).float(), ids[:, 1:].flatten())",
    )
    return (
        program_of_sizes(shape),
        f"B, T, F, linear = {params['batch']}, {params['sequence']}, torch.nn.functional, torch.nn.functional.linear",
        (
            "def r(*s): return (torch.empty(s, device=device).uniform_(-1, 1) * (3 / s[-1]) ** 0.5)"
            f".to(torch.{float_type(params['dtype'])}).requires_grad_()"
        ),
        "W = [(r((H + 2 * K) * d, D), r(D, H * d), r(2 * I, D), r(D, I)) for _ in range(L)]",
        "head, norm, ids = r(V, D), lambda x: F.rms_norm(x, (D,)), torch.randint(V, (B, T + 1), device=device)",
        *loss,
        f"optimizer = torch.optim.AdamW([head, *(w for layer in W for w in layer)], lr={_LEARNING_RATE:g})"
        + ("; loss = torch.compile(loss)" if params["mode"] == "compiled" else ""),
        "def run(): loss(F.embedding(ids[:, :-1], head)).backward(); optimizer.step(); optimizer.zero_grad()",
    )


TRAIN_STEP = Benchmark(
    key="train-step",
    version=1,
    title=gettext_noop("Training step of a language model"),
    measures=gettext_noop("Tokens per second that a language model with random weights is trained on."),
    runs=gettext_noop(
        "Forward pass, cross-entropy of each next token, backward pass, and AdamW's update of all weights: a Llama "
        "geometry (no rotary embedding) with weights, gradients and moments in one type, nothing computed twice to "
        "save memory. `compiled` is `torch.compile` of forward and backward pass."
    ),
    sizes="135M (SmolLM2), 1B (Llama 3.2); bf16, fp32; 128 to 8192 tokens a step; eager, compiled on CUDA and XPU",
    order=44,
    cases=_cases,
    light=_LIGHT,
    prepare=_prepare,
    working_set_bytes=_working_set_bytes,
    extra_bytes=making_bytes,
    smaller=_smaller,
    is_long=lambda _kind, params: params["mode"] == "compiled",
    unit="token/s",
    work=lambda params: token_count(params, "sequence"),
    formula="batch·sequence / s",
    source="the share of the peak is PaLM's model FLOP utilization (MFU), of attention only what is not masked: "
    "Chowdhery et al., arXiv:2204.02311, appendix B; geometry from the config.json of HuggingFaceTB/SmolLM2-135M and "
    "Llama-3.2-1B",
    operations=_operations,
    operations_formula="3·batch·(2·sequence·weights + 2·layers·heads·head width·sequence·(sequence + 1))",
    bytes_moved=_bytes_moved,
    bytes_formula="10·item·weights",
    script=_script,
)
