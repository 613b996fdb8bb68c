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


def test_a_processor_only_torch_says_that_it_has_no_cuda(probe):
    reading = probe(torch_of())
    assert reading.facts["torch.version"] == "2.13.0+cpu"
    assert reading.facts["cuda.available"] is False
    assert reading.absent["torch.cuda_version"].reason == "not_applicable"
    assert reading.absent["torch.import_error"].reason == "not_applicable"
    found = {software.component: software.version for software in reading.software}
    assert found["mkl"] == "2024.2"
    assert found["onednn"] == "3.12.0"
    assert found["openmp"] == "4.5"
    assert "cuda-runtime" not in found


def test_a_cuda_torch_tells_versions_and_cards(probe):
    device = SimpleNamespace(
        name="NVIDIA H100 80GB HBM3", total_memory=84978434048, multi_processor_count=132, major=9, minor=0,
        uuid="6f1c1d2e-1111-2222-3333-444455556666",
    )  # fmt: skip
    torch = torch_of(
        version=SimpleNamespace(cuda="13.0", hip=None, debug=False, git_version="x"),
        cuda=SimpleNamespace(
            is_available=lambda: True, device_count=lambda: 1, get_device_properties=lambda _n: device
        ),
        _C=SimpleNamespace(_cuda_getArchFlags=lambda: "sm_80 sm_90"),
    )
    torch.backends.cudnn = SimpleNamespace(version=lambda: 91300)
    reading = probe(torch, {"CUDA_VISIBLE_DEVICES": "0"})
    assert reading.facts["torch.arch_list"] == "sm_80 sm_90"
    assert reading.facts["cudnn.version"] == "9.13.0"
    assert reading.facts["cuda.visible_devices"] == "0"
    assert reading.cards[0].facts["compute_capability"] == "9.0"
    assert reading.cards[0].uuid_hash


@pytest.mark.parametrize(("number", "version"), [(8902, "8.9.2"), (90501, "9.5.1"), (91002, "9.10.2"), (7605, "7.6.5")])
def test_cudnn_numbers_are_read_before_and_after_version_nine(probe, number, version):
    torch = torch_of()
    torch.backends.cudnn = SimpleNamespace(version=lambda: number)
    assert probe(torch).facts["cudnn.version"] == version


def test_mps_built_and_not_available_are_two_facts(probe):
    torch = torch_of()
    torch.backends.mps = SimpleNamespace(is_built=lambda: True, is_available=lambda: False)
    reading = probe(torch, {"PYTORCH_ENABLE_MPS_FALLBACK": "1"})
    assert (reading.facts["mps.built"], reading.facts["mps.available"]) == (True, False)
    assert reading.facts["mps.fallback"] == "1"
    assert reading.absent["mps.recommended_max_memory_bytes"].reason == "not_applicable"
    assert "mps" not in [software.component for software in reading.software]


def test_a_mac_tells_how_much_memory_its_gpu_may_use(probe):
    torch = torch_of(mps=SimpleNamespace(recommended_max_memory=lambda: 38654705664))
    torch.backends.mps = SimpleNamespace(is_built=lambda: True, is_available=lambda: True)
    assert probe(torch).facts["mps.recommended_max_memory_bytes"] == 38654705664


def test_a_rocm_torch_has_cards_of_amd(probe):
    device = SimpleNamespace(
        name="AMD Instinct MI300X", total_memory=206141652992, gcnArchName="gfx942:sramecc+:xnack-"
    )
    torch = torch_of(
        version=SimpleNamespace(cuda=None, hip="6.4.43482", debug=False, git_version="x"),
        cuda=SimpleNamespace(
            is_available=lambda: True, device_count=lambda: 1, get_device_properties=lambda _n: device
        ),
        _C=SimpleNamespace(_cuda_getArchFlags=lambda: "gfx942"),
    )
    reading = probe(torch)
    assert (reading.cards[0].vendor, reading.cards[0].facts["architecture"]) == ("amd", "gfx942:sramecc+:xnack-")
    assert reading.cards[0].facts["gfx_target"] == "gfx942"
    assert ("rocm", "6.4.43482") in [(s.component, s.version) for s in reading.software]


def test_driver_failing_on_devices_leaves_versions(probe):
    def broken():
        raise RuntimeError("CUDA driver initialization failed")

    torch = torch_of(cuda=SimpleNamespace(is_available=lambda: True, device_count=broken))
    reading = probe(torch)
    assert reading.facts["torch.version"] == "2.13.0+cpu"
    assert "initialization failed" in reading.problems[0]


def test_an_old_torch_without_mps_is_not_called_broken(probe):
    torch = torch_of()
    del torch.backends.mps
    assert probe(torch).absent["mps.built"].reason == "not_supported"


@pytest.mark.parametrize("reason", ["not_installed", "failed"])
def test_without_torch_every_fact_of_it_has_the_reason(probe, reason):
    reading = probe(MissingFact(reason, "what happened"))
    assert reading.facts == ({"torch.import_error": "what happened"} if reason == "failed" else {})
    assert reading.absent["torch.version"].reason == reason
    assert reading.absent["cuda.available"].detail == "what happened"


def test_a_folder_named_torch_is_not_torch(monkeypatch, tmp_path):
    (tmp_path / "torch").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    with pytest.raises(MissingFact) as caught:
        torch_probe._import_torch()
    assert caught.value.detail in {"a folder named torch hides the package", "torch is not installed for this Python"}
    sys.modules.pop("torch", None)


def test_a_torch_that_cannot_be_imported_still_has_a_version(probe):
    reading = probe(MissingFact("failed", "import torch: OSError: libcudart.so.12"), installed="2.6.0+cu118")
    assert reading.facts["torch.version"] == "2.6.0+cu118"
    assert reading.facts["torch.import_error"] == "import torch: OSError: libcudart.so.12"
    assert [(entry.component, entry.version) for entry in reading.software] == [("pytorch", "2.6.0+cu118")]
    assert reading.absent["torch.cuda_version"].reason == "failed"


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
