"""Names of packages: one table, whoever listed them."""

from importlib import metadata

import pytest

from stackviz.agent.probing.system import probe_python
from stackviz.report.format import COMPONENTS
from stackviz.report.format.components import PACKAGE_METADATA, component_of
from stackviz.report.importers.env_report import component_of as importers_component_of
from tests.agent.machines_to_ask import machine

NAMES = {
    "torch": "pytorch",
    "Jaxlib": "jax",
    "tensorflow_cpu": "tensorflow",
    "tensorflow-gpu": "tensorflow",
    "nvidia-cutlass-dsl": "cutlass",
    "nvidia-cudnn-cu13": "cudnn",
    "nvidia_cuda_runtime": "cuda-runtime",
    "pytorch-triton-xpu": "triton",
    "accelerate": "hf-accelerate",
    "nvidia-nccl-cu12": "nccl",
    "libopenblas": "openblas",
    "numpy": "numpy",
}


class Installed:
    """A distribution as importlib.metadata gives it."""

    def __init__(self, name):
        self.metadata, self.version = {"Name": name}, "1.0"


@pytest.mark.parametrize("name", NAMES)
def test_a_package_is_a_component(name):
    assert component_of(name) == NAMES[name]
    assert NAMES[name] in COMPONENTS


@pytest.mark.parametrize("name", ["requests", "metal", "hardware", "python", "", "nvidia-" + "x" * 10_000])
def test_other_packages_are_none(name):
    assert component_of(name) is None


def test_the_agent_and_the_importers_read_one_list_alike(monkeypatch, tmp_path):
    assert importers_component_of is component_of
    monkeypatch.setattr(metadata, "distributions", lambda: [Installed(name) for name in (*NAMES, "requests", None)])
    found = {one.component for one in probe_python(machine(tmp_path)).software if one.found_by == PACKAGE_METADATA}
    assert found == set(NAMES.values()) - {"pytorch"}  # torch itself has a probe that imports it
