"""`llama-bench` of llama.cpp: tokens per second. Another tool runs it; its output becomes results of this benchmark."""

import re
from typing import Any

from stackviz.report.measuring.benchmark import AnyParams, Benchmark, RateBound
from stackviz.report.measuring.llama_models import WEIGHTS_BYTES

__all__ = ["LLAMA_BENCH"]

_TEST = re.compile(r"(?:pp|tg)[1-9]\d{0,7}(?:\+tg[1-9]\d{0,7})?")
_ALL_LAYERS = 99  # llama-bench's default for "every layer on the card"; later builds have -1: llama.h, n_gpu_layers
# Named beside a result and not compared by, as with cited results: builds make the best choice of their time. How a
# model is split says nothing of a run on one card, and runs on several are ranked with none.
_SHOWN_ONLY = frozenset({"backend", "flash_attention", "threads", "batch", "micro_batch", "mmap", "split_mode"})
_MOST_TOKENS_PER_S = 1e8  # 2 FLOP for each of a million parameters: a small model at half the largest published peak


def _is_case(params: AnyParams) -> bool:
    """Whether the parameters say which test of which model was run."""
    return bool(_TEST.fullmatch(str(params.get("test", "")))) and bool(str(params.get("model") or "").strip())


def _compared(params: AnyParams) -> dict[str, Any]:
    compared = {name: value for name, value in params.items() if name not in _SHOWN_ONLY}
    layers = compared.get("n_gpu_layers")
    if isinstance(layers, int) and (layers >= _ALL_LAYERS or layers < 0):
        del compared["n_gpu_layers"]
    return compared


def _bounds(params: AnyParams) -> tuple[RateBound, ...]:
    """Decoding reads all weights for each token. Prefill and mixed tests: nothing published bounds them by what their
    parameters say."""
    test = str(params.get("test", ""))
    weights = WEIGHTS_BYTES.get((str(params.get("model")), str(params.get("quant"))))
    if weights is None or not test.startswith("tg"):
        return ()
    return (RateBound(("memory_bandwidth_gb_s",), weights),)


LLAMA_BENCH = Benchmark(
    key="llama-bench",
    version=1,
    title="llama-bench",
    order=30,
    unit="token/s",
    sample_unit="token/s",
    plausible=(1e-6, _MOST_TOKENS_PER_S),
    work=lambda params: 1.0 if _is_case(params) else None,
    formula="tokens / s",
    source="as llama-bench prints it: ggml-org/llama.cpp, tools/llama-bench/README.md",
    bounded_by=_bounds,
    compared=_compared,
    setting_names_it=True,
)
