"""Weights of 8 and 4 bits: the product by a real torch against float64, and what a torch without it says."""

import subprocess
from types import SimpleNamespace

import pytest

from stackviz.measuring import RUNNABLE
from stackviz.measuring.benchmark import Unavailable
from stackviz.measuring.script import script_of
from stackviz.measuring.weight_formats import weight_format
from tests.agent.test_benchmarks import ROOT, python_with_torch

DECODE = {"model": "135M", "dtype": "bf16", "batch": 2, "context": 64}
PREFILL = {"model": "135M", "dtype": "bf16", "batch": 1, "prompt": 16}
OF_BOTH = [("llm-decode", DECODE), ("llm-prefill", PREFILL)]


def told_by_torch(program):
    done = subprocess.run(
        [python_with_torch(), "-c", program], capture_output=True, text=True, timeout=300, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


PRODUCTS = """
import torch
from stackviz.measuring.weight_formats import weight_format

def dequantized(packed, group, scales_and_zeros):  # as CUDA has it: of a pair the even column in the high bits
    codes = torch.stack([packed >> 4, packed & 15], -1).flatten(1).to(torch.float64)
    scales, zeros = scales_and_zeros.to(torch.float64).transpose(0, 1).unbind(-1)
    return ((codes.unflatten(1, (-1, group)) - 8) * scales[..., None] + zeros[..., None]).flatten(1)

def product(x, packed, group, scales_and_zeros):
    return (x.to(torch.float64) @ dequantized(packed, group, scales_and_zeros).T).to(x.dtype)

torch._convert_weight_to_int4pack = lambda pairs, tiles: (tried.append(tiles), pairs)[1]
torch._weight_int4pack_mm = product
tried, ones = [], torch.ones
torch.ones = lambda *shape, device, **options: ones(*shape, **options)
for device, weights in (("cpu", "int8"), ("cpu", "int4"), ("mps", "int4")):
    made = weight_format(torch, device, {"weights": weights, "dtype": "bf16"})
    matrix, x = torch.rand(192, 576) * 2 - 1, torch.rand(2, 3, 576).to(torch.bfloat16)
    exact = made.exact(matrix)
    most = {"int8": 127, "int4": 7}[weights]
    kept = ((exact - matrix).abs().max() < 0.55 / most).item()  # half a step of the largest number, and bf16
    expected = x.to(torch.float64) @ exact.T
    off = ((made.linear(x, made.store(matrix)) - expected).abs().max() / expected.abs().max()).item()
    print(device, weights, exact.dtype, kept, 0 < off < 0.01)
print(tried)
"""


def test_products_are_those_of_the_rounded_weights():
    """The layout of accelerators with a product of the test's own."""
    assert told_by_torch(PRODUCTS) == [
        "cpu int8 torch.float64 True True",
        "cpu int4 torch.float64 True True",
        "mps int4 torch.float64 True True",
        "[8, 4]",  # 128 columns, which are tried first, and 576
    ]


MODELS_IN_FORMATS = """
import torch
from stackviz.measuring import RUNNABLE
for weights in ("int8", "int4"):
    prepared = RUNNABLE[{key!r}].prepare(torch, "cpu", {{**{params!r}, "weights": weights}})
    prepared.run()
    print(weights, prepared.check())
    right = {{name: getattr(torch, name) for name in ("_weight_int8pack_mm", "_weight_int4pack_mm_for_cpu")}}
    for name, product in right.items():
        setattr(torch, name, lambda *given, product=product: product(*given) * 1.1)
    prepared.run()
    print("wrong" in prepared.check())
    for name, product in right.items():
        setattr(torch, name, product)
"""


@pytest.mark.parametrize(("key", "params"), OF_BOTH)
def test_a_real_torch_computes_right_and_a_wrong_product_is_noticed(key, params):
    assert told_by_torch(MODELS_IN_FORMATS.format(key=key, params=params)) == ["int8 None", "True", "int4 None", "True"]


@pytest.mark.parametrize("weights", ["int8", "int4"])
@pytest.mark.parametrize(("key", "params"), OF_BOTH)
def test_a_program_multiplies_such_weights_too(key, params, weights):
    (rate,) = told_by_torch(script_of(RUNNABLE[key], {**params, "weights": weights}, "cpu"))
    assert float(rate.removesuffix(" token/s")) > 0


def test_a_torch_without_the_operator_is_no_failure():
    with pytest.raises(Unavailable, match=r"no product with int8 weights$"):
        weight_format(SimpleNamespace(), "cpu", {"weights": "int8", "dtype": "bf16"})


def test_a_card_before_ampere_has_no_product_of_4_bits():
    torch = SimpleNamespace(cuda=SimpleNamespace(get_device_capability=lambda _device: (7, 5)))
    for operator in ("_weight_int4pack_mm", "_weight_int4pack_mm_for_cpu", "_convert_weight_to_int4pack_for_cpu"):
        setattr(torch, operator, None)
    with pytest.raises(Unavailable, match=r"compute capability 8\.0"):
        weight_format(torch, "cuda:0", {"weights": "int4", "dtype": "bf16"})


WITHOUT_A_KERNEL = """
import torch
from stackviz.measuring.benchmark import Unavailable
from stackviz.measuring.weight_formats import weight_format
def missing(*given): raise NotImplementedError("Could not run 'aten::_weight_int8pack_mm' from the 'CUDA' backend.")
torch._weight_int8pack_mm = missing
try:
    weight_format(torch, "cpu", {"weights": "int8", "dtype": "bf16"})
except Unavailable as error:
    print(error)
"""


def test_an_operator_without_a_kernel_for_the_device_is_no_failure():
    assert told_by_torch(WITHOUT_A_KERNEL) == ["this torch has no product with int8 weights on the device"]
