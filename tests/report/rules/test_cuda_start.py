"""Does CUDA start: NVML, cuInit's answers, the device file, the fabric manager."""

import pytest

from stackviz.report.format import Absent
from tests.report.rules.build import FAILED, UNSET, answer, answers, card, linux, mac

STUCK = {"cuda__available": False, "cuda__init_code": 999}
COMPAT = "/usr/local/cuda/compat:/usr/lib"
RULES = ("nvml-mismatch", "err802-fabric", "err803", "err804", "uvm-after-suspend", "uvm-device-missing")


@pytest.mark.parametrize(
    "changes",
    [
        {"nvidia__nvml_error": "Failed to initialize NVML: Driver/library version mismatch"},
        {"nvidia__kernel_module_version": "575.57.08"},
        {"nvidia__nvml_version": "575.57.08"},
    ],
)
def test_mismatched_nvidia_library_is_broken(changes):
    found = answer("nvml-mismatch", linux(**changes))
    assert (found.severity, "reboot, which ends every program" in found.advice) == ("broken", True)


@pytest.mark.parametrize("library", ["580.95.05", "13.580.95.05", "580.95"])
def test_nvml_version_formats_are_compared(library):
    assert answer("nvml-mismatch", linux(nvidia__nvml_version=library)).severity == "fits"


def test_nvml_failure_without_version_is_open():
    seen = linux(
        nvidia__nvml_error="Unknown Error",
        nvidia__kernel_module_version=None,
        absent={"nvidia.kernel_module_version": FAILED},
    )
    assert answer("nvml-mismatch", seen).severity == "cannot-tell"


@pytest.mark.parametrize(
    ("changes", "severity"),
    [
        ({"cuda__init_code": 802, "nvidia__fabric_manager": "inactive"}, "broken"),
        ({"cuda__init_code": 802, "nvidia__nvswitches": None, "nvidia__fabric_manager": None}, "broken"),
        ({"nvidia__fabric_manager": "failed"}, "broken"),
        ({"nvidia__fabric_manager": "active"}, "fits"),
        ({"nvidia__fabric_manager": None}, "cannot-tell"),
        ({"nvidia__fabric_manager": None, "absent": {"nvidia.fabric_manager": Absent("not_installed")}}, "broken"),
    ],
)
def test_a_machine_with_nvswitch_needs_the_fabric_manager(changes, severity):
    seen = linux(**{"cuda__available": False, "cuda__init_code": None, **changes})
    assert answer("err802-fabric", seen).severity == severity


@pytest.mark.parametrize("told", [{"cuda__init_code": 0}, {"cuda__available": True}])
@pytest.mark.parametrize(
    ("rule", "changes"),
    [
        ("err802-fabric", {"nvidia__fabric_manager": "inactive"}),
        ("uvm-device-missing", {"nvidia__uvm_device": False}),
        ("wsl2-linux-driver", {"os__wsl": "2", "cuda__libcuda_path": "/usr/lib/x86_64-linux-gnu/libcuda.so.1"}),
    ],
)
def test_nothing_is_broken_where_cuda_starts(rule, changes, told):
    seen = linux(**{"cuda__available": None, "cuda__init_code": None, **changes, **told})
    assert answer(rule, seen).severity == "note"


def test_a_machine_without_nvswitch_needs_none():
    assert answers("err802-fabric", linux(nvidia__nvswitches=None, nvidia__fabric_manager=None)) == []


def test_803_names_the_folder_that_stands_first():
    found = answer("err803", linux(cuda__init_code=803, env__ld_library_path=COMPAT))
    assert (found.severity, "/usr/local/cuda/compat" in found.explanation) == ("broken", True)
    assert "reboot" in answer("err803", linux(cuda__init_code=803)).advice


def test_unchecked_compat_folder_stays_open():
    seen = linux(cuda__init_code=None, env__ld_library_path=COMPAT, absent={"cuda.init_code": FAILED})
    assert answer("err803", seen).severity == "cannot-tell"
    assert answers("err803", linux(env__ld_library_path=COMPAT)) == []


@pytest.mark.parametrize(
    ("changes", "name", "fires"),
    [
        ({"cuda__init_code": 804}, "NVIDIA GeForce RTX 3090", True),
        ({"cuda__init_code": None, "env__ld_library_path": COMPAT}, "NVIDIA GeForce RTX 3090", True),
        ({"cuda__init_code": None, "cuda__libcuda_path": "/usr/local/cuda-12.4/compat/libcuda.so.1"}, "TITAN V", True),
        ({"cuda__init_code": None, "env__ld_library_path": COMPAT}, "NVIDIA H100 80GB HBM3", False),
        ({"cuda__init_code": 0, "env__ld_library_path": COMPAT}, "NVIDIA GeForce RTX 3090", False),
    ],
)
def test_forward_compatibility_is_for_data_center_cards(changes, name, fires):
    found = answers("err804", linux(card(name=name), **changes))
    assert [one.severity for one in found] == (["broken"] if fires else [])


def test_error_999_with_a_listed_card_blames_sleep():
    assert "modprobe nvidia_uvm" in answer("uvm-after-suspend", linux(cuda__init_code=999)).advice


@pytest.mark.parametrize(
    "changes", [{"cuda__init_code": 0}, {"nvidia__uvm_device": False}, {"nvidia__nvml_error": "Unknown Error"}]
)
def test_error_999_for_other_reasons_is_not_sleep(changes):
    assert answers("uvm-after-suspend", linux(**{"cuda__init_code": 999, **changes})) == []


def test_missing_uvm_device_is_broken():
    assert "nvidia-modprobe" in answer("uvm-device-missing", linux(nvidia__uvm_device=False, **STUCK)).advice
    assert answer("uvm-device-missing", linux()).severity == "fits"
    silent = linux(nvidia__uvm_device=None, absent={"nvidia.uvm_device": FAILED})
    assert answer("uvm-device-missing", silent).severity == "cannot-tell"


def test_file_is_skipped_on_other_systems():
    assert answers("uvm-device-missing", linux(nvidia__uvm_device=False, os__wsl="2")) == []
    none = linux(nvidia__uvm_device=None, absent={"nvidia.uvm_device": UNSET})
    assert answers("uvm-device-missing", none) == []


@pytest.mark.parametrize("rule", RULES)
def test_a_mac_starts_no_cuda(rule):
    assert answers(rule, mac()) == []


@pytest.mark.parametrize(
    "inside",
    [
        {"machine__container": "docker"},
        {"os__version": "18.04", "os__kernel": "Linux 3.10.0-1160.71.1.el7.x86_64"},
    ],
)
def test_in_a_container_mismatched_libraries_are_the_image_s_and_no_reboot_helps(inside):
    found = answer("nvml-mismatch", linux(nvidia__nvml_error="Driver/library version mismatch", **inside))
    assert "The image brings NVIDIA libraries of its own" in found.explanation
    assert "A reboot does not help" in found.advice
    assert "reboot, which" not in found.advice


def test_the_fabric_manager_has_to_match_the_driver_to_the_digit():
    found = answer("err802-fabric", linux(cuda__init_code=802, nvidia__fabric_manager="inactive"))
    assert "must match the driver's (580.95.05) digit for digit" in found.advice
