"""The maker of a card is told by its name, makers before lines of products before model numbers."""

import pytest

from stackviz.report.importers import read_all
from stackviz.report.importers.reading import vendor_of
from stackviz.report.importers.tool_result import device_of_name
from stackviz.report.rules.compatibility import packaged_cards


@pytest.mark.parametrize(
    ("name", "vendor"),
    [
        ("Intel(R) Arc(TM) A770 Graphics", "intel"),
        ("Intel(R) Arc(TM) Pro A60", "intel"),
        ("Arc A380", "intel"),
        ("A770", "intel"),
        ("AMD Radeon Pro V620", "amd"),
        ("Radeon Pro V340", "amd"),
        ("MI300X", "amd"),
        ("ATI FirePro D500", "amd"),
        ("sppci_vendor_amd", "amd"),
        ("Apple M3 Max", "apple"),
        ("M3 Max", "apple"),
        ("A100-SXM4-80GB", "nvidia"),
        ("V100", "nvidia"),
        ("L40S", "nvidia"),
        ("T4", "nvidia"),
        ("Tesla M40", "nvidia"),
        ("RTX_4090", "nvidia"),
        ("Quadro P620", "nvidia"),
        ("Microsoft Direct3D12 (NVIDIA GeForce RTX 3060)", "nvidia"),
        ("llvmpipe (LLVM 15.0.7, 256 bits)", "unknown"),
        ("", "unknown"),
    ],
)
def test_a_name_leads_to_its_maker(name, vendor):
    assert vendor_of(name) == vendor
    assert device_of_name(0, name).vendor == vendor


def test_no_card_of_the_tables_is_taken_for_another_makers():
    wrong = {card.reported_name: card.vendor for card in packaged_cards()}
    wrong = {name: vendor for name, vendor in wrong.items() if vendor_of(name) not in (vendor, "unknown")}
    assert not wrong


def test_a_card_of_intel_in_an_environment_report_is_intels():
    text = "- `transformers` version: 4.57.1\n- Platform: Linux-6.8.0-45-generic-x86_64-with-glibc2.39\n"
    text += "- Python version: 3.12.3\n- PyTorch version: 2.9.0+cpu\n- GPU type: Intel(R) Arc(TM) A770 Graphics\n"
    [reading] = read_all(text).readings
    assert [card.vendor for card in reading.cards] == ["intel"]
