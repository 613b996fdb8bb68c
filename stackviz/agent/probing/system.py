"""The system probe: operating system, machine and processor, on Linux (with WSL), macOS and Windows."""

import platform

from stackviz.report.format.facts import questions_of
from stackviz.report.format.facts.asking import Surroundings
from stackviz.report.importers.reading import Reading

__all__ = ["probe_system"]


def probe_system(around: Surroundings) -> Reading:
    reading = Reading(kind="system")
    questions_of("system").ask(around, reading.sheet)
    _find_system(around, reading)
    return reading


def _find_system(around: Surroundings, reading: Reading) -> None:
    """The operating system as a component. macOS is found by the apple probe, which reads the system itself."""
    kernel = platform.release()
    if around.system == "Linux":
        reading.add_software("linux", kernel, "os.uname")
        wsl = reading.facts.get("os.wsl")
        if wsl:
            reading.add_software("wsl", wsl, "/proc/version")
    elif around.system == "Windows":
        reading.add_software("windows", platform.version(), "platform.version")
