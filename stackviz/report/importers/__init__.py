"""Other tools' dumps -> what a report could say: nvidia-smi, system_profiler, collect_env.

Pure functions of text: no file, no network, no clock. They never raise on what they are given; what they could not
read they say in `Reading.problems`.
"""

from stackviz.report.importers.importer import Importer, Span
from stackviz.report.importers.paste import Paste, read_all
from stackviz.report.importers.reading import CardReading, FactSheet, Reading
from stackviz.report.importers.registry import BY_KIND, IMPORTERS

__all__ = ["BY_KIND", "IMPORTERS", "CardReading", "FactSheet", "Importer", "Paste", "Reading", "Span", "read_all"]
