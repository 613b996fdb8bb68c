"""What a person sees first: nvidia-smi reaches no driver, torch sees no card."""

import pytest

from stackviz.report.dumps.machines import machines
from stackviz.report.importers import read_all
from stackviz.report.rules import find, packaged_tables
from tests.report.rules.build import UNSET, answer, answers, card, linux, mac, problems, report

NOT_REACHED = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver"
NO_DEVICES = "No devices were found"
BLIND = {"cuda__available": False, "cuda__init_code": None}

# --- smi-no-driver ---


@pytest.mark.parametrize(
    ("text", "title", "step"),
    [
        (f"{NOT_REACHED}. Make sure that the latest NVIDIA driver is installed and running.", "cannot talk", "dkms"),
        (f"$ nvidia-smi\n{NO_DEVICES}\n", "finds no card", "lspci"),
    ],
)
def test_what_nvidia_smi_says_alone_is_broken_and_has_steps(text, title, step):
    [machine] = machines(read_all(text))
    [found] = find(machine.report(), packaged_tables())
    assert (found.rule, found.severity, title in found.title) == ("smi-no-driver", "broken", True)
    assert step in found.advice


@pytest.mark.parametrize(
    ("facts", "step"),
    [
        ({"os.name": "Ubuntu"}, "mokutil --sb-state"),
        ({"os.name": "Windows"}, "Device Manager"),
        ({"os.name": "Ubuntu", "os.wsl": "WSL2"}, "wsl --shutdown"),
    ],
)
def test_the_steps_are_those_of_the_system(facts, step):
    assert step in answer("smi-no-driver", report({**facts, "nvidia.nvml_error": NOT_REACHED})).advice


@pytest.mark.parametrize(
    ("facts", "rule"),
    [
        ({"os.modules": "nouveau i915"}, "nouveau"),
        ({"os.modules": "i915", "os.secure_boot": True, "nvidia.module_installed": True}, "secure-boot"),
    ],
)
def test_only_the_causing_rule_reports(facts, rule):
    found = problems(report({"os.name": "Ubuntu", "nvidia.nvml_error": NOT_REACHED, **facts}))
    assert (found.get(rule), found.get("smi-no-driver")) == ("broken", None)


def test_beside_a_cuda_that_starts_it_is_a_note():
    assert answer("smi-no-driver", linux(nvidia__nvml_error=NOT_REACHED)).severity == "note"


@pytest.mark.parametrize("seen", [linux(), mac(), linux(nvidia__nvml_error="GPU is lost", **BLIND)])
def test_other_words_of_nvml_and_none_are_not_its_concern(seen):
    assert answers("smi-no-driver", seen) == []


# --- torch-sees-no-card ---


def test_unavailable_cuda_lists_what_to_check():
    found = answer("torch-sees-no-card", linux(nvidia__uvm_device=None, nvidia__fabric_manager=None, **BLIND))
    assert found.severity == "broken"
    assert "580.95.05 is new enough" in found.explanation
    for step in ("torch.cuda.init()", "CUDA_VISIBLE_DEVICES", "/dev/nvidia-uvm", "fabricmanager", "--gpus all"):
        assert step in found.advice


def test_what_the_report_answers_is_not_asked_again():
    seen = linux(card(name="NVIDIA GeForce RTX 4090"), absent={"machine.container": UNSET}, **BLIND)
    advice = answer("torch-sees-no-card", seen).advice
    assert [step for step in ("nvidia-uvm", "fabricmanager", "--gpus all") if step in advice] == []


@pytest.mark.parametrize(
    "changes",
    [
        {"nvidia__driver_version": "470.57.02"},
        {"nvidia__uvm_device": False},
        {"nvidia__nvml_error": "Driver/library version mismatch"},
        {"nvidia__nvml_error": NOT_REACHED},
        {"cuda__init_code": 802},
    ],
)
def test_it_is_silent_where_another_finding_explains_it(changes):
    seen = linux(**BLIND | changes)
    assert answers("torch-sees-no-card", seen) == []
    assert "broken" in problems(seen).values()


@pytest.mark.parametrize("visible", ["-1", "NoDevFiles"])
def test_variable_hiding_cards_is_named(visible):
    found = answer("torch-sees-no-card", linux(cuda__visible_devices=visible, **BLIND))
    assert (found.severity, "unset CUDA_VISIBLE_DEVICES" in found.advice) == ("warning", True)


def test_a_driver_that_is_not_told_is_not_called_new_enough():
    found = answer("torch-sees-no-card", linux(nvidia__driver_version=None, **BLIND))
    assert "The driver version was not reported" in found.explanation


@pytest.mark.parametrize(
    "seen",
    [
        linux(),
        linux(cuda__available=None),
        linux(torch__cuda_version=None, absent={"torch.cuda_version": UNSET}, **BLIND),
        report({"torch.version": "2.13.0", "torch.cuda_version": "13.0", "cuda.available": False}),
        mac(),
    ],
)
def test_fallback_rule_stays_silent_otherwise(seen):
    assert answers("torch-sees-no-card", seen) == []
