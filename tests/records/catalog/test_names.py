"""Names are compared without case, marks, separators and the vendor's name."""

import pytest

from stackviz.report.rules.known_cards import normalized


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("NVIDIA A100-SXM4-80GB", "a100 sxm4 80gb"),
        ("A100-SXM4-80GB", "a100 sxm4 80gb"),
        ("NVIDIA_A100-SXM4-80GB", "a100 sxm4 80gb"),
        ("nvidia geforce rtx 4090", "geforce rtx 4090"),
        ("NVIDIA A100-SXM4-40GB MIG 1g.5gb", "a100 sxm4 40gb"),
        ("Intel(R) Data Center GPU Max 1550", "data center gpu max 1550"),
        ("Apple M3 Max", "m3 max"),
        ("Orin (nvgpu)", "orin nvgpu"),
        ("Mac15,9", "mac15 9"),
        ("NVIDIA", "nvidia"),
        ("  ", ""),
        ("®™", ""),
    ],
)
def test_a_name_has_one_form(name, form):
    assert normalized(name) == form
