"""The Apple probe, against what a MacBook Pro with an M3 Max prints, and Macs that print something else."""

import json
import sys
from pathlib import Path

import pytest

from stackviz.agent.identity import machine_identity
from stackviz.agent.probing import apple
from stackviz.agent.probing.apple import probe_apple
from stackviz.report.format import parse_report
from stackviz.report.format.facts.asking import MissingFact
from stackviz.report.format.write import absent_document, object_document
from tests.agent.machines_to_ask import FIXTURES, machine
from tests.report.format.reports import report_body

PROFILE = "system_profiler -json SPHardwareDataType SPDisplaysDataType"
AGX = "ioreg -r -c AGXAccelerator -d 1 -a"
M3_MAX = {
    "sysctl -n hw.optional.arm64": "1\n",
    "sysctl -n hw.model": "Mac15,9\n",
    "sysctl -n kern.hv_vmm_present": "0\n",
    "sysctl -n machdep.cpu.brand_string": "Apple M3 Max\n",
    "sysctl -n hw.physicalcpu": "16\n",
    "sysctl -n hw.memsize": "51539607552\n",
    "sysctl -n iogpu.wired_limit_mb": "0\n",
    "sysctl -n hw.nperflevels": "2\n",
    "sysctl -n hw.perflevel0.physicalcpu": "12\n",
    "sysctl -n hw.perflevel1.physicalcpu": "4\n",
    "sysctl hw.optional.arm": "hw.optional.arm.FEAT_BF16: 1\nhw.optional.arm.FEAT_I8MM: 1\nhw.optional.arm.FEAT_SME: 0\n",
    "sw_vers -productVersion": "15.3.1\n",
    "sw_vers -buildVersion": "24D70\n",
    "pmset -g batt": "Now drawing from 'AC Power'\n -InternalBattery-0 (id=1234)\t100%; charged; 0:00 remaining\n",
    "pmset -g": "System-wide power settings:\nCurrently in use:\n lowpowermode         0\n sleep                1\n",
    PROFILE: (FIXTURES / "mac" / "m3_max_system_profiler.json").read_text(encoding="utf-8"),
    AGX: (FIXTURES / "mac" / "m3_max_ioreg_agx.plist").read_text(encoding="utf-8"),
    "ioreg -rd1 -c IOPlatformExpertDevice": '  "IOPlatformUUID" = "8C0FA1B2-1111-5222-8333-94445555AAAA"\n',
}


@pytest.fixture
def probe(tmp_path):
    def ask(without=(), **says):
        told = {command: said for command, said in (M3_MAX | says).items() if command not in without}
        reading = probe_apple(machine(tmp_path, says=told, system="Darwin"))
        body = report_body(
            facts=dict(reading.facts),
            absent=absent_document(reading.absent),
            cards=[object_document(card) for card in reading.cards],
            results=[],
        )
        assert parse_report(body).unknown_fields == ()
        return reading

    return ask


def test_an_m3_max_tells_its_bin_memory_and_system(probe):
    reading = probe()
    expected = {
        "machine.model": "Mac15,9", "memory.total_bytes": 48 * 2**30, "apple.gpu_cores": 40, "apple.cpu_p_cores": 12,
        "apple.cpu_e_cores": 4, "apple.metal_family": "Metal 3", "cpu.features": "bf16 i8mm",
        "machine.power_source": "ac", "machine.low_power_mode": False,
    }  # fmt: skip
    assert {name: reading.facts[name] for name in expected} == expected
    (card,) = reading.cards
    assert (card.kind, card.vendor, card.reported_name, card.memory_bytes) == ("soc", "apple", "Apple M3 Max", None)
    of_card = {
        "metal_family": "Metal 3",
        "unified_memory": True,
        "gpu_cores": 40,
        "registry_class": "AGXAcceleratorG15X",
    }
    assert card.facts == of_card
    assert card.absent["power_w"].detail == "macOS reports it to root only"
    found = {software.component: software.version for software in reading.software}
    assert found == {"metal": "Metal 3", "macos": "15.3.1", "accelerate": None, "metal-driver": "24D70"}
    told = json.dumps([dict(reading.facts), [object_document(card)], reading.problems])
    for secret in ("K7XQ2PLW4N", "8C0FA1B2", "00006031", "Z1AX0012NKS"):  # serial number and UUIDs
        assert secret not in told


def test_wired_limit_zero_means_default(probe):
    assert probe().absent["memory.gpu_limit_bytes"].reason == "not_reported"
    raised = probe(**{"sysctl -n iogpu.wired_limit_mb": "40960\n"})
    assert raised.facts["memory.gpu_limit_bytes"] == 40960 * 2**20


