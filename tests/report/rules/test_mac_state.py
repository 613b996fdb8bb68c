"""The rules on the heat of a Mac, and on its modes."""

import pytest

from tests.report.rules.build import answer, answers, linux, mac


@pytest.mark.parametrize(
    ("pressure", "severity"), [("moderate", "note"), ("heavy", "warning"), ("trapping", "warning")]
)
def test_a_hot_mac_is_named(pressure, severity):
    finding = answer("mac-thermal", mac(machine__thermal_pressure=pressure))
    assert finding.severity == severity
    assert pressure in finding.title


def test_a_cool_mac_and_others_are_not():
    assert answers("mac-thermal", mac(machine__thermal_pressure="nominal")) == []
    assert answers("mac-thermal", mac()) == answers("mac-thermal", linux()) == []


def test_low_power_mode_is_named_where_it_is_on():
    assert answer("mac-low-power", mac(machine__low_power_mode=True)).severity == "warning"
    assert answers("mac-low-power", mac(machine__low_power_mode=False)) == answers("mac-low-power", mac()) == []
    assert answers("mac-low-power", linux()) == []
