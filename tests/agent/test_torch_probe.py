"""The torch probe, against torches made of attributes: CUDA, mps, ROCm, old, broken and none."""

import sys
from types import ModuleType, SimpleNamespace

import pytest

from stackviz.agent.probing import torch as torch_probe
from stackviz.agent.probing.gather import gather
from stackviz.report.format.facts.asking import MissingFact
from tests.agent.machines_to_ask import machine

CONFIG = """PyTorch built with:
  - Intel(R) oneAPI Math Kernel Library Version 2024.2-Product Build 20240605
  - Intel(R) MKL-DNN v3.12.0 (Git Hash 80afa71)
  - OpenMP 201511 (a.k.a. OpenMP 4.5)
  - Build settings: BLAS_INFO=mkl, BUILD_TYPE=Release"""


def torch_of(**changes):
    """A CPU-only torch 2.13; a test adds what it is about."""
    torch = ModuleType("torch")
    parts = {
        "__version__": "2.13.0+cpu",
        "version": SimpleNamespace(cuda=None, hip=None, debug=False, git_version="cf30153c4c13"),
        "cuda": SimpleNamespace(is_available=lambda: False, device_count=lambda: 0),
        "xpu": SimpleNamespace(is_available=lambda: False, device_count=lambda: 0),
        "mps": SimpleNamespace(),
        "backends": SimpleNamespace(
            cpu=SimpleNamespace(get_cpu_capability=lambda: "AVX512"),
            cudnn=SimpleNamespace(version=lambda: None),
            mps=SimpleNamespace(is_built=lambda: False, is_available=lambda: False),
        ),
        "_C": SimpleNamespace(),
        "__config__": SimpleNamespace(show=lambda: CONFIG),
        "get_num_threads": lambda: 8,
    } | changes
    for name, value in parts.items():
        setattr(torch, name, value)
    return torch


@pytest.fixture
def probe(monkeypatch, tmp_path):
    def ask(torch, environ=None, installed=None, hand_back=lambda _reading: None):
        def imported():
            if isinstance(torch, MissingFact):
                raise torch
            return torch

        monkeypatch.setattr(torch_probe, "_import_torch", imported)
        monkeypatch.setattr(torch_probe, "_installed_version", lambda: installed)
        return torch_probe.probe_torch(machine(tmp_path, environ=environ), hand_back)

    return ask


def gpu_torch(device, arch_list, **version):
    """A torch that finds this device as its only one."""
    cuda = SimpleNamespace(is_available=lambda: True, device_count=lambda: 1, get_device_properties=lambda _n: device)
    built = SimpleNamespace(**{"cuda": None, "hip": None, "debug": False, "git_version": "x", **version})
    return torch_of(version=built, cuda=cuda, _C=SimpleNamespace(_cuda_getArchFlags=lambda: arch_list))


def test_a_processor_only_torch_says_that_it_has_no_cuda(probe):
    reading = probe(torch_of())
    assert (reading.facts["torch.version"], reading.facts["cuda.available"]) == ("2.13.0+cpu", False)
    assert reading.absent["torch.cuda_version"].reason == "not_applicable"
    assert reading.absent["torch.import_error"].reason == "not_applicable"
    found = {software.component: software.version for software in reading.software}
    assert (found["mkl"], found["onednn"], found["openmp"]) == ("2024.2", "3.12.0", "4.5")
    assert "cuda-runtime" not in found


def test_a_cuda_torch_tells_versions_and_cards(probe):
    device = SimpleNamespace(
        name="NVIDIA H100 80GB HBM3", total_memory=84978434048, multi_processor_count=132, major=9, minor=0,
        uuid="6f1c1d2e-1111-2222-3333-444455556666",
    )  # fmt: skip
    torch = gpu_torch(device, "sm_80 sm_90", cuda="13.0")
    torch.backends.cudnn = SimpleNamespace(version=lambda: 91300)
    reading = probe(torch, {"CUDA_VISIBLE_DEVICES": "0"})
    expected = {"torch.arch_list": "sm_80 sm_90", "cudnn.version": "9.13.0", "cuda.visible_devices": "0"}
    assert {name: reading.facts[name] for name in expected} == expected
    assert reading.cards[0].facts["compute_capability"] == "9.0"
    assert reading.cards[0].uuid_hash


@pytest.mark.parametrize(("number", "version"), [(8902, "8.9.2"), (90501, "9.5.1"), (91002, "9.10.2"), (7605, "7.6.5")])
def test_cudnn_numbers_are_read_before_and_after_version_nine(probe, number, version):
    torch = torch_of()
    torch.backends.cudnn = SimpleNamespace(version=lambda: number)
    assert probe(torch).facts["cudnn.version"] == version


