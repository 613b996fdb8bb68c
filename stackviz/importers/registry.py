"""All importers. A new one is added here (docs/recipes/importer.md).

May import: the importers.
"""

from stackviz.importers import collect_env, llama_bench, nvidia_smi_xml, system_profiler
from stackviz.importers.importer import Importer

__all__ = ["IMPORTERS"]

IMPORTERS: tuple[Importer, ...] = (
    nvidia_smi_xml.IMPORTER,
    system_profiler.IMPORTER,
    collect_env.IMPORTER,
    llama_bench.IMPORTER,
)
