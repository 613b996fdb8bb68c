"""As much of torch as the benchmarks touch, without arithmetic: a product takes a millisecond, and all checks hold.

TOY_TORCH is JSON: {"hang": m} never ends the product of that size, {"crash": m} ends the process in it, {"sticky": m}
fails as a broken CUDA context does, from then on for every size; {"seconds": s} is what one product takes. {"once":
path}: only while this file is not there, which is then made. {"card": UUID}: it has one CUDA device, which is that card;
{"cards": [UUID, ...]}: several.
"""

import json
import os
import time
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

_ways = json.loads(os.environ.get("TOY_TORCH", "{}"))
_is_broken = []
_cards = _ways.get("cards") or ([_ways["card"]] if "card" in _ways else [])

__version__ = "2.9.0+toy"
version = SimpleNamespace(cuda=None, hip=None, git_version="0" * 40)
cuda = SimpleNamespace(
    is_available=lambda: bool(_cards),
    device_count=lambda: len(_cards),
    get_device_properties=lambda index: SimpleNamespace(uuid=_cards[index], name="a card", major=9, L2_cache_size=0),
    mem_get_info=lambda _index: (2**36, 2**36),
    synchronize=lambda _index: None,
    empty_cache=lambda: None,
    can_device_access_peer=lambda _device, _peer: True,
    nccl=SimpleNamespace(
        version=lambda: (2, 28, 9),
        all_reduce=lambda _inputs, _outputs: time.sleep(0.001),
        all_gather=lambda _inputs, _outputs: time.sleep(0.001),
        reduce_scatter=lambda _inputs, _outputs: time.sleep(0.001),
    ),
)
_C = SimpleNamespace(_nccl_all_reduce=None)
backends = SimpleNamespace()
float64 = float32 = float16 = bfloat16 = int8 = int32 = "a type"
inference_mode = nullcontext
_precision = ["highest"]


class Tensor:
    dtype = "a type"

    def __init__(self, shape, device="cpu"):
        self.shape = shape
        self.device = device

    def _same(self, *_arguments, **_named):
        return self

    uniform_ = zero_ = to = cpu = detach = double = abs = max = copy_ = __getitem__ = __matmul__ = __sub__ = (
        __truediv__
    ) = __add__ = t = _same

    def __float__(self):
        return 0.0


def empty(shape, device="cpu", **_named):
    return Tensor(shape, device)


def empty_like(tensor, device=None):
    return Tensor(tensor.shape, device or tensor.device)


def _goes_wrong(way, size):
    if _ways.get(way) != size:
        return False
    once = _ways.get("once")
    if once is None:
        return True
    is_first = not Path(once).exists()
    Path(once).touch()
    return is_first


def mm(_a, _b, *, out):
    size = out.shape[0]
    if _goes_wrong("hang", size):
        time.sleep(600)
    if _goes_wrong("crash", size):
        os.abort()
    if _is_broken or _goes_wrong("sticky", size):
        _is_broken.append(size)
        raise RuntimeError("CUDA error: an illegal memory access was encountered")
    time.sleep(_ways.get("seconds", 0.001))
    return out


def equal(_a, _b):
    return True


def set_float32_matmul_precision(precision):
    _precision[0] = precision


def get_float32_matmul_precision():
    return _precision[0]


def get_num_threads():
    return 2


def set_warn_always(_is_on):
    """As torch has it."""
