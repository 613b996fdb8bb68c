"""Benchmarks by MLX, of the same definitions as by torch: what an Apple GPU computes by MPS and by MLX compares."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from stackviz.report.measuring.attention import ATTENTION
from stackviz.report.measuring.benchmark import REPEATED_NUMBERS, Benchmark, Conditions, Params, Prepared, note_error
from stackviz.report.measuring.gemm import GEMM
from stackviz.report.measuring.language_model_in_mlx import (
    CHECKED,
    MLX_TYPES,
    decode_lines,
    prefill_lines,
    prepare_decode,
    prepare_prefill,
    relative_error_in_mlx,
    runner,
    takes_model,
    uniform_in_mlx,
)
from stackviz.report.measuring.llm_decode import LLM_DECODE
from stackviz.report.measuring.llm_prefill import LLM_PREFILL
from stackviz.report.measuring.memory import MEMORY

__all__ = ["DEVICE_KINDS", "MLX", "cases_on", "in_mlx"]

MLX = "mlx"
"""What stands where torch has the name of a device: MLX's own default device, the GPU of a Mac."""

DEVICE_KINDS = ("cuda", "xpu", "mps", MLX, "cpu")
"""As torch names them, and MLX's."""

_TOLERANCE = {"fp32": 5e-5, "fp16": 2e-2, "bf16": 5e-2}  # of the largest number, as by torch
_TOLERANCE_OF_ATTENTION = 0.05
_FACTOR = 1.5  # of a triad


@dataclass(frozen=True, slots=True)
class MlxRun:
    """A benchmark by MLX. `takes(params)`: whether MLX has the case; `lines(params)`: as `Benchmark.script`."""

    takes: Callable[[Params], bool]
    prepare: Callable[[Any, Params], Prepared]
    lines: Callable[[Params], tuple[str, ...]]


def in_mlx(known: Benchmark) -> MlxRun | None:
    """How MLX runs it; None where it does not."""
    return _RUNS.get(known.key)


def cases_on(known: Benchmark, kind: str, *, quick: bool) -> list[Params]:
    """Its cases on a kind of device: by MLX those that torch has on Macs, as far as MLX has them."""
    if kind != MLX:
        return known.cases(kind, quick)
    run = in_mlx(known)
    return [params for params in known.cases("mps", quick) if run.takes(params)] if run else []


# ---- gemm ----


def _prepare_gemm(mx: Any, params: Params) -> Prepared:  # noqa: ANN401
    m, n, k, dtype = (params[name] for name in ("m", "n", "k", "dtype"))
    a, b = uniform_in_mlx(mx, (int(m), int(k)), str(dtype)), uniform_in_mlx(mx, (int(k), int(n)), str(dtype))
    run, newest = runner(mx, lambda: a @ b)
    conditions: Conditions = {"inputs": "uniform"}

    def check() -> str | None:
        with mx.stream(mx.cpu):
            expected = a[:CHECKED].astype(mx.float64) @ b[:, :CHECKED].astype(mx.float64)
        off = note_error(conditions, relative_error_in_mlx(mx, newest[0][:CHECKED, :CHECKED], expected))
        return None if off < _TOLERANCE[str(dtype)] else f"the product is wrong: off by {off:.2g} of its largest value"

    return Prepared(run=run, output=a, check=check, conditions=conditions)


def _gemm_lines(params: Params) -> tuple[str, ...]:
    m, n, k = (params[name] for name in ("m", "n", "k"))
    dtype = MLX_TYPES[str(params["dtype"])]
    return (
        f"a = mx.random.uniform(-1, 1, ({m}, {k})).astype(mx.{dtype})",
        f"b = mx.random.uniform(-1, 1, ({k}, {n})).astype(mx.{dtype}); mx.eval(a, b)",
        "run = lambda: mx.async_eval(a @ b)",
    )


# ---- memory: what writes without reading, or copies, would write into a new array each time ----


