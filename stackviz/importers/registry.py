"""All importers. A new one is added here (docs/recipes/importer.md).

May import: the importers.
"""

from stackviz.importers import (
    collect_env,
    llama_bench,
    nvidia_short,
    nvidia_smi_csv,
    nvidia_smi_q,
    nvidia_smi_table,
    nvidia_smi_xml,
    nvidia_topology,
    system_profiler,
)
from stackviz.importers.importer import Importer

__all__ = ["IMPORTERS"]

IMPORTERS: tuple[Importer, ...] = (
    nvidia_smi_xml.IMPORTER,
    nvidia_smi_q.IMPORTER,
    nvidia_smi_table.IMPORTER,
    nvidia_smi_csv.IMPORTER,
    nvidia_topology.IMPORTER,
    nvidia_short.LIST_IMPORTER,
    nvidia_short.VERSION_IMPORTER,
    nvidia_short.NVCC_IMPORTER,
    system_profiler.IMPORTER,
    collect_env.IMPORTER,
    llama_bench.IMPORTER,
)
