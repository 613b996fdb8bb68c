"""Probes of the system and of Python: the machine, the interpreter, and which packages of the stack are installed.

Metadata shows which packages are installed: a broken one shows too. Whether it loads, a child for each package tries.
"""

import platform
from importlib import metadata

from stackviz.report.format.components import PACKAGE_METADATA, component_of, version_with_build
from stackviz.report.format.facts import questions_of
from stackviz.report.format.facts.asking import Surroundings
from stackviz.report.importers.reading import Reading

__all__ = ["probe_packages", "probe_python", "probe_system"]


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


def probe_packages(around: Surroundings) -> Reading:
    reading = Reading(kind="packages")
    questions_of("packages").ask(around, reading.sheet)
    return reading


_HAS_A_PROBE = "pytorch"  # which imports it, and tells what runs


def probe_python(around: Surroundings) -> Reading:
    reading = Reading(kind="python")
    questions_of("python").ask(around, reading.sheet)
    reading.add_software("python", platform.python_version(), "platform")
    _find_packages(reading)
    return reading


def _find_packages(reading: Reading) -> None:
    for distribution in metadata.distributions():
        name = distribution.metadata["Name"] or ""
        component = component_of(name)
        if component is None or component == _HAS_A_PROBE:
            continue
        reading.add_software(component, version_with_build(name, distribution.version), PACKAGE_METADATA)
        if component == "cuda-runtime":
            reading.sheet.state("cuda.runtime_version", distribution.version)
