"""Macs, AMD's tools and plain processor dumps."""

import json

import pytest

from stackviz.report.dumps.machines import machines
from stackviz.report.importers import Reading, lscpu, read_all
from tests.report.importers.own_dump import OwnDump, fixture

LAPTOP = """\
Hardware:

    Hardware Overview:

      Model Name: MacBook Pro
      Model Identifier: Mac17,7
      Chip: Apple M5 Max
      Total Number of Cores: 18 (6 super and 12 performance)
      Memory: 64 GB
      Serial Number (system): C02ABCDEFGHJ
      Hardware UUID: 00000000-1111-2222-3333-444444444444

Software:

    System Software Overview:

      System Version: macOS 26.3 (25D125)
      Kernel Version: Darwin 25.3.0
      User Name: Ada Lovelace (ada)

Graphics/Displays:

    Apple M5 Max:

      Chipset Model: Apple M5 Max
      Type: GPU
      Total Number of Cores: 40
      Vendor: Apple (0x106b)
      Metal Support: Metal 4
      Displays:
        Color LCD:
          Resolution: 3456 x 2234 Retina
"""
TOWER = """\
Hardware:

    Hardware Overview:

      Model Identifier: MacPro7,1
      Processor Name: 16-Core Intel Xeon W
      Number of Processors: 1
      Total Number of Cores: 16
      Memory: 96 GB

Graphics/Displays:

    AMD Radeon Pro W5700X:

      Chipset Model: AMD Radeon Pro W5700X
      VRAM (Total): 16 GB
      Vendor: AMD (0x1002)
      Metal Family: Supported, Metal GPUFamily macOS 2

    Intel UHD Graphics 630:

      Chipset Model: Intel UHD Graphics 630
      VRAM (Dynamic, Max): 1536 MB
      Vendor: Intel
"""


def one(text: str) -> Reading:
    (reading,) = read_all(text).readings
    return reading


def test_the_text_of_a_mac_tells_what_its_json_tells():
    reading = one(LAPTOP)
    expected = {
        "machine.model": "Mac17,7",
        "apple.chip": "Apple M5 Max",
        "apple.gpu_cores": 40,
        "apple.cpu_p_cores": 6,
        "apple.cpu_e_cores": 12,
        "apple.metal_family": "Metal 4",
        "memory.total_bytes": 64 * 2**30,
        "os.name": "macOS",
        "os.version": "26.3",
        "os.build": "25D125",
        "os.kernel": "Darwin 25.3.0",
    }
    assert {name: reading.facts.get(name) for name in expected} == expected
    assert [(card.vendor, card.kind, card.facts["gpu_cores"]) for card in reading.cards] == [("apple", "soc", 40)]
    assert read_all(LAPTOP).not_understood == ()


def test_serial_numbers_and_names_of_people_are_not_read():
    told = str(one(LAPTOP))
    assert not any(word in told for word in ("C02ABCDEFGHJ", "4444", "Ada", "ada)"))


def test_intel_mac_has_discrete_and_shared_cards():
    reading = one(TOWER)
    assert (reading.facts["cpu.model"], reading.facts["cpu.cores_physical"]) == ("16-Core Intel Xeon W", 16)
    assert reading.absent["apple.chip"].reason == "not_applicable"
    assert [(card.vendor, card.memory_bytes) for card in reading.cards] == [("amd", 16 * 2**30), ("intel", None)]
    assert reading.cards[1].facts["unified_memory"] is True


def test_two_macs_in_one_text_are_two_machines():
    found = machines(read_all(LAPTOP + "\n" + TOWER))
    assert [machine.reading.facts["machine.model"] for machine in found] == ["Mac17,7", "MacPro7,1"]


def test_two_documents_of_json_are_two_readings():
    documents = [json.dumps({"SPHardwareDataType": [{"chip_type": f"Apple M{number}"}]}) for number in (1, 4)]
    readings = read_all("$ system_profiler -json\n" + "\n".join(documents)).readings
    assert [reading.facts["apple.chip"] for reading in readings] == ["Apple M1", "Apple M4"]


def test_an_intel_macs_json_counts_cores():
    mac = {"cpu_type": "6-Core Intel Core i7", "number_processors": 6, "packages": 1}
    facts = one(json.dumps({"SPHardwareDataType": [mac]})).facts
    assert (facts["cpu.cores_physical"], facts["cpu.sockets"]) == (6, 1)


# ---- AMD ------------------------------------------------------------------------------------------------------------

ROCM_SMI = """\
============================ ROCm System Management Interface ============================
====================================== Concise Info ======================================
GPU  Temp (DieEdge)  AvgPwr  SCLK    MCLK     Fan   Perf  PwrCap  VRAM%  GPU%
0    38.0c           11.0W   500Mhz  96Mhz    20%   auto  327.0W    3%   7%
1    35.0c           9.0W    500Mhz  96Mhz    20%   auto  327.0W    0%   0%
==========================================================================================
================================== End of ROCm SMI Log ===================================
"""


def test_the_old_table_of_rocm_smi_names_no_card():
    reading = one(ROCM_SMI)
    assert [card.reported_name for card in reading.cards] == ["unnamed", "unnamed"]
    facts = reading.cards[0].facts
    assert (facts["temperature_c"], facts["power_w"], facts["power_limit_w"]) == (38.0, 11.0, 327.0)
    assert facts["busy_ratio"] == 0.07
    assert reading.absent["rocm.version"].reason == "not_reported"


