"""NVIDIA's own errors, one line each: which message of the table they are."""

import pytest

from stackviz.report.dumps import machines
from stackviz.report.importers import read_all
from stackviz.report.rules import judge, packaged_tables

LINES = (
    ("NVRM: Xid (PCI:0000:3b:00): 31, pid=47, name=python3, Ch 00000008, intr 0. MMU Fault: ENGINE GRAPHICS", "xid-31"),
    ("NVRM: Xid (PCI:0000:c1:00): 119, pid=22, Timeout after 6s of waiting for RPC response from GPU0 GSP!", "xid-119"),
    ("NVRM: Xid (PCI:0000:c1:00): 204, a number of tomorrow", "xid-unused"),
    ("the node logged XID 95 and 154 overnight, job died", "xid-95 xid-154"),
    ("Seeing Xid errors: 13, 31 and 43 in dmesg when I train", "xid-13 xid-31 xid-43"),
    ("NVRM: GPU 0000:41:00.0: GPU has fallen off the bus.", "xid-off-bus"),
    ("nvidia-nvswitch3: SXid (PCI:0000:c5:00.0): 12028, Non-fatal, Link 32 egress non-posted", "sxid-non-fatal"),
    ("nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 20034, Fatal, Link 30 LTSSM Fault Up", "sxid-fatal"),
    ("oldest xid 731 is far in the past", None),
)


@pytest.mark.parametrize(("text", "keys"), LINES)
def test_a_line_is_its_message(text, keys):
    assert keys_of(text) == keys


def keys_of(text):
    found = [machine.reading.facts.get("message.symptoms") for machine in machines(read_all(f"{text}\n"))]
    return " ".join(filter(None, found)) or None


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