@pytest.mark.parametrize("is_available", [False, True])
def test_mps_built_and_available_are_two_facts(probe, is_available):
    torch = torch_of(mps=SimpleNamespace(recommended_max_memory=lambda: 38654705664))
    torch.backends.mps = SimpleNamespace(is_built=lambda: True, is_available=lambda: is_available)
    reading = probe(torch, {"PYTORCH_ENABLE_MPS_FALLBACK": "1"})
    assert (reading.facts["mps.built"], reading.facts["mps.available"]) == (True, is_available)
    assert reading.facts["mps.fallback"] == "1"
    name = "mps.recommended_max_memory_bytes"
    told = reading.facts[name] if is_available else reading.absent[name].reason
    assert told == (38654705664 if is_available else "not_applicable")
    assert ("mps" in [software.component for software in reading.software]) is is_available
    del torch.backends.mps
    assert probe(torch).absent["mps.built"].reason == "not_supported"  # an old torch is not called broken


def test_a_rocm_torch_has_cards_of_amd(probe):
    architecture = "gfx942:sramecc+:xnack-"
    device = SimpleNamespace(name="AMD Instinct MI300X", total_memory=206141652992, gcnArchName=architecture)
    reading = probe(gpu_torch(device, "gfx942", hip="6.4.43482"))
    assert (reading.cards[0].vendor, reading.cards[0].facts["architecture"]) == ("amd", architecture)
    assert reading.cards[0].facts["gfx_target"] == "gfx942"
    assert ("rocm", "6.4.43482") in [(s.component, s.version) for s in reading.software]


def test_driver_failing_on_devices_leaves_versions(probe):
    def broken():
        raise RuntimeError("CUDA driver initialization failed")

    torch = torch_of(cuda=SimpleNamespace(is_available=lambda: True, device_count=broken))
    reading = probe(torch)
    assert reading.facts["torch.version"] == "2.13.0+cpu"
    assert "initialization failed" in reading.problems[0]


@pytest.mark.parametrize(
    ("reason", "installed", "facts"),
    [
        ("not_installed", None, {}),
        ("failed", None, {"torch.import_error": "what happened"}),
        ("failed", "2.6.0+cu118", {"torch.import_error": "what happened", "torch.version": "2.6.0+cu118"}),
    ],
)
def test_without_torch_every_fact_of_it_has_the_reason(probe, reason, installed, facts):
    reading = probe(MissingFact(reason, "what happened"), installed=installed)
    assert dict(reading.facts) == facts
    assert reading.absent["torch.cuda_version"].reason == reason
    assert reading.absent["cuda.available"].detail == "what happened"
    versions = [(entry.component, entry.version) for entry in reading.software]
    assert versions == ([("pytorch", installed)] if installed else [])


def test_a_folder_named_torch_is_not_torch(monkeypatch, tmp_path):
    (tmp_path / "torch").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    with pytest.raises(MissingFact) as caught:
        torch_probe._import_torch()
    assert caught.value.detail in {"a folder named torch hides the package", "torch is not installed for this Python"}
    sys.modules.pop("torch", None)


def test_what_was_known_is_handed_back_before_a_driver_may_hang(probe):
    parts = []

    def is_available():
        raise SystemExit(3)

    with pytest.raises(SystemExit):
        probe(
            torch_of(cuda=SimpleNamespace(is_available=is_available, device_count=lambda: 0)),
            installed="2.12.0",
            hand_back=lambda reading: parts.append(dict(reading.facts)),
        )
    assert parts[0] == {"torch.version": "2.12.0"}
    assert parts[-1]["torch.version"] == "2.13.0+cpu"
    assert "cuda.available" not in parts[-1]


@pytest.mark.parametrize(("ending", "reason"), [("os._exit(0)", "failed"), ("os.abort()", "failed")])
def test_a_torch_that_ends_python_costs_its_own_facts_only(monkeypatch, tmp_path, ending, reason):
    """As it is in a lab: installed with its metadata, and importing it ends the process."""
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text(f"import os\n{ending}\n")
    (tmp_path / "torch-2.6.0+cu118.dist-info").mkdir()
    (tmp_path / "torch-2.6.0+cu118.dist-info" / "METADATA").write_text("Name: torch\nVersion: 2.6.0+cu118\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    gathered = gather(40, probes=["torch"])
    assert gathered.facts["torch.version"] == "2.6.0+cu118"
    assert gathered.absent["torch.cuda_version"]["reason"] == reason
    assert gathered.absent["torch.cuda_version"]["detail"].startswith("the torch probe ended ")
    assert gathered.probes[0]["state"] == "failed"
