"""Cards of AMD, Intel, Huawei and Google by the tools of their makers."""

import sys

import pytest

from stackviz.agent.probing.gather import gather
from stackviz.agent.probing.vendor_tools import TOOLS, probe_vendor_tools
from stackviz.report.format.facts.asking import MissingFact
from tests.agent.machines_to_ask import machine
from tests.report.importers.own_dump import fixture
from tests.report.importers.test_macs_and_amd import ROCM_SMI, ROCMINFO


def tool(name):
    return fixture(f"dumps/tools/{name}.txt")


@pytest.mark.parametrize(
    ("command", "text", "vendor", "kind"),
    [
        ("rocminfo", ROCMINFO, "amd", "gpu"),
        ("amd-smi static", tool("amd_smi_static"), "amd", "gpu"),
        ("rocm-smi", ROCM_SMI, "amd", "gpu"),
        ("xpu-smi discovery", tool("xpu_smi"), "intel", "gpu"),
        ("npu-smi info", tool("npu_smi"), "huawei", "npu"),
        ("tpu-info", tool("tpu_info"), "google", "tpu"),
    ],
)
def test_each_tool_states_its_cards(tmp_path, command, text, vendor, kind):
    assert tuple(command.split()) in TOOLS
    reading = probe_vendor_tools(machine(tmp_path, says={command: text}))
    assert reading.cards
    assert {(card.vendor, card.kind) for card in reading.cards} == {(vendor, kind)}
    assert reading.problems == []


def test_two_tools_of_one_maker_list_the_same_cards_once(tmp_path):
    table = ROCM_SMI.replace("1    35.0c           9.0W    500Mhz  96Mhz    20%   auto  327.0W    0%   0%\n", "")
    reading = probe_vendor_tools(machine(tmp_path, says={"rocminfo": ROCMINFO, "rocm-smi": table}))
    (card,) = reading.cards
    told = (card.reported_name, card.facts["gfx_target"], card.facts["power_w"])
    assert told == ("Radeon RX 7900 XTX", "gfx1100", 11)
    assert "amdgpu-driver" in {software.component for software in reading.software}


def test_only_rocm_facts_are_taken_from_vendor_tools(tmp_path):
    says = {"/opt/rocm/bin/rocminfo": ROCMINFO, "amd-smi version": tool("amd_smi_version")}  # one is not on the path
    reading = probe_vendor_tools(machine(tmp_path, says=says))
    assert (dict(reading.facts), bool(reading.cards)) == ({"rocm.version": "6.2.0"}, True)
    for system in ("Linux", "Darwin"):
        reading = probe_vendor_tools(machine(tmp_path / system, system=system))
        assert (reading.cards, reading.problems, dict(reading.absent)) == ([], [], {})


def test_a_tool_that_fails_is_named_and_costs_its_own_answer(tmp_path):
    failed = MissingFact("timeout", "rocminfo did not end in 15 s")
    reading = probe_vendor_tools(machine(tmp_path, says={"rocminfo": failed, "npu-smi info": tool("npu_smi")}))
    assert [card.vendor for card in reading.cards] == ["huawei"]
    assert reading.problems == ["rocminfo did not end in 15 s"]


@pytest.mark.skipif(sys.platform == "win32", reason="the tools are shell scripts")
def test_tools_on_the_path_are_run_as_in_a_lab(tmp_path, monkeypatch):
    for name, text in (("rocminfo", ROCMINFO), ("xpu-smi", tool("xpu_smi"))):
        script = tmp_path / name
        script.write_text(f"#!/bin/sh\ncat <<'END'\n{text}END\n")
        script.chmod(0o755)
    hanging = tmp_path / "npu-smi"
    hanging.write_text("#!/bin/sh\nexec sleep 60\n")
    hanging.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    gathered = gather(12, probes=["tools"])
    assert [card["vendor"] for card in gathered.cards] == ["amd", "intel"]
    assert gathered.probes[0]["detail"] == "npu-smi did not end in 3 s"
