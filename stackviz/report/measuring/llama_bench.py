"""`llama-bench` of llama.cpp: tokens per second. Another tool runs it; its output becomes results of this benchmark.

Explicit tables turn what llama.cpp prints of a model into the model and number format that results are compared by.
"""

import re
from typing import Any

from stackviz.report.measuring.benchmark import AnyParams, Benchmark, RateBound

__all__ = ["LLAMA_BENCH", "MODELS", "WEIGHTS_BYTES", "compared_model"]

# (architecture and size, parameters), as printed -> the name that cited results have. Models of the same shape do the
# same work for each token: Llama 3.1 8B and its fine-tuned versions print `llama 8B` as Llama 3 8B does.
MODELS: dict[tuple[str, str], str] = {
    ("llama 7b", "6.74 B"): "Llama 2 7B",
    ("llama 7b", "7.24 B"): "Mistral 7B",
    ("llama 8b", "8.03 B"): "Llama 3 8B",
    ("llama 70b", "70.55 B"): "Llama 3 70B",
    ("llama 1b", "1.24 B"): "Llama 3.2 1B Instruct",
    ("llama 3b", "3.21 B"): "Llama 3.2 3B Instruct",
    ("gpt-oss 20b", "20.91 B"): "gpt-oss 20B",
    ("gpt-oss 120b", "116.83 B"): "gpt-oss 120B",
    ("gemma3 4b", "3.88 B"): "gemma3 4B",
    ("qwen2 7b", "7.62 B"): "qwen2 7B",
    ("qwen3 8b", "8.19 B"): "Qwen 3 8B",
    ("qwen3 14b", "14.77 B"): "Qwen 3 14B",
    ("qwen3 32b", "32.76 B"): "Qwen 3 32B",
    ("qwen3moe 30b.a3b", "30.53 B"): "qwen3moe 30B.A3B",
}

# Bytes that decoding reads for each token, as llama-bench prints them in GiB. They follow from 6.74 B parameters at 16
# bits, at 8.5 (blocks of 32 with a 16-bit scale), and at 4.5 with the output matrix at 6.5625 (q6_k), which llama.cpp
# does for q4_0.
WEIGHTS_BYTES: dict[tuple[str, str], float] = {
    ("Llama 2 7B", "F16"): 12.55 * 2**30,
    ("Llama 2 7B", "Q8_0"): 6.67 * 2**30,
    ("Llama 2 7B", "Q4_0"): 3.56 * 2**30,
}

_PRINTED = re.compile(
    r"(?P<label>\S.{0,80}?) (?:(?:mostly|all) )?(?P<format>F32|F16|BF16|MXFP4|[IT]?Q\d\w{0,6})(?P<mix> mix)?"
    r"(?: - (?P<size>Small|Medium|Large)| - [\d.]{1,8} bpw[ \w]{0,20}| MoE)?(?: \(guessed\))?"
)


def compared_model(printed: str, parameters: str) -> dict[str, str]:
    """`llama 7B mostly Q4_0` with `6.74 B` -> {"model": "Llama 2 7B", "quant": "Q4_0"}.

    A model that no table names keeps its printed name, with the number of its parameters where it is printed:
    `parameters`. Without a number format that is known it keeps all that is printed.
    """
    match = _PRINTED.fullmatch(printed)
    label, quant = (match["label"], _quantisation(match)) if match else (printed, "")
    name = MODELS.get((label.casefold(), " ".join(parameters.split())))
    model = {"model": name or label}
    if quant:
        model["quant"] = quant
    if name is None and parameters:
        model["parameters"] = parameters
    return model


def _quantisation(match: re.Match[str]) -> str:
    """`Q4_K - Medium` as files are named: `Q4_K_M`."""
    if match["mix"]:  # llama.cpp prints IQ3_M as a mix of IQ3_S
        return str(match["format"]).replace("_S", "_M")
    return f"{match['format']}_{match['size'][0]}" if match["size"] else str(match["format"])


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