def test_lists_of_rocm_smi_tell_name_memory_and_target():
    text = """\
============================ ROCm System Management Interface ============================
====================================== Product Info ======================================
GPU[0]\t\t: Card Series: \t\tAMD Radeon RX 7900 XTX
GPU[0]\t\t: GFX Version: \t\tgfx1100
GPU[0]\t\t: VRAM Total Memory (B): 25753026560
GPU[0]\t\t: VRAM Total Used Memory (B): 27582464
================================== End of ROCm SMI Log ===================================
"""
    (card,) = one(text).cards
    assert (card.reported_name, card.memory_bytes) == ("AMD Radeon RX 7900 XTX", 25753026560)
    assert (card.facts["gfx_target"], card.facts["memory_used_bytes"]) == ("gfx1100", 27582464)


ROCMINFO = """\
ROCk module version 6.8.5 is loaded
=====================
HSA System Attributes
=====================
Runtime Version:         1.14
==========
HSA Agents
==========
*******
Agent 1
*******
  Name:                    AMD Ryzen 9 7950X 16-Core Processor
  Marketing Name:          AMD Ryzen 9 7950X 16-Core Processor
  Device Type:             CPU
  Compute Unit:            32
*******
Agent 2
*******
  Name:                    gfx1100
  Uuid:                    GPU-0123456789abcdef
  Marketing Name:          Radeon RX 7900 XTX
  Device Type:             GPU
  Chip ID:                 29772(0x744c)
  Max Clock Freq. (MHz):   2304
  Compute Unit:            96
  Pool Info:
    Pool 1
      Segment:                 GLOBAL; FLAGS: COARSE GRAINED
      Size:                    25149440(0x17fc000) KB
  ISA Info:
    ISA 1
      Name:                    amdgcn-amd-amdhsa--gfx1100
*** Done ***
"""


def test_rocminfo_tells_cards_with_memory_and_the_processor():
    reading = one(ROCMINFO)
    (card,) = reading.cards
    assert (card.reported_name, card.memory_bytes) == ("Radeon RX 7900 XTX", 25149440 * 1024)
    expected = {
        "gfx_target": "gfx1100",
        "multiprocessors": 96,
        "pci_device_id": "0x744C1002",
        "sm_clock_max_hz": 2304e6,
    }
    assert dict(card.facts) == expected
    assert (reading.facts["cpu.model"], reading.facts["cpu.sockets"]) == ("AMD Ryzen 9 7950X 16-Core Processor", 1)
    assert [found.version for found in reading.software if found.component == "amdgpu-driver"] == ["6.8.5"]
    assert "0123456789abcdef" not in str(reading)


@pytest.mark.parametrize("cut", range(100, len(ROCMINFO), 120))
def test_a_cut_rocminfo_is_still_one(cut):
    assert read_all(ROCMINFO[:cut]).kinds == ("rocminfo",)


# ---- processors -----------------------------------------------------------------------------------------------------


CPU_BLOCK = (
    "processor\t: {}\nvendor_id\t: GenuineIntel\nmodel name\t: Intel(R) Xeon(R) Gold 6226R\nflags\t\t: fpu avx2\n\n"
)


@pytest.mark.parametrize(
    ("text", "kind", "facts"),
    [
        (
            "".join(CPU_BLOCK.format(number) for number in range(4)), "lscpu",
            {"cpu.cores_logical": 4, "cpu.model": "Intel(R) Xeon(R) Gold 6226R", "cpu.features": "avx2"},
        ),
        ("model name\t: AMD EPYC 7B13 64-Core Processor\n", "lscpu", {"cpu.cores_logical": None}),
        ("MemTotal:       263774780 kB\nMemFree:  1000 kB\n", "meminfo", {"memory.total_bytes": 263774780 * 1024}),
    ],
)  # fmt: skip
def test_processors_and_memory_are_read(text, kind, facts):
    reading = one(text)
    assert (reading.kind, {name: reading.facts.get(name) for name in facts}) == (kind, facts)


def test_mac_without_displays_names_the_command():
    hardware = "Hardware:\n\n    Hardware Overview:\n\n      Model Name: MacBook Air\n      Chip: Apple M2\n"
    assert any("SPDisplaysDataType" in said for said in one(hardware).problems)
    displays = "\nGraphics/Displays:\n\n    Apple M2:\n\n      Chipset Model: Apple M2\n      Vendor: Apple (0x106b)\n"
    assert one(hardware + displays).problems == []


@pytest.mark.parametrize("line", ["processor : 0", "vendor_id : x", "Architecture: x86_64"])
def test_a_block_that_is_no_processor_is_walked_once(monkeypatch, line):
    walked = []
    monkeypatch.setattr(
        lscpu, "_end_of_block", lambda text, at, walk=lscpu._end_of_block: walked.append(at) or walk(text, at)
    )
    assert lscpu.find_lscpu(f"\n{line}" * 2000) == []
    assert len(walked) == 1


OWN_DUMPS = (
    OwnDump(
        kind="system-profiler-json",
        text=fixture("mac/m3_max_system_profiler.json"),
        facts={"apple.chip": "Apple M3 Max"},
        cards=1,
    ),
    OwnDump(
        kind="system-profiler-text", text=LAPTOP, facts={"os.name": "macOS", "apple.chip": "Apple M5 Max"}, cards=1
    ),
    OwnDump(kind="system-profiler-text", text=TOWER, facts={"cpu.model": "16-Core Intel Xeon W"}, cards=2),
    OwnDump(kind="rocm-smi", text=ROCM_SMI, facts={"os.name": "Linux"}, cards=2),
    OwnDump(kind="rocminfo", text=ROCMINFO, facts={"os.name": "Linux"}, cards=1),
)
