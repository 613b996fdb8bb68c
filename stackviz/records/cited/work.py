"""The least that a result says was done in a second, by its own arithmetic: operations, bytes or watts. Pure.

Rates and times are turned into what one device must have done: a network's operations by the papers that describe it,
a language model's by the number of parameters in its name. What the names do not say is left open, never guessed.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod

from stackviz.records.cited.benchmark import MEMORY_BANDWIDTH, CitedBenchmark, Params
from stackviz.records.cited.bounds import parameters_in_name, weights_of_name

WINOGRAD = 2.25  # products of 3 x 3 convolutions that a trick leaves out: arXiv 1509.09308
_EXACT = ("fp32_tflops", "tf32_tensor_tflops")
_HALF = ("fp16_tensor_tflops", "bf16_tensor_tflops", "fp16_tflops", *_EXACT)
_ANY = ("fp4_tensor_tflops", "fp8_tensor_tflops", "int4_tensor_tops", "int8_tensor_tops", "neural_engine_tops", *_HALF)

# Operations (two a multiply-add) of a forward pass of one picture of 224 x 224, in GFLOP, as the papers of the networks
# print them; a pattern of the whole name.
_PICTURES: Mapping[str, float] = {
    r"resnet-?18": 3.6 / WINOGRAD,
    r"resnet-?34": 7.3 / WINOGRAD,
    r"resnet-?50(?:v1\.5|-pytorch|-tensorflow2|_vd)?|rn50v1\.5|resnet": 7.6 / WINOGRAD,
    r"resnet-?101": 15.2 / WINOGRAD,
    r"resnet-?152": 22.6 / WINOGRAD,
    r"(?:se-)?resnext-?101-32x4d": 16.0 / WINOGRAD,
    r"vgg-?16": 30.9 / WINOGRAD,
    r"vgg-?19": 39.2 / WINOGRAD,
    r"alexnet": 1.4 / WINOGRAD,
    r"convnext_base": 30.8,
    r"convnext_large": 68.8,
    r"vit b_16-224": 35.0,
    r"vit l_16-224": 123.0,
}
# Weights of the layers that each token of a sequence passes: arXiv 1810.04805.
_ENCODERS: Mapping[str, float] = {r"bert[-_ ]large.*": 302e6, r"bert[-_ ]base.*": 85e6}
_SIDE = re.compile(r"(\d{2,4})(?:x\d{2,4})?")
_CLPEAK = {
    "Single-precision compute": ("fp32_tflops",),
    "Half-precision compute": ("fp16_tflops", "fp16_tensor_tflops"),
    "Double-precision compute": ("fp64_tflops",),
}
_DIMENSIONS = re.compile(r"dim=([\dx]+)")


@dataclass(frozen=True, slots=True)
class Need:
    """What one device did at least, in the base unit of `fields`: the largest published figure of these bounds it."""

    fields: tuple[str, ...]
    amount: float

    @property
    def is_of_any_unit(self) -> bool:
        return self.fields == _ANY


def least_need(benchmark: CitedBenchmark, params: Params, amount: float, count: int) -> Need | None:
    """`amount`: as printed for all `count` devices, in the base unit. None where the names say too little."""
    need = _NEEDS.get(benchmark.key)
    return need(params, amount, count) if need is not None and amount > 0 else None


def item_flop(params: Params) -> float | None:
    """Operations of one forward pass of one item, at least; None for a network or a size that nothing is known of."""
    name = str(params.get("model", "")).casefold()
    tokens = params.get("sequence")
    for pattern, weights in _ENCODERS.items():
        if isinstance(tokens, int) and re.fullmatch(pattern, name):
            return 2 * weights * tokens
    giga = next((giga for pattern, giga in _PICTURES.items() if re.fullmatch(pattern, name)), None)
    side = _SIDE.fullmatch(str(params.get("input", "224")))
    is_small = "cifar" in f"{name} {params.get('dataset', '')}".casefold()
    return None if giga is None or side is None or is_small else giga * 1e9 * (int(side[1]) / 224) ** 2


def _items(params: Params, amount: float, count: int) -> Need | None:
    flop = item_flop(params)
    return None if flop is None else Need(_rates_of(params), flop * amount / count)


def _trained_items(params: Params, amount: float, count: int) -> Need | None:
    """A step is a forward pass, and two products as large for each layer."""
    return _items(params, 3 * amount, count)


def _time_of_batch(params: Params, amount: float, count: int) -> Need | None:
    batch = params.get("batch", 1)
    return _items(params, batch / amount, count) if isinstance(batch, int) else None


def _time_of_pass(params: Params, amount: float, count: int) -> Need | None:
    """Of what is timed forward, backward or both; () of an epoch, whose pictures nobody counted."""
    if "per" in params:
        return None
    passes = 3 if params.get("mode") == "train" else 2 if params.get("direction") == "backward" else 1
    return _time_of_batch(params, amount / passes, count)


def _generated_tokens(params: Params, amount: float, count: int) -> Need | None:
    """Two operations a parameter."""
    parameters = parameters_in_name(str(params.get("model", "")))
    return None if parameters is None else Need(_ANY, 2 * parameters * amount / count)


def _trained_tokens(params: Params, amount: float, _count: int) -> Need | None:
    """Six operations a parameter; four where most weights are frozen. The amount is that of one device."""
    name = str(params.get("model", ""))
    parameters = parameters_in_name(name)
    factor = 4 if re.search(r"lora|finetune", name, re.IGNORECASE) else 6
    return None if parameters is None else Need(_ANY, factor * parameters * amount)


def _first_token(params: Params, amount: float, count: int) -> Need | None:
    """The whole prompt passes the model first."""
    tokens, batch = params.get("input_tokens"), params.get("batch", 1)
    if not isinstance(tokens, int) or not isinstance(batch, int):
        return None
    return _generated_tokens(params, tokens * batch / amount, count)


def _next_token(params: Params, amount: float, count: int) -> Need | None:
    """All weights are read for it, by all devices together."""
    read = weights_of_name(params)
    return None if read is None else Need(MEMORY_BANDWIDTH, read / amount / count)


def _instructions(params: Params, amount: float, count: int) -> Need | None:
    fields = _CLPEAK.get(str(params.get("test", "")))
    return Need(fields, amount / count) if fields else None


def _product(params: Params, amount: float, count: int) -> Need | None:
    """`MatMul` of `dim=1000x64x1024 dim=1000x1024x32`, in whatever type the framework takes."""
    sides = [[int(side) for side in text.split("x")] for text in _DIMENSIONS.findall(str(params.get("shape", "")))]
    if params.get("op") != "MatMul" or len(sides) != 2 or len(sides[0]) < 2:
        return None
    return Need(_HALF, 2 * prod(sides[0]) * sides[1][-1] / amount / count)


def _watts(_params: Params, amount: float, count: int) -> Need:
    return Need(("tdp_w",), amount / count)


def _rates_of(params: Params) -> tuple[str, ...]:
    """Whose units may have done it, by the precision; any where none is stated."""
    precision = str(params.get("precision", "")).casefold()
    if re.search(r"int|fp8|fp4|8-bit|4-bit|^$", precision):
        return _ANY
    return _EXACT if re.fullmatch(r"fp32( \(tf32 where available\))?|tf32", precision) else _HALF


_NEEDS: Mapping[str, Callable[[Params, float, int], Need | None]] = {
    "llm-throughput": _generated_tokens,
    "llm-inter-token-latency": _next_token,
    "llm-time-to-first-token": _first_token,
    "train-tokens-per-device": _trained_tokens,
    "inference-throughput": _items,
    "train-throughput": _trained_items,
    "inference-latency": _time_of_batch,
    "model-time": _time_of_pass,
    "mlperf-inference": _items,
    "operator-time": _product,
    "clpeak-compute": _instructions,
    "average-power": _watts,
}
