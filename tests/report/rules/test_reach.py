"""Cards that programs cannot reach, and what keeps them."""

import pytest

from stackviz.report.format import Absent, Software
from tests.report.rules.build import FAILED, answer, answers, card, linux, mac, report

OFF = {"cuda__available": False, "cuda__init_code": None}


@pytest.mark.parametrize("facts", [{"nvidia__cards_lost": 2}, {"nvidia__nvml_error": "GPU has fallen off the bus"}])
def test_a_lost_card_is_broken_and_its_reboot_says_what_it_ends(facts):
    found = answer("cards-lost", linux(**facts))
    assert "no longer answer" in found.title
    assert "reboot, which ends every program" in found.advice


def test_where_all_cards_answer_none_is_lost():
    assert answers("cards-lost", linux()) == answers("cards-lost", linux(nvidia__cards_lost=0)) == []


HANGS = "NVML does not answer: timed out after 4 s"
CRASHES = "NVML does not answer: ended by signal 11 (SIGSEGV)"


def test_a_driver_that_is_late_may_only_be_slow():
    found = answer("nvml-hangs", linux(nvidia__nvml_error=HANGS))
    assert (found.severity, found.advice.index("persistence") < found.advice.index("reboot")) == ("warning", True)


def test_a_library_that_crashes_is_looked_for_twice():
    found = answer("nvml-crashes", linux(nvidia__nvml_error=CRASHES))
    assert (found.severity, "ldconfig" in found.advice) == ("warning", True)


def test_other_errors_of_nvml_are_neither():
    for rule in ("nvml-hangs", "nvml-crashes"):
        assert answers(rule, linux(nvidia__nvml_error="Driver/library version mismatch")) == []
    assert answers("nvml-crashes", linux(nvidia__nvml_error=HANGS)) == []
    assert answers("nvml-hangs", linux(nvidia__nvml_error=CRASHES)) == []


def test_the_mode_prohibited_keeps_programs_off():
    found = answer("compute-prohibited", linux(card(compute_mode="prohibited")))
    assert "sudo nvidia-smi -i 0 -c DEFAULT" in found.advice
    assert answers("compute-prohibited", linux(card(compute_mode="default"))) == []
    assert answers("compute-prohibited", mac()) == []


@pytest.mark.parametrize(
    ("name", "has_cuda"),
    [
        ("GRID T4-2B", False),
        ("NVIDIA A16-1A", False),
        ("GRID P40-8Q", True),
        ("NVIDIA A100-40C", True),
        ("NVIDIA A100-SXM4-40GB", True),
        ("NVIDIA GeForce RTX 5090", True),
    ],
)
def test_profiles_of_virtual_gpus_for_desktops_have_no_cuda(name, has_cuda):
    seen = linux(card(name=name, compute_capability="7.5"), **OFF)
    assert [found.severity for found in answers("vgpu-without-cuda", seen)] == ([] if has_cuda else ["broken"])


@pytest.mark.parametrize(("place", "words"), [({"os__wsl": "2"}, "/usr/lib/wsl/lib"), ({}, "ldconfig -p")])
def test_err_for_the_cuda_version_means_that_libcuda_is_not_loaded(place, words):
    seen = linux(cuda__driver_api_version=None, absent={"cuda.driver_api_version": FAILED}, **OFF, **place)
    assert words in answer("libcuda-not-loaded", seen).advice
    assert answers("libcuda-not-loaded", linux(cuda__driver_api_version=None, **OFF)) == []


def test_a_build_with_cuda_that_finds_nothing_of_nvidia_may_be_in_a_container_without_gpus():
    facts = {"os.name": "Ubuntu", "torch.version": "2.9.1+cu128", "torch.cuda_version": "12.8", "cuda.available": False}
    assert answer("no-card-passed", report(facts)).severity == "note"
    found = answer("no-card-passed", report({**facts, "machine.container": "docker"}))
    assert (found.severity, "docker run --gpus all" in found.advice) == ("warning", True)
    assert answers("no-card-passed", report({**facts, "nvidia.driver_version": "580.95.05"})) == []
    assert answers("no-card-passed", linux(**OFF)) == []


@pytest.mark.parametrize(
    ("torch", "torchvision", "is_mixed"),
    [
        ("2.9.1+cpu", "0.24.1+cu128", True),
        ("2.9.1+cu128", "0.24.1+cpu", True),
        ("2.9.1+cu128", "0.24.1+cu128", False),
        ("2.9.1+cpu", "0.24.1", False),
    ],
)
def test_a_torchvision_of_another_build_than_torch_is_named(torch, torchvision, is_mixed):
    seen = linux(software=(Software("torchvision", torchvision, "pip"),), torch__version=torch)
    assert [found.severity for found in answers("companion-build", seen)] == (["warning"] if is_mixed else [])


@pytest.mark.parametrize(("version", "is_broken"), [("0.8.5", True), ("0.23.1", True)])
def test_vllm_before_0_23_begins_with_volta(version, is_broken):
    pascal = card(name="Tesla P100", compute_capability="6.0")
    software = (Software("vllm", version, "pip"),)
    assert (answer("vllm-card", linux(pascal, software=software)).severity == "broken") is is_broken


def test_volta_runs_the_older_vllm_only():
    volta = card(name="Tesla V100", compute_capability="7.0")
    found = {
        version: [
            one.severity for one in answers("vllm-card", linux(volta, software=(Software("vllm", version, "pip"),)))
        ]
        for version in ("0.8.5", "0.23.1")
    }
    assert ("broken" in found["0.8.5"], "broken" in found["0.23.1"]) == (False, True)


def test_the_absence_of_a_version_is_no_error():
    gone = {"cuda.driver_api_version": Absent("not_reported")}
    assert answers("libcuda-not-loaded", linux(cuda__driver_api_version=None, absent=gone, **OFF)) == []
