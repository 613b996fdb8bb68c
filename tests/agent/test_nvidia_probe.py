"""The NVIDIA probe, against fixture cards: one per way of failing."""

import platform
import sys

import pytest

from stackviz.agent.probing.nvidia import probe_nvidia
from stackviz.agent.probing.nvml_child import ask_nvml_here
from stackviz.base.backports import PATH_WITHOUT_FOLDER
from stackviz.report.format import hashed_uuid, parse_report
from stackviz.report.format.facts import cuda, questions_of
from stackviz.report.format.facts.asking import MissingFact, run_command
from stackviz.report.format.write import absent_document, object_document
from tests.agent import fake_nvml
from tests.agent.fake_nvml import Error, healthy_card, lost_after
from tests.agent.machines_to_ask import machine
from tests.report.format.reports import report_body

SMI_XML = """<?xml version="1.0" ?>
<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd">
<nvidia_smi_log>
  <driver_version>570.124.04</driver_version>
  <cuda_version>12.8</cuda_version>
  <attached_gpus>1</attached_gpus>
  <gpu id="00000000:01:00.0">
    <product_name>NVIDIA GeForce RTX 3060</product_name>
    <fb_memory_usage><total>12288 MiB</total></fb_memory_usage>
    <gpu_power_readings><current_power_limit>170.00 W</current_power_limit></gpu_power_readings>
  </gpu>
</nvidia_smi_log>"""
CU_INIT = f"{sys.executable} -c {PATH_WITHOUT_FOLDER}{cuda._INIT}"
LOADED = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  560.35.03  Release Build\nGCC version: ..."
MODULE_LIST = f"/lib/modules/{platform.release()}/modules.dep"


def on_bus(number, kind):
    """A device of NVIDIA on the PCI bus: 0x030200 is a card, 0x068000 a switch."""
    where = f"/sys/bus/pci/devices/0000:0{number}:00.0"
    return {f"{where}/vendor": "0x10de\n", f"{where}/class": f"{kind}\n"}


@pytest.fixture
def probe(monkeypatch, tmp_path):
    """Probe a machine whose pynvml has these cards; None means that no binding is installed."""

    def ask(cards=None, files=None, says=None, system="Linux", **nvml):
        says = {CU_INIT: "path /usr/lib/libcuda.so.560.35.03\ncode 0\n"} | (says or {})
        monkeypatch.setitem(sys.modules, "pynvml", None if cards is None else fake_nvml.module(cards, **nvml))
        reading = probe_nvidia(machine(tmp_path, files, says, system), ask_nvml=lambda _s: ask_nvml_here())
        body = report_body(
            facts=dict(reading.facts),
            absent=absent_document(reading.absent),
            cards=[object_document(card) for card in reading.cards],
            results=[],
        )
        assert parse_report(body).unknown_fields == ()  # whatever happened, a report can hold it
        return reading

    return ask


def told(source, name):
    """What a probe told under this name: the fact, or why it is absent."""
    return source.facts[name] if name in source.facts else source.absent[name].reason


def test_a_healthy_card_tells_everything_in_si_units(probe):
    held_back = {"nvmlDeviceGetCurrentClocksEventReasons": 0x44, "nvmlDeviceGetMigMode": [0, 1]}
    reading = probe([healthy_card(**held_back)])
    (card,) = reading.cards
    assert reading.facts["nvidia.driver_version"] == "560.35.03"
    assert reading.facts["cuda.driver_api_version"] == "12.6"
    assert reading.facts["nvidia.uvm_device"] is False  # the card is there, the device file is not
    assert (card.reported_name, card.memory_bytes) == ("NVIDIA H100 80GB HBM3", 85520809984)
    assert card.uuid_hash == hashed_uuid("6f1c1d2e-1111-2222-3333-444455556666")
    expected = {
        "power_limit_w": 700, "sm_clock_max_hz": 1.98e9, "compute_capability": "9.0", "pci_device_id": "0x233010DE",
        "mig_mode": "disabled", "mig_pending": "enabled", "nvlink_links": 18, "memory_used_bytes": 526385152,
        "ecc_corrected": 3, "ecc_uncorrected": 0, "ecc_pending": True, "remap_pending": False, "remap_failed": False,
        "throttle_reasons": "sw_power_cap hw_thermal_slowdown", "display_attached": False, "busy_ratio": 0.07,
    }  # fmt: skip
    assert {name: card.facts[name] for name in expected} == expected
    assert set(card.absent) == {"driver_model", "fabric_state", "multiprocessors"}
    (idle,) = probe([healthy_card(nvmlDeviceGetCurrentClocksEventReasons=0x1)]).cards
    assert idle.facts["throttle_reasons"] == "none"


