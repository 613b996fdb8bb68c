"""Which tool wrote a dump, and reading it with the importer for that tool.

May import: the importers, wire and the standard library.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from stackviz.importers import collect_env, nvidia_smi_xml, system_profiler
from stackviz.importers.reading import Reading

__all__ = ["IMPORTERS", "detect", "read"]

IMPORTERS: Mapping[str, Callable[[str], Reading]] = MappingProxyType(
    {
        nvidia_smi_xml.KIND: nvidia_smi_xml.read_nvidia_smi_xml,
        system_profiler.KIND: system_profiler.read_system_profiler,
        collect_env.KIND: collect_env.read_collect_env,
    }
)
"""Kind of dump -> its importer."""

_SIGNS: Mapping[str, Callable[[str], bool]] = MappingProxyType(
    {
        nvidia_smi_xml.KIND: nvidia_smi_xml.looks_like_it,
        system_profiler.KIND: system_profiler.looks_like_it,
        collect_env.KIND: collect_env.looks_like_it,
    }
)


def detect(text: str) -> str | None:
    """The kind of a dump; None if no importer knows it."""
    return next((kind for kind, looks_like_it in _SIGNS.items() if looks_like_it(text)), None)


def read(text: str) -> Reading | None:
    """What a dump tells; None if no importer knows it."""
    kind = detect(text)
    return IMPORTERS[kind](text) if kind else None
