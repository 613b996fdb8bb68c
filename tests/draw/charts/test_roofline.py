"""Rooflines as lines: written out by hand for the figures of three spec sheets."""

import pytest

from stackviz.draw.charts.roofline import Roof, roof_lines
from stackviz.draw.colours import GREY, Hue


def roof(bandwidth, peak, hue=GREY, key="roof"):
    return Roof(key=key, label=key, hue=hue, bandwidth=bandwidth, peak=peak)


@pytest.mark.parametrize(
    ("bandwidth", "peak", "ridge"),
    [
        (3350e9, 989.4e12, 295.343),  # H100 SXM5, bf16: 989,400 / 3,350
        (3350e9, 67e12, 20.0),  # H100 SXM5, fp32
        (1008e9, 165.2e12, 163.889),  # RTX 4090, bf16: 165,200 / 1,008
        (1008e9, 82.6e12, 81.944),  # RTX 4090, fp32
        (400e9, 14.131e12, 35.3275),  # M3 Max, fp32: 14,131 / 400
    ],
)
def test_ridge_point_is_peak_over_bandwidth(bandwidth, peak, ridge):
    assert roof(bandwidth, peak).ridge == pytest.approx(ridge, rel=1e-5)


def test_bandwidth_bounds_left_of_the_ridge_the_peak_right():
    h100 = roof(3350e9, 989.4e12)
    assert h100.reachable(1) == 3350e9
    assert h100.reachable(100) == 335e12
    assert h100.reachable(295.4) == h100.reachable(10_000) == 989.4e12


def test_a_roof_is_a_slope_and_a_flat():
    (line,) = roof_lines([roof(400e9, 14e12)], 0.1, 1000, 1e12)
    assert line.points == ((0.1, 0.04), (35.0, 14.0), (1000, 14.0))


def test_a_bandwidth_alone_is_a_slope_that_bounds_everywhere():
    slope = roof(400e9, None)
    (line,) = roof_lines([slope], 0.1, 100, 1e12)
    assert line.points == ((0.1, 0.04), (100, 40.0))
    assert (slope.ridge, slope.reachable(10)) == (None, 4e12)


def test_a_peak_alone_is_a_flat_line():
    flat = roof(None, 14e12)
    (line,) = roof_lines([flat], 0.1, 100, 1e12)
    assert line.points == ((0.1, 14.0), (100, 14.0))
    assert (flat.ridge, flat.reachable(0.1)) == (None, 14e12)


def test_of_two_roofs_on_one_slope_only_the_highest_has_it():
    low, high = roof(1e12, 50e12, key="fp32"), roof(1e12, 200e12, key="bf16")
    lines = {line.key: line.points for line in roof_lines([low, high], 0.1, 1000, 1e12)}
    assert lines["bf16"] == ((0.1, 0.1), (200.0, 200.0), (1000, 200.0))
    assert lines["fp32"] == ((50.0, 50.0), (1000, 50.0))


def test_equal_bandwidths_of_two_accelerators_are_two_slopes():
    lines = roof_lines([roof(1e12, 50e12, hue=GREY), roof(1e12, 200e12, hue=Hue("amd"))], 0.1, 1000, 1e12)
    assert [len(line.points) for line in lines] == [3, 3]
