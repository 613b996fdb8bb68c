"""Short invented dumps that no other test reads."""

from tests.report.importers.own_dump import OwnDump

ACCELERATE = (
    "- `Accelerate` version: 1.15.0\n- Platform: macOS-15.3.1-arm64-arm-64bit\n- Python version: 3.12.8\n"
    "- PyTorch version: 2.6.0\n- PyTorch accelerator: MPS\n- System RAM: 48.00 GB\n"
)
DIFFUSERS = (
    "- 🤗 Diffusers version: 0.34.0\n- Platform: Windows-10-10.0.19045-SP0\n- Python version: 3.11.9\n"
    "- PyTorch version (GPU?): 2.7.1+cu128 (True)\n- Accelerator: NVIDIA GeForce RTX 4090, 24564 MiB\n"
)
DETECTRON2 = (
    "-----------  -----\nsys.platform         linux\nPython               3.8.10\n"
    "PyTorch              1.10.0+cu113 @/opt/lib/torch\nGPU available        Yes\n"
    "GPU 0,1              NVIDIA A10 (arch=8.6)\nDriver version       470.82.01\ndetectron2           0.6 @/opt\n"
)
TEMPLATE = (
    " - PyTorch Version (e.g., 1.0): 1.13.1\n - OS (e.g., Linux): Ubuntu 20.04\n"
    " - How you installed PyTorch (`conda`, `pip`, source): pip\n - Python version: 3.10\n"
    " - CUDA/cuDNN version: 11.7 / 8.5\n - GPU models and configuration: 2x RTX 3090\n"
)
DMON = (
    "# gpu   pwr  temp    sm   mem   enc\n# Idx     W     C     %     %     %\n"
    "    0    15    59     3     4     -\n    1    15    59     3     4     -\n"
)
MEMINFO = "MemTotal:       263774780 kB\nMemFree:  1000 kB\n"
LSCPU = (
    "Architecture:            x86_64\n  CPU op-mode(s):        32-bit, 64-bit\nCPU(s):                  32\n"
    "Model name:              AMD Ryzen 9 7950X 16-Core Processor\n"
)

CHECK = "check torch 2.9.1+cu130 | cuda | NVIDIA GeForce RTX 4090 | 25282281472 | float16 | True\n"

OWN_DUMPS = (
    OwnDump(kind="gpu-check", text=CHECK, facts={"torch.version": "2.9.1+cu130", "cuda.available": True}, cards=1),
    OwnDump(kind="availability", text="MPS available: True\n", facts={"mps.available": True}),
    OwnDump(kind="accelerate-env", text=ACCELERATE, facts={"mps.available": True, "memory.total_bytes": 48 * 2**30}),
    OwnDump(kind="diffusers-env", text=DIFFUSERS, facts={"os.name": "Windows"}, cards=1),
    OwnDump(kind="detectron2-env", text=DETECTRON2, facts={"nvidia.driver_version": "470.82.01"}, cards=2),
    OwnDump(kind="issue-template", text=TEMPLATE, facts={"torch.version": "1.13.1", "cudnn.version": "8.5"}, cards=2),
    OwnDump(
        kind="nvidia-smi-dmon",
        text=DMON,
        facts={"nvidia.card_count": 2},
        cards=2,
        commands=("nvidia-smi dmon -s pucmt -c 60",),
    ),
    OwnDump(kind="meminfo", text=MEMINFO, facts={"memory.total_bytes": 263774780 * 1024}),
    OwnDump(
        kind="lscpu", text=LSCPU, facts={"cpu.cores_logical": 32, "cpu.model": "AMD Ryzen 9 7950X 16-Core Processor"}
    ),
)
