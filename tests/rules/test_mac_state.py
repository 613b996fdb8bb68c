"""The rule on the heat of a Mac."""

import pytest

from tests.rules.build import answer, answers, linux, mac


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