def test_hanging_profiler_leaves_chip_from_sysctl(probe):
    reading = probe(**{PROFILE: MissingFact("timeout", "system_profiler did not end in 40 s")})
    assert (reading.cards[0].reported_name, reading.cards[0].facts["gpu_cores"]) == ("Apple M3 Max", 40)
    assert "did not end" in reading.problems[0]
    assert probe(without=[AGX]).facts["apple.gpu_cores"] == 40  # a silent registry leaves cores to the profiler
    assert probe(**{AGX: "<not a property list"}).facts["apple.gpu_cores"] == 40


def test_largest_of_three_core_kinds_counts_as_performance(probe):
    """macOS 26 on an M5 Max: `proc 18:6:0:12` is total, super, efficiency, performance."""
    profile = json.loads(M3_MAX[PROFILE])
    profile["SPHardwareDataType"][0]["number_processors"] = "proc 18:6:0:12"
    reading = probe(
        without=["sysctl -n hw.perflevel0.physicalcpu", "sysctl -n hw.nperflevels"], **{PROFILE: json.dumps(profile)}
    )
    assert (reading.facts["apple.cpu_p_cores"], reading.facts["apple.cpu_e_cores"]) == (6, 12)


def test_an_intel_mac_has_its_cards_and_no_chip(probe):
    profile = {
        "SPHardwareDataType": [{"machine_model": "MacBookPro13,3", "cpu_type": "Quad-Core Intel Core i7", "physical_memory": "16 GB"}],
        "SPDisplaysDataType": [
            {"sppci_model": "Intel HD Graphics 530", "spdisplays_vendor": "Intel", "spdisplays_vram_shared": "1536 MB"},
            {"sppci_model": "AMD Radeon Pro 450", "spdisplays_vendor": "sppci_vendor_amd", "spdisplays_vram": "2 GB"},
        ],
    }  # fmt: skip
    reading = probe(
        without=["sysctl -n hw.optional.arm64", AGX],
        **{PROFILE: json.dumps(profile), "sysctl -n machdep.cpu.brand_string": "Intel(R) Core(TM) i7-6700HQ"},
    )
    assert reading.absent["apple.chip"].reason == "not_applicable"
    assert [(card.vendor, card.memory_bytes) for card in reading.cards] == [("intel", None), ("amd", 2 * 2**30)]


def test_a_mac_where_nothing_answers_gives_reasons_only(tmp_path):
    reading = probe_apple(machine(tmp_path, system="Darwin"))
    assert reading.facts == {"machine.vendor": "Apple"}
    assert {why.reason for why in reading.absent.values()} == {"not_installed", "not_applicable"}
    assert probe_apple(machine(tmp_path)).absent["apple.chip"].reason == "not_applicable"  # no Mac


def test_the_identity_of_a_mac_is_its_platform_uuid_hashed(tmp_path):
    mac = machine(tmp_path, says=M3_MAX, system="Darwin")
    identity = machine_identity(mac, {}, [], Path("/nowhere"))
    assert identity == machine_identity(machine(tmp_path, says=M3_MAX, system="Darwin"), {}, [], Path("/elsewhere"))
    assert (len(identity.value), identity.source) == (64, "system")
    assert "8c0fa1b2" not in identity.value


PRESSURE = "notifyutil -g com.apple.system.thermalpressurelevel"


def test_heat_and_power_modes_are_told(probe):
    hot = {PRESSURE: "com.apple.system.thermalpressurelevel 2\n", "pmset -g": " powermode            2\n"}
    facts = probe(**hot).facts
    assert (facts["machine.thermal_pressure"], facts["machine.high_power_mode"]) == ("heavy", True)
    assert facts["machine.low_power_mode"] is False
    absent = probe().absent
    assert absent["machine.thermal_pressure"].reason == "not_installed"
    assert absent["machine.high_power_mode"].reason == "not_applicable"
    assert "machine.thermal_pressure" not in probe(**{PRESSURE: "com.apple.system.thermalpressurelevel 77\n"}).facts


def test_mlx_tells_what_metal_recommends(probe, monkeypatch):
    command = f"{sys.executable} -c {apple.PATH_WITHOUT_FOLDER}{apple._MLX}"
    info = "{'resource_limit': 499000, 'max_buffer_length': 28991029248, 'device_name': 'Apple M3 Max', "
    info += "'max_recommended_working_set_size': 38654705664, 'memory_size': 51539607552}"
    assert probe(**{command: info}).absent["memory.gpu_limit_bytes"].reason == "not_reported"  # not installed here
    monkeypatch.setattr(apple.util, "find_spec", lambda _name: object())
    reading = probe(**{command: info})
    assert reading.facts["memory.gpu_limit_bytes"] == 38654705664
    assert reading.cards[0].facts["recommended_max_memory_bytes"] == 38654705664
    assert probe(**{command: MissingFact("failed", "python ended with -6")}).problems == ["mlx: python ended with -6"]
