"""How a Mac is doing: heat that holds it back."""

from collections.abc import Iterator

from stackviz.rules.compatibility import RuleSource, Tables
from stackviz.rules.finding import Conclusion, Severity
from stackviz.rules.look import Look
from stackviz.rules.rule import RuleSet

RULES = RuleSet(order=74)

THERMAL_STATE = RuleSource(
    "apple-thermal-state",
    "Apple, ProcessInfo.ThermalState",
    "https://developer.apple.com/documentation/foundation/processinfo/thermalstate-swift.enum",
)


@RULES.rule("mac-thermal", "hardware", asks="heat holds the Mac back", worst=Severity.WARNING, source=THERMAL_STATE)
def check_mac_thermal(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    pressure = look.get("machine.thermal_pressure")
    if pressure is None or pressure == "nominal":
        return
    is_light = pressure == "moderate"
    yield Conclusion(
        severity=Severity.NOTE if is_light else Severity.WARNING,
        title=f"macOS reports thermal pressure: {pressure}",
        explanation="Fans run faster, and from heavy on clocks of processor and GPU are lowered until it has cooled.",
        advice=(
            "Measure again when it has cooled: ten minutes without load, on a hard surface, not in the sun. A MacBook "
            "Air has no fan and reaches this under any load that lasts."
        ),
    )