NOT_SUPPORTED = Error(fake_nvml.NOT_SUPPORTED)


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        (
            {"nvmlDeviceGetPowerUsage": NOT_SUPPORTED, "nvmlDeviceGetEnforcedPowerLimit": NOT_SUPPORTED},
            {"power_w": "not_supported", "power_limit_w": "not_supported", "power_default_limit_w": 700},
        ),
        ({"nvmlDeviceGetEnforcedPowerLimit": 0}, {"power_limit_w": "not_reported"}),
        (
            {"nvmlDeviceGetRemappedRows": NOT_SUPPORTED, "nvmlDeviceGetRetiredPagesPendingStatus": 1},
            {"remap_pending": True, "remap_failed": "not_supported"},  # older cards retire pages instead
        ),
        ({"nvmlDeviceGetRemappedRows": NOT_SUPPORTED}, {"remap_pending": "not_supported"}),
    ],
)
def test_what_a_card_cannot_tell_is_absent(probe, answers, expected):
    (card,) = probe([healthy_card(**answers)]).cards
    assert {name: told(card, name) for name in expected} == expected


def test_a_card_lost_half_way_keeps_what_it_told(probe):
    (card,) = probe([lost_after(healthy_card(), calls=4)]).cards
    assert card.memory_bytes == 85520809984
    assert card.facts["compute_capability"] == "9.0"
    assert card.absent["vbios_version"].detail == "GPU is lost"
    assert card.absent["temperature_c"].reason == "failed"


def test_a_card_that_never_answers_does_not_hide_its_neighbour(probe):
    reading = probe([{"handle": Error(fake_nvml.GPU_IS_LOST)}, healthy_card()])
    assert [card.index for card in reading.cards] == [1]
    assert reading.facts["nvidia.card_count"] == 2
    assert reading.facts["nvidia.cards_lost"] == 1
    assert reading.problems == ["card 0: GPU is lost"]


def test_a_driver_too_old_for_a_question_answers_the_others(probe):
    old = healthy_card(
        nvmlDeviceGetAddressingMode=Error(fake_nvml.FUNCTION_NOT_FOUND),
        nvmlDeviceGetNumGpuCores=None,  # the binding itself is too old for this one
        nvmlDeviceGetArchitecture=Error(fake_nvml.FUNCTION_NOT_FOUND),
    )
    (card,) = probe([old]).cards
    assert card.absent["addressing_mode"].detail == "the driver is too old to be asked this"
    assert card.absent["cuda_cores"].reason == "not_supported"
    assert card.facts["compute_capability"] == "9.0"


def test_unified_memory_has_no_size_of_its_own(probe):
    """GB10: NVML answers "not supported" for memory, clocks of the memory and the bus."""
    spark = healthy_card(
        nvmlDeviceGetName="NVIDIA GB10",
        nvmlDeviceGetMemoryInfo=Error(fake_nvml.NOT_SUPPORTED),
        nvmlDeviceGetMemoryBusWidth=Error(fake_nvml.NOT_SUPPORTED),
        nvmlDeviceGetMaxClockInfo={1: 3003, 2: Error(fake_nvml.NOT_SUPPORTED)},
        nvmlDeviceGetAddressingMode=2,
        nvmlDeviceGetArchitecture=10,
        nvmlDeviceGetCudaComputeCapability=(12, 1),
    )
    (card,) = probe([spark]).cards
    assert card.memory_bytes is None
    assert card.absent["memory_bytes"].reason == "not_supported"
    assert card.facts["unified_memory"] is True
    assert card.facts["addressing_mode"] == "ATS"
    assert card.facts["sm_clock_max_hz"] == 3.003e9
    assert "memory_clock_max_hz" in card.absent


def test_failed_memory_read_is_not_unified(probe):
    (card,) = probe([healthy_card(nvmlDeviceGetMemoryInfo=Error(999))]).cards
    assert card.absent["memory_bytes"].reason == "failed"
    assert "unified_memory" not in card.facts


