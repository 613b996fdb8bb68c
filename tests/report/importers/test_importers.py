"""Dumps of other tools become facts, cards and software; junk becomes nothing, quietly and quickly."""

import json
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stackviz.report.format import CARD_FACTS, FACTS, LIMITS, hashed_uuid, parse_report
from stackviz.report.format.write import absent_document, object_document
from stackviz.report.importers import IMPORTERS, Reading, read_all
from stackviz.report.importers.reading import CardReading, FactSheet, clean
from tests.report.format.reports import report_body

FIXTURES = Path(__file__).parents[2] / "fixtures"


def read(text: str) -> Reading:
    """What the first dump in a text tells."""
    return read_all(text).readings[0]


def dump(name: str) -> str:
    return (FIXTURES / name).read_text(encoding="utf-8")


def fits_a_report(reading: Reading) -> bool:
    """Whatever a dump says, what an importer makes of it is fit to be sent."""
    parse_report(
        report_body(
            facts=dict(reading.facts),
            absent=absent_document(reading.absent),
            cards=[object_document(card) for card in reading.cards],
            software=[object_document(found) for found in reading.software],
            results=[],
        )
    )
    return True


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("dumps/nvidia_smi_a100_mig.xml", "nvidia-smi-xml"),
        ("dumps/collect_env_cuda.txt", "collect-env"),
        ("mac/m3_max_system_profiler.json", "system-profiler-json"),
    ],
)
def test_each_tool_is_recognised(name, kind):
    assert read_all(dump(name)).kinds == (kind,)
    reading = read(dump(name))
    assert (reading.kind, reading.problems) == (kind, [])
    assert fits_a_report(reading)


# ---- nvidia-smi -q -x -----------------------------------------------------------------------------------------------


def test_nvidia_smi_tells_driver_card_and_limits_in_si_units():
    reading = read(dump("dumps/nvidia_smi_a100_mig.xml"))
    assert reading.facts["nvidia.driver_version"] == "560.35.03"
    assert reading.facts["cuda.driver_api_version"] == "12.6"
    card = reading.cards[0]
    assert (card.reported_name, card.memory_bytes) == ("NVIDIA A100-SXM4-40GB", 40960 * 2**20)
    assert card.facts["power_limit_w"] == 400
    assert card.facts["sm_clock_max_hz"] == 1.41e9
    assert card.facts["pci_device_id"] == "0x20B010DE"
    assert (card.facts["pcie_generation"], card.facts["pcie_width"]) == (1, 16)
    assert (card.facts["ecc"], card.facts["mig_mode"]) == (True, "enabled")


def test_nvidia_smi_gaps_have_reasons():
    card = read(dump("dumps/nvidia_smi_a100_mig.xml")).cards[0]
    assert card.absent["driver_model"].reason == "not_supported"
    assert card.absent["power_max_limit_w"].detail == "deprecated in this driver"


def test_instances_are_cards_after_the_whole_one():
    whole, first, second = read(dump("dumps/nvidia_smi_a100_mig.xml")).cards
    assert [first.index, second.index] == [1, 2]
    assert first.memory_bytes == 19968 * 2**20
    assert (second.facts["mig_parent_index"], second.facts["multiprocessors"]) == (whole.index, 14)


def test_serial_number_and_uuid_leave_only_as_a_hash():
    reading = read(dump("dumps/nvidia_smi_a100_mig.xml"))
    told = json.dumps([object_document(card) for card in reading.cards])
    assert "1320621000000" not in told
    assert "4f0ad2c3" not in told
    assert reading.cards[0].uuid_hash == hashed_uuid("GPU-4f0ad2c3-1111-2222-3333-444455556666")


def test_text_around_the_document_is_passed_over():
    text = "user@host:~$ nvidia-smi -q -x\n" + dump("dumps/nvidia_smi_a100_mig.xml") + "\nuser@host:~$ exit"
    assert len(read(text).cards) == 3


BOMB = """<?xml version="1.0"?>
<!DOCTYPE nvidia_smi_log [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">
<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;"><!ENTITY d "&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;">]>
<nvidia_smi_log><driver_version>&d;</driver_version></nvidia_smi_log>"""