def _prepare_memory(mx: Any, params: Params) -> Prepared:  # noqa: ANN401
    """Large arrays are a block of random numbers again and again, as by torch."""
    count = int(params["bytes"]) // 4
    block = uniform_in_mlx(mx, (min(count, REPEATED_NUMBERS),), "fp32")
    times = -(-count // REPEATED_NUMBERS)
    a = mx.tile(block, (times,))[:count]
    mx.eval(a)
    if params["op"] == "read":
        run, newest = runner(mx, lambda: mx.sum(a))

        def check() -> str | None:
            with mx.stream(mx.cpu):
                exact = block.astype(mx.float64)
                of_block, size = float(exact.sum()), float(exact.abs().sum())
            off = abs(float(newest[0]) / times - of_block) / size
            return None if off < _TOLERANCE["fp32"] else f"the sum is wrong: off by {off:.2g} of what it adds up"

        return Prepared(run=run, output=a, check=check, conditions={"inputs": "uniform"})
    c = mx.tile(block[::-1], (times,))[:count]
    mx.eval(c)
    triad = mx.compile(lambda added, scaled: added + _FACTOR * scaled)  # one kernel, as torch's `add` with alpha
    run, newest = runner(mx, lambda: triad(a, c))

    def check_ends() -> str | None:
        for ends in (slice(None, CHECKED), slice(-CHECKED, None)):
            with mx.stream(mx.cpu):
                expected = a[ends].astype(mx.float64) + _FACTOR * c[ends].astype(mx.float64)
            if not relative_error_in_mlx(mx, newest[0][ends], expected) < _TOLERANCE["fp32"]:
                return "the array that was written is wrong"
        return None

    return Prepared(run=run, output=a, check=check_ends, conditions={"inputs": "uniform"})


def _memory_lines(params: Params) -> tuple[str, ...]:
    made = f"a = mx.random.uniform(-1, 1, ({int(params['bytes']) // 4},))"
    if params["op"] == "read":
        return f"{made}; mx.eval(a)", "run = lambda: mx.async_eval(mx.sum(a))"
    return (
        f"{made}; c = mx.contiguous(a[::-1]); mx.eval(a, c)",
        f"triad = mx.compile(lambda a, c: a + {_FACTOR} * c)",
        "run = lambda: mx.async_eval(triad(a, c))",
    )


# ---- attention ----


def _prepare_attention(mx: Any, params: Params) -> Prepared:  # noqa: ANN401
    shape = tuple(int(params[name]) for name in ("batch", "heads", "sequence", "head_dim"))
    queries, keys, values = (uniform_in_mlx(mx, shape, str(params["dtype"])) for _ in range(3))
    scale = shape[-1] ** -0.5
    run, newest = runner(
        mx, lambda: mx.fast.scaled_dot_product_attention(queries, keys, values, scale=scale, mask="causal")
    )

    conditions: Conditions = {"inputs": "uniform"}

    def check() -> str | None:
        """The last queries of one head, which see all keys but the last few."""
        with mx.stream(mx.cpu):
            last, all_keys, all_values = (
                each[0, 0].astype(mx.float64) for each in (queries[:, :, -CHECKED:], keys, values)
            )
            scores = (last @ all_keys.T) * scale
            hidden = mx.triu(mx.full(scores.shape, float("-inf")), shape[2] - last.shape[0] + 1).astype(mx.float64)
            weights = mx.exp(scores + hidden - (scores + hidden).max(axis=-1, keepdims=True))
            expected = (weights / weights.sum(axis=-1, keepdims=True)) @ all_values
        off = note_error(conditions, relative_error_in_mlx(mx, newest[0][0, 0, -CHECKED:], expected))
        return None if off < _TOLERANCE_OF_ATTENTION else f"attention is wrong: off by {off:.2g} of the largest value"

    return Prepared(run=run, output=queries, check=check, conditions=conditions)


def _attention_lines(params: Params) -> tuple[str, ...]:
    shape = tuple(int(params[name]) for name in ("batch", "heads", "sequence", "head_dim"))
    dtype = MLX_TYPES[str(params["dtype"])]
    return (
        f"q, k, v = (mx.random.uniform(-1, 1, {shape}).astype(mx.{dtype}) for _ in range(3)); mx.eval(q, k, v)",
        "attend = mx.fast.scaled_dot_product_attention",
        f'run = lambda: mx.async_eval(attend(q, k, v, scale={shape[-1] ** -0.5:.6f}, mask="causal"))',
    )


_RUNS: Mapping[str, MlxRun] = {
    GEMM.key: MlxRun(lambda params: params["dtype"] in MLX_TYPES, _prepare_gemm, _gemm_lines),
    MEMORY.key: MlxRun(lambda params: params["op"] in {"read", "triad"}, _prepare_memory, _memory_lines),
    ATTENTION.key: MlxRun(
        lambda params: params["direction"] == "forward" and params["backend"] == "auto",
        _prepare_attention,
        _attention_lines,
    ),
    LLM_DECODE.key: MlxRun(takes_model, prepare_decode, decode_lines),
    LLM_PREFILL.key: MlxRun(takes_model, prepare_prefill, prefill_lines),
}
