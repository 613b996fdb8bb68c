"""Other tools' dumps -> what a report could say: nvidia-smi, system_profiler, collect_env.

Pure functions of text: no file, no network, no clock. They never raise on what they are given; what they could not
read they say in `Reading.problems`. May import: wire, units and the standard library.
"""

from stackviz.importers.detect import detect, read
from stackviz.importers.reading import CardReading, FactSheet, Reading

__all__ = ["CardReading", "FactSheet", "Reading", "detect", "read"]
