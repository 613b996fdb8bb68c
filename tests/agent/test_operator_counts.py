"""How many operators have a kernel: counted for the devices a build has, and for no others."""

from types import SimpleNamespace

import pytest

from stackviz.report.format.facts.asking import MissingFact
from stackviz.report.format.facts.torch import _operators, _own_kernels

KERNELS = {
    "aten::add.Tensor": {"CPU", "CUDA", "MPS"},
    "aten::mm": {"CPU", "CUDA"},
    "aten::matmul": set(),
    "c10d::send": {"CPU"},
}


def torch_of(cuda=None, *, mps=False):
    return SimpleNamespace(
        version=SimpleNamespace(cuda=cuda, hip=None),
        backends=SimpleNamespace(mps=SimpleNamespace(is_built=lambda: mps)),
        _C=SimpleNamespace(
            _dispatch_get_all_op_names=lambda: list(KERNELS),
            _dispatch_has_kernel_for_dispatch_key=lambda name, key: key in KERNELS[name],
        ),
    )


def test_only_operators_of_aten_are_counted():
    assert len(_operators(torch_of())) == 3


def test_kernels_are_counted_by_device():
    torch = torch_of("13.0", mps=True)
    assert [_own_kernels(torch, key) for key in ("CPU", "CUDA", "MPS")] == [2, 2, 1]


@pytest.mark.parametrize("key", ["CUDA", "MPS"])
def test_a_build_without_the_device_is_not_asked(key):
    with pytest.raises(MissingFact) as missing:
        _own_kernels(torch_of(), key)
    assert missing.value.reason == "not_applicable"


def test_a_torch_that_does_not_list_its_operators_says_so():
    torch = torch_of()
    del torch._C._dispatch_get_all_op_names
    with pytest.raises(MissingFact) as missing:
        _operators(torch)
    assert missing.value.reason == "not_supported"
