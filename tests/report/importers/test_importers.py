"""Dumps of other tools become facts, cards and software; junk becomes nothing, quietly and quickly."""

import json
import re
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


# ---- nvidia-smi -q -x -----------------------------------------------------------------------------------------------


def test_nvidia_smi_tells_a_card_its_instances_and_its_gaps():
    reading = read(f"user@host:~$ nvidia-smi -q -x\n{dump('dumps/nvidia_smi_a100_mig.xml')}\nuser@host:~$ exit")
    assert fits_a_report(reading)
    whole, first, second = reading.cards
    assert (whole.reported_name, whole.memory_bytes) == ("NVIDIA A100-SXM4-40GB", 40960 * 2**20)
    facts = {"power_limit_w": 400, "sm_clock_max_hz": 1.41e9, "pci_device_id": "0x20B010DE", "mig_mode": "enabled"}
    assert facts.items() <= whole.facts.items()
    assert whole.absent["power_max_limit_w"].detail == "deprecated in this driver"
    assert [first.index, second.index, first.memory_bytes] == [1, 2, 19968 * 2**20]
    assert (second.facts["mig_parent_index"], second.facts["multiprocessors"]) == (whole.index, 14)
    assert not re.search("1320621000000|4f0ad2c3", json.dumps([object_document(card) for card in reading.cards]))
    assert whole.uuid_hash == hashed_uuid("GPU-4f0ad2c3-1111-2222-3333-444455556666")


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
    facts = {
        "apple.chip": "Apple M3 Max", "apple.gpu_cores": 40, "apple.cpu_p_cores": 12, "apple.cpu_e_cores": 4,
        "memory.total_bytes": 48 * 2**30,
    }  # fmt: skip
    assert facts.items() <= reading.facts.items()
    assert (reading.cards[0].facts["gpu_cores"], fits_a_report(reading)) == (40, True)


@pytest.mark.parametrize("value", [None, 3, [], {}, "", "proc", "proc 9:9", "x" * 100_000])
@pytest.mark.parametrize("key", ["chip_type", "physical_memory", "number_processors", "machine_model"])
def test_a_profile_with_other_values_is_read_without_complaint(key, value):
    profile = {
        "SPHardwareDataType": [{key: value}],
        "SPDisplaysDataType": [{"sppci_cores": value, "_name": "Apple M9"}],
    }
    assert fits_a_report(read(json.dumps(profile)))


# ---- collect_env ----------------------------------------------------------------------------------------------------


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


# ---- the sheet they write on ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("known", "name", "value"),
    [
        (FACTS, "memory.total_bytes", 0),
        (FACTS, "cpu.cores_logical", "8"),
        (FACTS, "os.name", ""),
        (FACTS, "cuda.available", 1),
        (FACTS, "apple.gpu_cores", 2**64 - 1),
        (CARD_FACTS, "power_limit_w", float("nan")),
        (CARD_FACTS, "sm_clock_max_hz", float("inf")),
    ],
)
def test_sheet_drops_facts_a_report_refuses(known, name, value):
    sheet = FactSheet(known)
    sheet.state(name, value)
    assert (sheet.facts, sheet.absent[name].reason) == ({}, "not_reported")


def test_sheet_keeps_first_statement():
    sheet = FactSheet(FACTS)
    sheet.mark_missing("os.name", "failed")
    sheet.mark_missing("os.name", "timeout")
    assert sheet.absent["os.name"].reason == "failed"
    sheet.state("os.name", "Ubuntu")
    sheet.state("os.name", "Debian")
    sheet.mark_missing("os.name", "failed")
    assert (sheet.facts, sheet.absent) == ({"os.name": "Ubuntu"}, {})


def test_a_card_without_a_name_is_called_so():
    assert CardReading(index=0, kind="gpu", vendor="nvidia", reported_name="\x00").card().reported_name == "unnamed"


def test_texts_are_cleaned_and_bounded():
    assert clean("a\x00b\n\tc  d") == "ab c d"
    assert clean("x" * 10_000) == "x" * (LIMITS.string_chars - 3) + "..."
