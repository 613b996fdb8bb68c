"""What many add to a torch: the release that goes with it and supports the card, or why none is known to."""

import pytest

from stackviz.report.rules import packaged_tables
from stackviz.report.rules.add_ons import add_ons

TABLES = packaged_tables()


@pytest.mark.parametrize(
    ("torch", "capability", "component", "version", "why"),
    [
        ("2.9.1", "8.6", "xformers", "0.0.33.post2", ""),
        ("2.14.1", "8.6", "xformers", "0.0.35", ""),
        ("2.9.0", "8.6", "xformers", "", "No release of xFormers on record goes with torch 2.9.0"),
        ("2.9.1", "7.0", "xformers", "", "xFormers 0.0.33.post2 needs compute capability 7.5 or newer"),
        ("2.9.1", "9.0", "flash-attn", "2.8.0.post2", ""),
        ("2.9.1", "7.5", "flash-attn", "", "FlashAttention 2.8.0.post2 needs compute capability 8.0 or newer"),
        ("2.9.1", "6.1", "bitsandbytes", "0.50.2", ""),
        ("2.9.1", "5.2", "bitsandbytes", "", "bitsandbytes 0.50.2 needs compute capability 6.0 or newer"),
        ("2.9.1", "8.6", "sageattention", "2.2.0", ""),
        ("2.9.1", "12.0", "sageattention", "2.2.0", ""),
        (
            "2.9.1",
            "7.5",
            "sageattention",
            "",
            "SageAttention 2.2.0 has code for compute capability 8.0 8.6 8.9 9.0 12.0",
        ),
        ("2.2.2", "8.6", "sageattention", "", "No release of SageAttention on record goes with torch 2.2.2"),
        ("2.9.1", "8.6", "triton", "3.5.1", ""),
    ],
)
def test_an_add_on_fits_torch_and_card_or_says_why_not(torch, capability, component, version, why):
    [found] = [each for each in add_ons(TABLES, torch, "linux-x86_64", capability) if each.component == component]
    assert (found.version, found.why_none) == (version, why)
    assert found.source or not version
