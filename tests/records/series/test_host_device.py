"""The benchmark `host-device`: bytes, and the link that bounds them."""

import pytest

from stackviz.records.series.bound import LANE_BYTES_PER_S, peak_share
from stackviz.records.series.measurement import CardUsed, Rate
from stackviz.report.measuring.host_device import HOST_DEVICE

CASE = {"direction": "to-device", "memory": "pinned", "bytes": 256 * 2**20}
SLOT = {"pcie_generation_max": 5, "pcie_width_max": 16}


def share(facts, rate=50e9):
    card = CardUsed(0, "NVIDIA H100 PCIe", 1, facts)
    return peak_share(Rate(rate, None, None, "B/s"), card, HOST_DEVICE.bounds_of(CASE), {})


def test_each_byte_crosses_the_link_once():
    assert HOST_DEVICE.rate(CASE, 0.01) == pytest.approx(26.84e9, rel=1e-3)
    assert HOST_DEVICE.rate({"bytes": 8}, 1.0) is None


def test_the_slot_bounds_it():
    found = share(SLOT)
    assert found.peak == pytest.approx(63.02e9, rel=1e-3)
    assert (found.condition, found.label) == ("PCIe 5.0 x16", "79 %")


@pytest.mark.parametrize("facts", [{}, SLOT | {"pcie_generation_max": 9}, SLOT | {"unified_memory": True},
                                   SLOT | {"addressing_mode": "ATS"}, {"pcie_generation_max": 5}])  # fmt: skip
def test_no_bound_is_guessed_for_other_links(facts):
    assert share(facts) is None


def test_lanes_carry_what_encoding_leaves():
    assert [round(rate / 1e9, 3) for rate in LANE_BYTES_PER_S.values()] == [0.25, 0.5, 0.985, 1.969, 3.938, 7.562]


def test_a_processor_has_no_link():
    assert "no link" in HOST_DEVICE.not_on["cpu"]