@pytest.mark.parametrize(
    "text",
    [
        BOMB,
        '<!DOCTYPE nvidia_smi_log [<!ENTITY x SYSTEM "file:///etc/passwd">]><nvidia_smi_log>&x;</nvidia_smi_log>',
        "<nvidia_smi_log>" + "<a>" * 100_000,
        "<nvidia_smi_log>" + "<gpu></gpu>" * 300_000 + "</nvidia_smi_log>",
        "<nvidia_smi_log>" + "x" * 9_000_000 + "</nvidia_smi_log>",
        "<nvidia_smi_log><gpu>",
        "<nvidia_smi_log>\x00</nvidia_smi_log>",
        "<html><nvidia_smi_log/></html>",
    ],
    ids=["entities", "outside-entity", "deep", "many", "long", "torn", "nul", "other-root"],
)
def test_hostile_xml_ends_quickly_in_a_problem(text):
    started = time.monotonic()
    reading = read(text)
    assert time.monotonic() - started < 30
    assert reading.cards == []
    assert reading.problems or reading.absent
    assert fits_a_report(reading)


def test_more_cards_than_a_report_holds_are_cut_and_said():
    gpus = "<gpu><product_name>X</product_name></gpu>" * (LIMITS.cards + 5)
    reading = read(f"<nvidia_smi_log>{gpus}</nvidia_smi_log>")
    assert len(reading.cards) == LIMITS.cards
    assert reading.problems == [f"{LIMITS.cards + 5} cards; the first {LIMITS.cards} were read"]


def test_numbers_nobody_can_mean_are_absent():
    text = """<nvidia_smi_log><gpu><product_name>X</product_name><fb_memory_usage><total>0 MiB</total></fb_memory_usage>
      <power_readings><enforced_power_limit>99999999999999999999 W</enforced_power_limit></power_readings>
      <max_clocks><sm_clock>many MHz</sm_clock></max_clocks></gpu></nvidia_smi_log>"""
    (card,) = read(text).cards
    assert card.memory_bytes is None
    assert {"memory_bytes", "power_limit_w", "sm_clock_max_hz"} <= set(card.absent)


# ---- system_profiler ------------------------------------------------------------------------------------------------


def test_a_mac_tells_chip_bin_memory_and_metal():
    reading = read(dump("mac/m3_max_system_profiler.json"))
    assert reading.facts["apple.chip"] == "Apple M3 Max"
    assert reading.facts["apple.gpu_cores"] == 40
    assert (reading.facts["apple.cpu_p_cores"], reading.facts["apple.cpu_e_cores"]) == (12, 4)
    assert reading.facts["memory.total_bytes"] == 48 * 2**30
    assert reading.cards[0].facts["gpu_cores"] == 40


@pytest.mark.parametrize("value", [None, 3, [], {}, "", "proc", "proc 9:9", "x" * 100_000])
@pytest.mark.parametrize("key", ["chip_type", "physical_memory", "number_processors", "machine_model"])
def test_a_profile_with_other_values_is_read_without_complaint(key, value):
    profile = {
        "SPHardwareDataType": [{key: value}],
        "SPDisplaysDataType": [{"sppci_cores": value, "_name": "Apple M9"}],
    }
    assert fits_a_report(read(json.dumps(profile)))


# ---- collect_env ----------------------------------------------------------------------------------------------------


def test_collect_env_tells_torch_cuda_system_and_cards():
    reading = read(dump("dumps/collect_env_cuda.txt"))
    assert reading.facts["torch.version"] == "2.13.0+cu130"
    assert reading.facts["torch.cuda_version"] == "13.0"
    assert (reading.facts["os.name"], reading.facts["os.version"], reading.facts["os.arch"]) == (
        "Ubuntu",
        "24.04.1",
        "x86_64",
    )
    assert reading.facts["cuda.available"] is True
    assert reading.facts["cuda.toolkit_version"] == "13.0.48"
    assert reading.facts["nvidia.driver_version"] == "580.65.06"
    assert reading.facts["cudnn.version"] == "9.13.0"
    assert reading.facts["cpu.cores_logical"] == 32
    assert [(card.index, card.reported_name) for card in reading.cards] == [
        (0, "NVIDIA GeForce RTX 4090"),
        (1, "NVIDIA GeForce RTX 4090"),
    ]
    assert ("triton", "3.5.0") in [(found.component, found.version) for found in reading.software]


def test_could_not_collect_and_not_applicable_are_two_reasons():
    text = dump("dumps/collect_env_cuda.txt").replace(
        "Nvidia driver version: 580.65.06", "Nvidia driver version: Could not collect"
    )
    reading = read(text)
    assert reading.absent["nvidia.driver_version"].reason == "not_reported"
    assert reading.absent["torch.hip_version"].reason == "not_applicable"


