"""All importers. A new one is added here (docs/recipes/importer.md).

May import: the importers.
"""

from stackviz.importers import (
    collect_env,
    detectron2_env,
    hugging_face_env,
    issue_template,
    llama_bench,
    lscpu,
    meminfo,
    nvidia_dmon,
    nvidia_short,
    nvidia_smi_csv,
    nvidia_smi_q,
    nvidia_smi_table,
    nvidia_smi_xml,
    nvidia_topology,
    rocm_smi,
    rocminfo,
    system_profiler,
    system_profiler_text,
    xformers_info,
)
from stackviz.importers.importer import Importer

__all__ = ["IMPORTERS"]

IMPORTERS: tuple[Importer, ...] = (
    nvidia_smi_xml.IMPORTER,
    nvidia_smi_q.IMPORTER,
    nvidia_smi_table.IMPORTER,
    nvidia_smi_csv.IMPORTER,
    nvidia_topology.IMPORTER,
    nvidia_dmon.IMPORTER,
    nvidia_short.LIST_IMPORTER,
    nvidia_short.VERSION_IMPORTER,
    nvidia_short.NVCC_IMPORTER,
    system_profiler.IMPORTER,
    system_profiler_text.IMPORTER,
    collect_env.IMPORTER,
    collect_env.VLLM_IMPORTER,
    hugging_face_env.ACCELERATE_IMPORTER,
    hugging_face_env.TRANSFORMERS_IMPORTER,
    hugging_face_env.DIFFUSERS_IMPORTER,
    detectron2_env.IMPORTER,
    xformers_info.IMPORTER,
    issue_template.IMPORTER,
    rocm_smi.IMPORTER,
    rocminfo.IMPORTER,
    lscpu.IMPORTER,
    meminfo.IMPORTER,
    llama_bench.IMPORTER,
)