def test_instances_of_a_cut_card_are_cards_of_their_own(probe):
    instance = healthy_card(
        nvmlDeviceGetName="NVIDIA H100 80GB HBM3 MIG 1g.10gb",
        nvmlDeviceGetUUID="MIG-aaaaaaaa-1111-2222-3333-444455556666",
        nvmlDeviceGetMemoryInfo=SMALL_MEMORY,
        nvmlDeviceGetMigMode=Error(fake_nvml.NOT_SUPPORTED),
    )
    cut = healthy_card(
        nvmlDeviceGetMigMode=[1, 1], nvmlDeviceGetMaxMigDeviceCount=7, instances=[instance, *[Error(6)] * 6]
    )
    whole, part = probe([cut]).cards
    assert whole.facts["mig_mode"] == "enabled"
    assert (part.index, part.facts["mig_parent_index"]) == (1, 0)
    assert part.facts["mig_profile"] == "1g.10gb"
    assert part.memory_bytes == 10200547328
    assert part.uuid_hash != whole.uuid_hash


SMALL_MEMORY = healthy_card()["nvmlDeviceGetMemoryInfo"].__class__(total=10200547328, used=0, free=10200547328)


def test_no_nvidia_software_means_no_card(probe):
    reading = probe(None, says={CU_INIT: MissingFact("failed", "must not be asked")})
    assert reading.cards == []
    assert told(reading, "nvidia.driver_version") == told(reading, "cuda.driver_api_version") == "not_installed"
    for name in (*questions_of("nvidia").names, "nvidia.nvml_error"):
        assert reading.absent[name].reason == "not_applicable", name
    assert told(probe(None, system="Darwin"), "nvidia.driver_version") == "not_applicable"


def test_a_card_on_the_bus_without_a_driver_is_a_fault(probe):
    reading = probe(None, on_bus(1, "0x030000"))
    assert told(reading, "nvidia.driver_version") == "failed"
    assert "on the PCI bus" in reading.problems[0]
    assert told(reading, "nvidia.module_installed") == "not_reported"  # there is no list of modules


def test_where_nvml_has_no_binding_nvidia_smi_is_read(probe):
    reading = probe(None, says={"nvidia-smi -q -x": SMI_XML})
    assert reading.facts["nvidia.driver_version"] == "570.124.04"
    assert (reading.cards[0].memory_bytes, reading.cards[0].facts["power_limit_w"]) == (12288 * 2**20, 170)
    assert told(reading, "nvidia.nvml_error") == "not_applicable"
    failed = MissingFact("failed", "nvidia-smi ended with 255: Failed to initialize NVML: Unknown Error")
    assert "Unknown Error" in probe(None, says={"nvidia-smi -q -x": failed}).facts["nvidia.nvml_error"]


def test_a_driver_updated_without_a_reboot_is_named(probe):
    """NVML and nvidia-smi both refuse; the kernel still tells which module it has loaded."""
    reading = probe(
        [],
        files={"/proc/driver/nvidia/version": LOADED},
        says={"nvidia-smi -q -x": MissingFact("failed", "nvidia-smi ended with 18: Driver/library version mismatch")},
        init=Error(fake_nvml.MISMATCH),
        library=b"13.580.95.05",
    )
    assert reading.facts["nvidia.driver_version"] == "560.35.03"
    assert (reading.facts["nvidia.driver_kind"], reading.facts["nvidia.nvml_version"]) == ("open", "13.580.95.05")
    assert "mismatch" in (reading.absent["cuda.driver_api_version"].detail or "")


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (fake_nvml.MISMATCH, "Driver/library version mismatch"),
        (999, "Unknown Error"),
        (fake_nvml.DRIVER_NOT_LOADED, "Driver Not Loaded"),
        (fake_nvml.LIBRARY_NOT_FOUND, None),
        (4, None),
    ],
)
def test_nvml_that_does_not_start_breaks_nothing(probe, code, words):
    reading = probe([], init=Error(code))
    assert (reading.cards, bool(reading.absent["nvidia.driver_version"].detail)) == ([], True)
    assert words is None or reading.facts["nvidia.nvml_error"] == words