def test_several_libraries_are_not_one_version():
    text = dump("dumps/collect_env_cuda.txt").replace("libcudnn_adv.so.9.13.0", "libcudnn.so.8.9.7")
    reading = read(text)
    assert "cudnn.version" not in reading.facts
    assert reading.problems == ["several cuDNN libraries: 8.9.7, 9.13.0"]


def test_line_ends_of_windows_and_indents_of_forums_are_read():
    text = "\r\n".join(f"> {line}" for line in dump("dumps/collect_env_cuda.txt").splitlines())
    assert read(text).facts["torch.version"] == "2.13.0+cu130"


# ---- anything at all ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["", "hello", "{}", "[1]", "PyTorch version:", "\x00\x01", "{" * 100_000, "x" * 5_000_000]
)
def test_what_no_tool_wrote_is_nobodys(text):
    assert read_all(text).readings == ()


@pytest.mark.parametrize("importer", IMPORTERS, ids=lambda importer: importer.kind)
@given(text=st.text(max_size=300))
@settings(max_examples=60)
def test_no_importer_raises_on_any_text(importer, text):
    assert fits_a_report(importer.read(text))
    assert all(0 <= start < end <= len(text) for start, end in importer.find(text))


@pytest.mark.parametrize(
    "name", ["dumps/nvidia_smi_a100_mig.xml", "dumps/collect_env_cuda.txt", "mac/m3_max_system_profiler.json"]
)
@given(data=st.data())
@settings(max_examples=60)
def test_no_importer_raises_on_a_damaged_dump(name, data):
    text = dump(name)
    at = data.draw(st.integers(0, len(text)))
    length = data.draw(st.integers(0, 200))
    junk = data.draw(
        st.text(max_size=30) | st.sampled_from(["\x00", "<", "9" * 5000, "\ud800", "}", '"', "\u202e", "&lt;"])
    )
    damaged = text[:at] + junk + text[at + length :]
    for importer in IMPORTERS:
        assert fits_a_report(importer.read(damaged))


@pytest.mark.parametrize("size", [100_000, pytest.param(9_000_000, marks=pytest.mark.slow)])
def test_a_very_long_dump_is_read_in_bounded_time(size):
    started = time.process_time()
    for importer in IMPORTERS:
        importer.read("PyTorch version: 2\nOS: " + "a b" * (size // 3))
        importer.read("GPU 0: " + "x" * (size // 2) + "\n[pip3] " + "y" * (size // 3))
    assert time.process_time() - started < 60


# ---- the sheet they write on ----------------------------------------------------------------------------------------


def test_sheet_drops_facts_a_report_refuses():
    sheet = FactSheet(FACTS)
    for name, value in [
        ("memory.total_bytes", 0),
        ("cpu.cores_logical", "8"),
        ("os.name", ""),
        ("cuda.available", 1),
        ("apple.gpu_cores", 2**64 - 1),
    ]:
        sheet.state(name, value)
        assert sheet.absent[name].reason == "not_reported"
    assert sheet.facts == {}


def test_sheet_keeps_first_statement():
    sheet = FactSheet(FACTS)
    sheet.mark_missing("os.name", "failed")
    sheet.mark_missing("os.name", "timeout")
    assert sheet.absent["os.name"].reason == "failed"
    sheet.state("os.name", "Ubuntu")
    sheet.state("os.name", "Debian")
    sheet.mark_missing("os.name", "failed")
    assert (sheet.facts, sheet.absent) == ({"os.name": "Ubuntu"}, {})


def test_numbers_that_are_not_finite_are_absent():
    sheet = FactSheet(CARD_FACTS)
    sheet.state("power_limit_w", float("nan"))
    sheet.state("sm_clock_max_hz", float("inf"))
    assert set(sheet.absent) == {"power_limit_w", "sm_clock_max_hz"}


def test_a_card_without_a_name_is_called_so():
    assert CardReading(index=0, kind="gpu", vendor="nvidia", reported_name="\x00").card().reported_name == "unnamed"


def test_texts_are_cleaned_and_bounded():
    assert clean("a\x00b\n\tc  d") == "ab c d"
    assert clean("x" * 10_000) == "x" * (LIMITS.string_chars - 3) + "..."
