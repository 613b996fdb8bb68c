"""The rule on an nvidia-smi of another driver."""

import pytest

from tests.report.rules.build import answer, answers, linux, mac, stated

MIXED = {
    "nvidia__driver_version": "595.58.03",
    "nvidia__nvml_version": "550.163.01",
    "nvidia__kernel_module_version": None,
}


def test_smi_of_another_driver_is_a_warning():
    finding = answer("smi-of-another-driver", linux(**MIXED))
    assert finding.severity == "warning"
    assert stated(finding.title) == ("550.163.01", "595.58.03")


@pytest.mark.parametrize(
    "changes",
    [
        {"nvidia__nvml_version": "595.58.03"},
        {"nvidia__nvml_version": "13.595.58.03"},  # NVML puts the CUDA major first
        {"nvidia__nvml_version": None},
        {"os__wsl": "2"},  # Windows' driver, Linux' tool
        {"os__name": "Windows"},
        {"nvidia__kernel_module_version": "595.58.03"},  # nvml-mismatch says it
    ],
)
def test_one_driver_or_an_open_question_is_no_fault(changes):
    assert answers("smi-of-another-driver", linux(**MIXED | changes)) == []


def test_no_question_about_smi_on_a_mac():
    assert answers("smi-of-another-driver", mac()) == []
