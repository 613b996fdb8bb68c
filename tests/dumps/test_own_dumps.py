"""Invented dumps, one at least of each kind, from text to answer: what real dumps prove where they are, in every clone.

Each row: where the text is, what must be read of it, and the rules that must speak.
"""

import importlib
from pathlib import Path

import pytest

from stackviz.dumps import answer, machines, mask_text
from stackviz.importers import IMPORTERS, read_all
from stackviz.rules import packaged_tables

TESTS = Path(__file__).parents[1]


def text_of(source: str) -> str:
    """`folder/file` of the fixtures, `test_module.NAME`, a text that the tests of importers hold, or one of SMALL."""
    if source in SMALL:
        return SMALL[source]
    if "/" in source:
        return (TESTS / "fixtures" / source).read_text(encoding="utf-8")
    module, _, name = source.rpartition(".")
    return str(getattr(importlib.import_module(f"tests.importers.{module}"), name))


SMALL = {
    "accelerate": "- `Accelerate` version: 1.15.0\n- Platform: macOS-15.3.1-arm64-arm-64bit\n- Python version: 3.12.8\n"
    "- PyTorch version: 2.6.0\n- PyTorch accelerator: MPS\n- System RAM: 48.00 GB\n",
    "diffusers": "- 🤗 Diffusers version: 0.34.0\n- Platform: Windows-10-10.0.19045-SP0\n- Python version: 3.11.9\n"
    "- PyTorch version (GPU?): 2.7.1+cu128 (True)\n- Accelerator: NVIDIA GeForce RTX 4090, 24564 MiB\n",
    "detectron2": "-----------  -----\nsys.platform         linux\nPython               3.8.10\n"
    "PyTorch              1.10.0+cu113 @/opt/lib/torch\nGPU available        Yes\n"
    "GPU 0,1              NVIDIA A10 (arch=8.6)\nDriver version       470.82.01\ndetectron2           0.6 @/opt\n",
    "template": " - PyTorch Version (e.g., 1.0): 1.13.1\n - OS (e.g., Linux): Ubuntu 20.04\n"
    " - How you installed PyTorch (`conda`, `pip`, source): pip\n - Python version: 3.10\n"
    " - CUDA/cuDNN version: 11.7 / 8.5\n - GPU models and configuration: 2x RTX 3090\n",
    "dmon": "# gpu   pwr  temp    sm   mem   enc\n# Idx     W     C     %     %     %\n"
    "    0    15    59     3     4     -\n    1    15    59     3     4     -\n",
    "meminfo": "MemTotal:       263774780 kB\nMemFree:  1000 kB\n",
    "lscpu": "Architecture:            x86_64\n  CPU op-mode(s):        32-bit, 64-bit\nCPU(s):                  32\n"
    "Model name:              AMD Ryzen 9 7950X 16-Core Processor\n",
}
ROWS = (
    ("dumps/collect_env_cuda.txt", "collect-env", {"torch.version": "2.13.0+cu130", "os.name": "Ubuntu"}, 2, ()),
    ("dumps/nvidia_smi_a100_mig.xml", "nvidia-smi-xml", {"nvidia.driver_version": "560.35.03"}, 3, ("mig-on",)),
    ("mac/m3_max_system_profiler.json", "system-profiler-json", {"apple.chip": "Apple M3 Max"}, 1, ()),
    (
        "nvidia_dumps.TABLE",
        "nvidia-smi-table",
        {"cuda.driver_api_version": "13.0"},
        2,
        ("ecc-uncorrectable", "name-cut"),
    ),
    ("nvidia_dumps.Q_TEXT", "nvidia-smi-q", {"nvidia.driver_version": "580.65.06"}, 1, ("row-remap-pending",)),
    ("nvidia_dumps.CSV", "nvidia-smi-csv", {"nvidia.driver_version": "580.65.06"}, 1, ()),
    ("nvidia_dumps.TOPOLOGY", "nvidia-smi-topo", {}, 0, ()),
    ("nvidia_dumps.LIST", "nvidia-smi-list", {}, 4, ("mixed-capability",)),
    ("nvidia_dumps.VERSION", "nvidia-smi-version", {"cuda.driver_api_version": "13.0"}, 0, ()),
    ("nvidia_dumps.NVCC", "nvcc-version", {"cuda.toolkit_version": "12.8.61"}, 0, ()),
    ("test_env_reports.CLASSIC", "collect-env", {"torch.version": "2.7.1+cu126"}, 4, ("mig-on",)),
    ("test_env_reports.ROCM", "collect-env", {"torch.hip_version": "6.2.41134-65d174c3e"}, 1, ()),
    ("test_env_reports.XPU", "collect-env", {"os.name": "Windows", "xpu.available": True}, 1, ()),
    ("test_env_reports.VLLM", "vllm-env", {"torch.version": "2.9.1+cu129"}, 2, ()),
    ("test_env_reports.TRANSFORMERS", "transformers-env", {"torch.version": "2.4.0+cu121"}, 1, ("driver-too-old",)),
    ("test_env_reports.XFORMERS", "xformers-info", {"torch.version": "2.7.1+cu128"}, 1, ("kernels-missing",)),
    ("test_macs_and_amd.LAPTOP", "system-profiler-text", {"os.name": "macOS", "apple.chip": "Apple M5 Max"}, 1, ()),
    ("test_macs_and_amd.TOWER", "system-profiler-text", {"cpu.model": "16-Core Intel Xeon W"}, 2, ()),
    ("test_macs_and_amd.ROCM_SMI", "rocm-smi", {"os.name": "Linux"}, 2, ()),
    ("test_macs_and_amd.ROCMINFO", "rocminfo", {"os.name": "Linux"}, 1, ()),
    ("test_llama_bench.TABLE", "llama-bench", {}, 2, ()),
    ("accelerate", "accelerate-env", {"mps.available": True, "memory.total_bytes": 48 * 2**30}, 0, ()),
    ("diffusers", "diffusers-env", {"os.name": "Windows"}, 1, ()),
    ("detectron2", "detectron2-env", {"nvidia.driver_version": "470.82.01"}, 2, ()),
    ("template", "issue-template", {"torch.version": "1.13.1", "cudnn.version": "8.5"}, 2, ()),
    ("dmon", "nvidia-smi-dmon", {"nvidia.card_count": 2}, 0, ()),
    ("meminfo", "meminfo", {"memory.total_bytes": 263774780 * 1024}, 0, ()),
    ("lscpu", "lscpu", {"cpu.cores_logical": 32, "cpu.model": "AMD Ryzen 9 7950X 16-Core Processor"}, 0, ()),
)


def test_every_kind_has_a_dump_of_our_own():
    assert {kind for _source, kind, *_rest in ROWS} == {importer.kind for importer in IMPORTERS}


@pytest.mark.parametrize(("source", "kind", "facts", "cards", "rules"), ROWS, ids=[row[0] for row in ROWS])
@pytest.mark.parametrize("change", [str, mask_text], ids=["as-printed", "masked"])
def test_a_dump_of_each_kind_is_read_judged_and_answered(source, kind, facts, cards, rules, change):
    paste = read_all(change(text_of(source)))
    told = answer(machines(paste), packaged_tables(), not_understood=paste.not_understood)
    assert told["kinds"][0] == kind
    assert {name: told["facts"].get(name) for name in facts} == facts
    assert (len(told["cards"]), "machines" in told) == (cards, False)
    assert set(rules) <= {finding["rule"] for finding in told["findings"]}
