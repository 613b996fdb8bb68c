"""The packages probe: packages that are installed and may still not work, each imported in a child of its own.

Metadata shows whether a package is installed (the python probe); only importing it shows whether it loads.
"""

from stackviz.report.format.facts import questions_of
from stackviz.report.format.facts.asking import Surroundings
from stackviz.report.importers.reading import Reading

__all__ = ["probe_packages"]


def probe_packages(around: Surroundings) -> Reading:
    reading = Reading(kind="packages")
    questions_of("packages").ask(around, reading.sheet)
    return reading
