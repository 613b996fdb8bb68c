"""Weights of 8 and 4 bits: the product by a real torch against float64, and what a torch without it says."""

import subprocess
from types import SimpleNamespace

import pytest

from stackviz.report.measuring import RUNNABLE
from stackviz.report.measuring.benchmark import Unavailable
from stackviz.report.measuring.language_model import MODELS, making_bytes
from stackviz.report.measuring.script import script_of
from stackviz.report.measuring.weight_formats import weight_format
from tests.agent.language_model_pass import check_pass, program_by_torch
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
from stackviz.report.measuring.weight_formats import weight_format

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
    """That of accelerators with a packing and a product of the test's own: how they read it nobody could try."""
    assert told_by_torch(PRODUCTS) == [
        "cpu int8 torch.float64 True True",
        "cpu int4 torch.float64 True True",
        "mps int4 torch.float64 True True",
        "[8, 4]",  # 128 columns, which are tried first, and 576
    ]


MODELS_IN_FORMATS = """
import torch
from stackviz.report.measuring import RUNNABLE
for weights in ("int8", "int4"):
    prepared = RUNNABLE[{key!r}].prepare(torch, "cpu", {{**{params!r}, "weights": weights}})
    prepared.run()
    print(weights, prepared.check())
    newest = dict(zip(prepared.run.__code__.co_freevars, prepared.run.__closure__))["newest"].cell_contents
    newest[1] = newest[1] * 1.1
    print("wrong" in prepared.check())
"""


@pytest.mark.parametrize(("key", "params"), OF_BOTH)
def test_real_torch_notices_a_wrong_product(key, params):
    assert told_by_torch(MODELS_IN_FORMATS.format(key=key, params=params)) == ["int8 None", "True", "int4 None", "True"]


@pytest.mark.parametrize("weights", ["", "int8", "int4"])
@pytest.mark.parametrize(("key", "length"), [("llm-decode", "context"), ("llm-prefill", "prompt")])
def test_a_pass_by_a_real_torch_is_that_of_the_definition(key, length, weights):
    params = {"model": "tiny", "dtype": "bf16", "batch": 2, length: 24, **({"weights": weights} if weights else {})}
    check_pass("".join(told_by_torch(program_by_torch(key, params))), key)


@pytest.mark.parametrize("weights", ["int8", "int4"])
@pytest.mark.parametrize(("key", "params"), OF_BOTH)
def test_a_program_multiplies_such_weights_too(key, params, weights):
    (rate,) = told_by_torch(script_of(RUNNABLE[key], {**params, "weights": weights}, "cpu"))
    assert float(rate.removesuffix(" token/s")) > 0


def test_a_torch_without_the_operator_is_no_failure():
    with pytest.raises(Unavailable, match=r"no product with int8 weights$"):
        weight_format(SimpleNamespace(), "cpu", {"weights": "int8", "dtype": "bf16"})


REFUSED = """
import torch
from stackviz.report.measuring.benchmark import Unavailable
from stackviz.report.measuring.weight_formats import weight_format
for error in (
    NotImplementedError("Could not run 'aten::_weight_int8pack_mm' from the 'CUDA' backend.\\nMore of it"),
    RuntimeError("_weight_int4pack_mm_cuda is only supported on AMD gpu arch greater than or equal to CDNA2"),
    RuntimeError("CUDA out of memory. Tried to allocate 2 GiB"),
):
    def refuse(*given): raise error
    torch._weight_int8pack_mm = refuse
    try:
        weight_format(torch, "cpu", {"weights": "int8", "dtype": "bf16"})
    except Unavailable as why:
        print(why)
    except RuntimeError as other:
        print("not caught:", other)
"""


def test_an_operator_that_refuses_the_device_leaves_the_case_out():
    no_product = "this torch has no product with int8 weights on the device:"
    assert told_by_torch(REFUSED) == [
        f"{no_product} Could not run 'aten::_weight_int8pack_mm' from the 'CUDA' backend.",
        f"{no_product} _weight_int4pack_mm_cuda is only supported on AMD gpu arch greater than or equal to CDNA2",
        "not caught: CUDA out of memory. Tried to allocate 2 GiB",
    ]


MOST_HELD = """
import torch, weakref
from collections import Counter
from torch.utils._python_dispatch import TorchDispatchMode
from stackviz.report.measuring.weight_formats import weight_format

class Held(TorchDispatchMode):
    tensors, sizes, most = Counter(), {}, 0
    def __torch_dispatch__(self, called, types, args=(), kwargs=None):
        made = called(*args, **(kwargs or {}))
        if isinstance(made, torch.Tensor):
            memory = made.untyped_storage()
            where = memory.data_ptr()
            Held.sizes[where] = memory.nbytes()
            Held.tensors[where] += 1
            weakref.finalize(made, Held.tensors.subtract, [where])
            Held.most = max(Held.most, sum(Held.sizes[at] for at, count in Held.tensors.items() if count > 0))
        return made

for weights in ("int8", "int4"):
    made = weight_format(torch, "cpu", {"weights": weights, "dtype": "bf16"})
    with Held():
        matrix = torch.rand(1024, 2048)
        Held.most = 0
        stored = made.store(matrix)
    print(weights, round(Held.most / matrix.numel(), 2))
    del matrix, stored
    Held.tensors.clear()
"""


def test_storing_takes_no_more_memory_than_the_plan_asks_for():
    """Bytes for each number of a matrix; what is kept of it is planned for too."""
    most = {weights: float(held) for weights, held in (line.split() for line in told_by_torch(MOST_HELD))}
    largest = MODELS["8B"].head_weights
    for weights, kept in (("int8", 1), ("int4", 0.57)):
        planned = making_bytes({"model": "8B", "weights": weights}) / largest
        assert planned - 1.1 < most[weights] <= planned + kept + 0.1
