"""Outputs of commands that advice asks for by themselves: single values, and parts of what nvidia-smi can print."""

from tests.report.importers import nvidia_dumps
from tests.report.importers.own_dump import OwnDump, fixture

_Q_HEAD = (
    "==============NVSMI LOG==============\n\nTimestamp                                 : Tue Nov  3 10:00:00 2026\n"
    "Driver Version                            : 580.95.05\nCUDA Version                              : 13.0\n\n"
    "Attached GPUs                             : 1\nGPU 00000000:01:00.0\n"
)
_Q_PARTS = {
    "ECC": "    ECC Mode\n        Current                           : Enabled\n        Pending                           : Enabled\n"
    "    ECC Errors\n        Volatile\n            DRAM Uncorrectable            : 0\n",
    "ROW_REMAPPER": "    Remapped Rows\n        Correctable Error                 : 1\n        Uncorrectable Error               : 0\n"
    "        Pending                           : Yes\n        Remapping Failure Occurred        : No\n",
    "POWER": "    GPU Power Readings\n        Power Draw                        : 62.00 W\n"
    "        Current Power Limit               : 400.00 W\n        Default Power Limit               : 450.00 W\n",
    "PERFORMANCE": "    Performance State                     : P0\n    Clocks Event Reasons\n"
    "        Idle                              : Not Active\n        SW Power Cap                      : Active\n",
    "PERFORMANCE,UTILIZATION": "    Performance State                     : P0\n    Utilization\n        Gpu                               : 97 %\n",
    "PERFORMANCE,POWER,CLOCK": "    Clocks Event Reasons\n        Idle                              : Not Active\n"
    "        SW Thermal Slowdown               : Active\n",
    "MEMORY,ECC": "    FB Memory Usage\n        Total                             : 24564 MiB\n    ECC Mode\n"
    "        Current                           : Enabled\n",
}
_CSV = {
    "name,compute_cap": "name, compute_cap\nNVIDIA L4, 8.9\n",
    "index,name,compute_cap": "index, name, compute_cap\n0, NVIDIA L4, 8.9\n",
    "compute_cap": "compute_cap\n8.9\n",
    "compute_mode": "compute_mode\nProhibited\n",
    "index,name,compute_mode": "index, name, compute_mode\n0, NVIDIA L4, Prohibited\n",
    "driver_version": "driver_version\n580.95.05\n",
    "index,persistence_mode": "index, persistence_mode\n0, Disabled\n",
    "name,pci.device_id,memory.total": "name, pci.device_id, memory.total [MiB]\nNVIDIA L4, 0x27B810DE, 23034 MiB\n",
}
_PRINTED = {
    "torch.__version__": ("import torch", "2.6.0+cu124"),
    "torch.__version__, torch.cuda.is_available()": ("import torch", "2.6.0+cu124 False"),
    "torch.version.cuda": ("import torch", "12.4"),
    "torch.cuda.get_arch_list()": ("import torch", "['sm_50', 'sm_90']"),
    "torch.backends.cudnn.version()": ("import torch", "90100"),
    "torch.backends.mps.is_built()": ("import torch", "True"),
    "torch.backends.mps.is_available()": ("import torch", "False"),
    "triton.__version__": ("import triton", "3.2.0"),
    "platform.machine()": ("import platform", "arm64"),
    "platform.mac_ver(), platform.machine()": ("import platform", "('14.5', ('', '', ''), 'arm64') arm64"),
    "platform.platform(), platform.machine()": (
        "import platform",
        "Linux-6.8.0-45-generic-x86_64-with-glibc2.39 x86_64",
    ),
    "struct.calcsize('P')": ("import struct", "4"),
    "tf.__version__, tf.sysconfig.get_build_info()": (
        "import tensorflow as tf",
        "2.18.0 OrderedDict({'cuda_version': '12.5.1', 'cudnn_version': '9', 'is_cuda_build': True})",
    ),
}

_SUM = 'python -c "import torch; print(torch.__version__, torch.cuda.is_available()); torch.ones(1).cuda() + 1"'


def _printed(expression: str, module: str, value: str) -> OwnDump:
    command = f'python -c "{module}; print({expression})"'
    return OwnDump(kind="torch-facts", text=f"{command}\n{value}\n", commands=(command,))


OWN_DUMPS = (
    *(
        OwnDump(kind="nvidia-smi-q", text=_Q_HEAD + part, cards=0, commands=(f"nvidia-smi -q -d {name}",))
        for name, part in _Q_PARTS.items()
    ),
    *(
        OwnDump(
            kind="nvidia-smi-csv",
            text=text,
            cards=int(columns != "driver_version"),
            commands=(f"nvidia-smi --query-gpu={columns} --format=csv",),
        )
        for columns, text in _CSV.items()
    ),
    *(_printed(expression, module, value) for expression, (module, value) in _PRINTED.items()),
    OwnDump(
        kind="torch-facts",
        text=f"{_SUM}\n2.7.1+cu128 True\n",
        commands=(_SUM,),
    ),
    OwnDump(kind="nvcc-version", text=nvidia_dumps.NVCC, commands=("nvcc --version",)),
    OwnDump(
        kind="lsmod",
        text=fixture("dumps/tools/lsmod_nouveau.txt"),
        facts={"os.modules": "nouveau"},
        commands=("lsmod | grep nouveau", "lsmod | grep -iE 'nvidia|nouveau'", "lsmod | grep -E 'nvidia|nouveau'"),
    ),
    OwnDump(
        kind="lsmod",
        text="amdgpu              17293312  23\ndrm_ttm_helper         12288  1 amdgpu\n",
        facts={"os.modules": "amdgpu"},
        commands=("lsmod | grep amdgpu",),
    ),
    OwnDump(
        kind="python-version",
        text="Python 3.12.3\n",
        facts={"python.version": "3.12.3"},
        commands=("python --version", "python -VV"),
    ),
)
