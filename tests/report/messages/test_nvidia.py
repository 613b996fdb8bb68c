"""NVIDIA's own errors, one line each: which message of the table they are."""

from pathlib import Path

import pytest

from stackviz.report.dumps import machines
from stackviz.report.importers import read_all
from stackviz.report.rules import judge, packaged_tables

FIXTURES = Path(__file__).parents[2] / "fixtures"
LINES = [
    line.split("\t") for line in (FIXTURES / "messages" / "nvidia.tsv").read_text(encoding="utf-8").splitlines()[1:]
]
OF_OTHERS = ("oldest xid 731 is far in the past", "SXM4 sockets", "CUDA error rate 5 %", "cudaMalloc 100 MB", "cdi 2.1")


@pytest.mark.parametrize(("text", "keys"), LINES)
def test_a_line_is_its_message(text, keys):
    assert set(keys.split()) <= set(keys_of(text).split())


@pytest.mark.parametrize("text", OF_OTHERS)
def test_a_line_of_another_program_is_none(text):
    assert keys_of(text) == ""


def keys_of(text):
    found = [machine.reading.facts.get("message.symptoms") for machine in machines(read_all(f"{text}\n"))]
    return " ".join(filter(None, found))


def test_the_xid_that_explains_the_others_leads():
    lines = (
        "NVRM: Xid (PCI:0000:c1:00): 45, pid=7, name=python, Ch 00000008",
        "NVRM: Xid (PCI:0000:c1:00): 63, Row Remapper: New row marked for remapping, reset gpu to activate.",
        "NVRM: Xid (PCI:0000:c1:00): 48, An uncorrectable double bit error (DBE) has been detected on GPU",
    )
    (machine,) = machines(read_all("\n".join(lines)))
    [finding] = [finding for finding in judge(machine.report(), packaged_tables()) if finding.rule == "error-message"]
    assert finding.title.startswith(lines[2][:40])
    assert "The text also has Xid 45, Xid 63, which often follow from it." in finding.explanation


def test_a_log_that_says_why_is_not_asked_for():
    """nvidia-smi's own words are no second finding."""
    log = "NVRM: installed in this system requires use of the NVIDIA open kernel modules.\nNVRM: RmInitAdapter failed!"
    (machine,) = machines(read_all(f"$ nvidia-smi\nNo devices were found\n$ sudo dmesg\n{log}\n"))
    [finding] = [finding for finding in judge(machine.report(), packaged_tables()) if finding.severity == "broken"]
    assert finding.explanation.startswith("The card needs NVIDIA's open kernel modules")
