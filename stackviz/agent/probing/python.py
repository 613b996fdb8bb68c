"""The Python probe: the interpreter, and which packages of the stack are installed, by their metadata alone.

Nothing is imported here: a broken package shows as installed, and fails in a probe of its own.
"""

import platform
from importlib import metadata

from stackviz.report.format.facts import questions_of
from stackviz.report.format.facts.asking import Surroundings
from stackviz.report.format.packages import PACKAGE_METADATA, component_of
from stackviz.report.importers.reading import Reading

__all__ = ["probe_python"]

_HAS_A_PROBE = "pytorch"  # which imports it, and tells what runs


def probe_python(around: Surroundings) -> Reading:
    reading = Reading(kind="python")
    questions_of("python").ask(around, reading.sheet)
    reading.add_software("python", platform.python_version(), "platform")
    _find_packages(reading)
    return reading


def _find_packages(reading: Reading) -> None:
    for distribution in metadata.distributions():
        component = component_of(distribution.metadata["Name"] or "")
        if component is None or component == _HAS_A_PROBE:
            continue
        reading.add_software(component, distribution.version, PACKAGE_METADATA)
        if component == "cuda-runtime":
            reading.sheet.state("cuda.runtime_version", distribution.version)
