"""How a Mac is doing: heat, a mode of the system and memory that hold it back."""

from collections.abc import Iterator

from stackviz.base.sentence import join_sentences, say
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


@RULES.rule(
    "mac-thermal",
    "hardware",
    asks="heat holds the Mac back",
    worst=Severity.WARNING,
    source=THERMAL_STATE,
    branch="works",
)
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


MEMORY_PRESSURE = RuleSource(
    "apple-memory-pressure",
    "Apple, Activity Monitor: memory pressure",
    "https://support.apple.com/guide/activity-monitor/actmntr1004/mac",
)
LITTLE_FREE = 0.2  # of main memory, that is free or can be freed: macOS warns from about there on
MUCH_SWAPPED = 0.25  # of main memory: macOS keeps some in swap on a healthy Mac


@RULES.rule(
    "mac-memory",
    "macos",
    asks="the Mac has enough memory for what runs",
    worst=Severity.WARNING,
    source=MEMORY_PRESSURE,
    branch="works",
)
def check_mac_memory(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    if look.platform != "macos":
        return
    free, pressure = look.number("memory.free_ratio"), look.get("memory.pressure")
    swapped, total = look.number("memory.swap_used_bytes"), look.number("memory.total_bytes")
    is_short = free is not None and free < LITTLE_FREE
    is_swapping = bool(swapped and total and swapped >= MUCH_SWAPPED * total)
    if not is_short and not is_swapping and pressure not in ("warning", "critical"):
        return
    figures = (
        say("{share} of main memory free", f"{free:.0%}") if free is not None else "",
        say("{size} GiB swapped out", f"{swapped / 2**30:.1f}") if swapped else "",
        say("pressure {pressure}", pressure) if pressure else "",
    )
    yield Conclusion(
        severity=Severity.WARNING,
        title=say("Main memory is short: {figures}", join_sentences(filter(None, figures), ", ")),
        explanation=say(
            "The GPU of a Mac computes in main memory. What does not fit is compressed or written to the SSD, and each "
            "token or step waits until it is back."
        ),
        advice=say(
            "A smaller model, quantization or context (/fit/ works it out), and fewer other programs. To check: "
            "memory_pressure -Q"
        ),
    )
