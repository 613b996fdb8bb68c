"""How a Mac is doing: heat and a mode of the system that hold it back."""

from collections.abc import Iterator

from stackviz.base.sentence import say
from stackviz.report.rules.compatibility import RuleSource, Tables
from stackviz.report.rules.look import Look
from stackviz.report.rules.rule import Conclusion, RuleSet, Severity

RULES = RuleSet(order=74)

THERMAL_STATE = RuleSource(
    "apple-thermal-state",
    "Apple, ProcessInfo.ThermalState",
    "https://developer.apple.com/documentation/foundation/processinfo/thermalstate-swift.enum",
)
LOW_POWER_MODE = RuleSource(
    "apple-low-power-mode",
    "Apple, ProcessInfo.isLowPowerModeEnabled",
    "https://developer.apple.com/documentation/foundation/processinfo/islowpowermodeenabled",
)


@RULES.rule("mac-thermal", "hardware", asks="heat holds the Mac back", worst=Severity.WARNING, source=THERMAL_STATE)
def check_mac_thermal(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    pressure = look.get("machine.thermal_pressure")
    if pressure is None or pressure == "nominal":
        return
    is_light = pressure == "moderate"
    yield Conclusion(
        severity=Severity.NOTE if is_light else Severity.WARNING,
        title=say("macOS reports thermal pressure: {pressure}", pressure),
        explanation=say(
            "Fans run faster, and from heavy on clocks of processor and GPU are lowered until it has cooled."
        ),
        advice=say(
            "Measure again when it has cooled: ten minutes without load, on a hard surface, not in the sun. A MacBook "
            "Air has no fan and reaches this under any load that lasts."
        ),
    )


@RULES.rule(
    "mac-low-power", "hardware", asks="Low Power Mode holds the Mac back", worst=Severity.WARNING, source=LOW_POWER_MODE
)
def check_mac_low_power(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    if not look.is_true("machine.low_power_mode"):
        return
    yield Conclusion(
        severity=Severity.WARNING,
        title=say("Low Power Mode is on"),
        explanation=say("macOS lowers the clocks of processor and GPU to save energy: what is measured is slower."),
        advice=say(
            "To measure, turn it off: System Settings, Battery, Low Power Mode (on a Mac without a battery: Energy), "
            "and keep a laptop plugged in."
        ),
    )
