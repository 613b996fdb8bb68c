"""What a card tells while it is measured, of a fake NVML: sampled conditions, counters, other processes, settings."""

import os
import time
from types import SimpleNamespace

import pytest

from stackviz.agent.benchmarks.devices import Device, math_settings
from stackviz.agent.benchmarks.instruments import Instruments, Sampler, card_counters, joined_readings, others_on_card
from stackviz.agent.benchmarks.visit import kernels_of
from stackviz.report.format.facts.nvml import Nvml
from stackviz.report.measuring import Prepared
from tests.agent import fake_nvml
from tests.agent.fake_nvml import NOT_SUPPORTED, Error, healthy_card
from tests.agent.processes import wait_for


def counter(value, code=0):
    return [SimpleNamespace(nvmlReturn=code, value=SimpleNamespace(ullVal=value))]


def nvml_of(**changes):
    card = healthy_card(**changes)
    module = fake_nvml.module([card])
    module.NVML_FI_DEV_PERF_POLICY_POWER = 74
    module.NVML_FI_DEV_PERF_POLICY_THERMAL = 75
    return Nvml(module), card


def test_counters_are_joules_and_seconds():
    energy, fields = "nvmlDeviceGetTotalEnergyConsumption", "nvmlDeviceGetFieldValues"
    nvml, card = nvml_of(**{energy: 1_234_567, fields: counter(2_500_000_000)})
    assert card_counters(nvml, card) == {"energy_j": 1234.567, "throttled.power_s": 2.5, "throttled.thermal_s": 2.5}
    nvml, card = nvml_of(**{energy: Error(NOT_SUPPORTED), fields: counter(0, NOT_SUPPORTED)})
    assert card_counters(nvml, card) == {}


def process(pid, **more):
    return SimpleNamespace(pid=pid, **more)


def test_other_processes_on_the_card_are_named_with_their_share():
    other = os.getppid()
    nvml, card = nvml_of(
        nvmlDeviceGetComputeRunningProcesses=[process(os.getpid()), process(other)],
        nvmlDeviceGetProcessUtilization=[
            process(os.getpid(), smUtil=90), process(other, smUtil=20), process(other, smUtil=40),
            process(other, smUtil=4_000_000_000),
        ],
    )  # fmt: skip
    found = others_on_card(nvml, card, time.time())
    assert found["card_ratio"] == pytest.approx(0.3)
    assert len(found["card_programs"]) == 1


@pytest.mark.parametrize(
    ("pids", "found"),
    [
        ([os.getpid()], {"card_programs": [], "card_ratio": 0.0}),
        ([999_999_999], {}),  # our own process is not listed: nobody can tell
        ([os.getpid(), 999_999_999], {"card_programs": ["unknown"], "card_ratio": None}),  # use is not told by process
    ],
)
def test_only_what_is_known_of_others_is_stated(pids, found):
    nvml, card = nvml_of(nvmlDeviceGetComputeRunningProcesses=[process(pid) for pid in pids])
    assert others_on_card(nvml, card, time.time()) == found


def test_conditions_are_sampled_while_the_card_works():
    """A card that draws 700 W at work and 100 W as soon as it is idle."""
    watts = iter([650.0, 700.0, 750.0, *[700.0] * 1000])
    energy = iter([5.0, 12.0, 12.0])
    instruments = Instruments(
        read=lambda: {"power_w": next(watts), "temperature_c": 60.0, "throttle_reasons": "sw_power_cap"},
        every_s=0.005,
        counters=lambda: {"energy_j": next(energy)},
    )
    with Sampler(instruments) as sampler:
        wait_for(lambda: len(sampler.readings) >= 4)
    joined = joined_readings(sampler.readings)
    assert joined["power_w"] == pytest.approx(700, abs=30)
    assert joined["throttle_reasons"] == "sw_power_cap"
    assert sampler.spent() == {"energy_j": 7.0}


def test_a_reading_that_fails_costs_the_readings_only():
    def read():
        raise OSError("gone")

    with Sampler(Instruments(read=read, every_s=0.001)) as sampler:
        time.sleep(0.05)
    assert sampler.readings == []


def test_readings_join_as_they_should():
    readings = [
        {"power_w": 100.0, "temperature_c": 50, "memory_used_bytes": 10, "throttle_reasons": "none"},
        {"power_w": 200.0, "temperature_c": 70, "memory_used_bytes": 13, "throttle_reasons": "b a"},
    ]
    assert joined_readings(readings) == {
        "power_w": 150.0, "temperature_c": 70, "memory_used_bytes": 12, "throttle_reasons": "a b",
    }  # fmt: skip


# ---- settings and kernels --------------------------------------------------------------------------------------------


def torch_on_a_card(**matmul):
    backends = SimpleNamespace(
        cuda=SimpleNamespace(
            preferred_blas_library=lambda: "_BlasBackend.Cublaslt",
            matmul=SimpleNamespace(allow_fp16_accumulation=False, **matmul),
        ),
        cudnn=SimpleNamespace(benchmark=True, deterministic=False),
    )
    return SimpleNamespace(backends=backends, are_deterministic_algorithms_enabled=lambda: False)


def test_what_torch_is_set_to_is_read(monkeypatch):
    monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    monkeypatch.setenv("KMP_AFFINITY", "/home/anna/x y")
    torch = torch_on_a_card(allow_bf16_reduced_precision_reduction=(True, False))
    settings = math_settings(torch, "cuda", "bf16")
    assert settings["reduced_precision_reduction"] is True
    assert settings["blas_library"] == "cublaslt"
    assert (settings["cudnn_benchmark"], settings["fp16_accumulation"]) == (True, False)
    assert "CUBLAS_WORKSPACE_CONFIG=:4096:8" in settings["math_environment"]
    assert "KMP_AFFINITY=(set)" in settings["math_environment"]


def test_reduced_precision_is_a_matter_of_16_bits():
    torch = torch_on_a_card(allow_fp16_reduced_precision_reduction=True)
    assert "reduced_precision_reduction" not in math_settings(torch, "cuda", "fp32")


def test_without_a_profiler_no_kernel_is_named():
    ran = []
    prepared = Prepared(lambda: ran.append(1), None, lambda: None, {})
    assert kernels_of(Device(SimpleNamespace(), "cpu", "cpu"), prepared) == []