def test_other_pynvml_is_distinguished_from_binding(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pynvml", type(sys)("pynvml"))
    reading = probe_nvidia(
        machine(tmp_path, says={"nvidia-smi -q -x": MissingFact("failed", "no permission")}),
        ask_nvml=lambda _s: ask_nvml_here(),
    )
    assert reading.absent["nvidia.driver_version"].detail == "no permission"


# ---- how the driver is set up ----------------------------------------------------------------------------------------


def test_driver_reports_modules_and_cu_init(probe):
    files = {"/proc/driver/nvidia/version": LOADED, "/dev/nvidia-uvm": ""}
    nvcc = "Cuda compilation tools, release 12.4, V12.4.131\nBuild cuda_12.4.r12.4/compiler.34097967_0"
    reading = probe([healthy_card()], files, {"nvcc --version": nvcc})
    expected = {
        "nvidia.kernel_module_version": "560.35.03", "nvidia.nvml_version": "12.560.35.03", "nvidia.uvm_device": True,
        "nvidia.module_installed": True, "cuda.init_code": 0, "cuda.libcuda_path": "/usr/lib/libcuda.so.560.35.03",
        "cuda.toolkit_version": "12.4.131",
        **dict.fromkeys(("nvidia.nvml_error", "nvidia.nvswitches", "nvidia.fabric_manager"), "not_applicable"),
    }  # fmt: skip
    assert {name: told(reading, name) for name in expected} == expected


@pytest.mark.parametrize(
    ("said", "name", "expected"),
    [
        ("path /usr/lib/libcuda.so.1\ncode 999\n", "cuda.init_code", 999),
        ("code 803\n", "cuda.init_code", 803),
        ("path /usr/lib/libcuda.so.1\n", "cuda.libcuda_path", "/usr/lib/libcuda.so.1"),
        ("missing libcuda.so.1: cannot open shared object file\n", "cuda.init_code", "not_installed"),
        ("code what\n", "cuda.init_code", "not_reported"),
        (MissingFact("timeout", "python did not end in 20 s"), "cuda.init_code", "timeout"),
        (MissingFact("failed", "python ended with -11"), "cuda.libcuda_path", "failed"),
    ],
)
def test_cu_init_is_asked_in_a_child_that_may_fail(probe, said, name, expected):
    assert told(probe([healthy_card()], says={CU_INIT: said}), name) == expected


def test_the_child_that_asks_libcuda_is_a_program_that_runs(tmp_path):
    around = machine(tmp_path)
    around.run_command = run_command
    answer = around.run(sys.executable, "-c", PATH_WITHOUT_FOLDER + cuda._INIT)
    assert answer.split(" ", 1)[0] in {"missing", "path", "code"}


@pytest.mark.parametrize(
    ("listed", "expected"),
    [
        ("kernel/drivers/video/nvidia.ko.zst: kernel/x.ko", True),
        ("updates/dkms/nvidia.ko:", True),
        ("updates/dkms/nvidia-current.ko.xz:", True),
        ("kernel/drivers/usb/typec/altmodes/typec_nvidia.ko:\nkernel/drivers/i2c/busses/i2c-nvidia-gpu.ko:", False),
    ],
)
def test_a_module_that_is_installed_and_not_loaded_is_told(probe, listed, expected):
    files = on_bus(1, "0x030000") | {MODULE_LIST: listed}
    assert probe(None, files).facts["nvidia.module_installed"] is expected


def test_under_wsl_the_kernel_has_no_part_in_it(probe):
    reading = probe([healthy_card()], {"/proc/version": "Linux version 5.15-microsoft-standard-WSL2"})
    for name in ("nvidia.kernel_module_version", "nvidia.uvm_device", "nvidia.module_installed"):
        assert reading.absent[name].reason == "not_applicable"
    assert reading.facts["cuda.init_code"] == 0


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("LoadState=loaded\nActiveState=active\n", "active"),
        ("LoadState=loaded\nActiveState=failed\n", "failed"),
        ("LoadState=not-found\nActiveState=inactive\n", "not_installed"),
        (MissingFact("not_installed", "systemctl is not installed"), "not_installed"),
    ],
)
def test_nvswitch_machine_reports_fabric_manager(probe, said, expected):
    files = on_bus(1, "0x030200") | on_bus(2, "0x068000") | on_bus(3, "0x068000")
    command = "systemctl show -p LoadState -p ActiveState nvidia-fabricmanager"
    reading = probe([healthy_card()], files, {command: said})
    assert reading.facts["nvidia.nvswitches"] == 2
    assert told(reading, "nvidia.fabric_manager") == expected
