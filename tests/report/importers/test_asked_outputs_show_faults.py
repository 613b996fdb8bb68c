"""Where what a command prints shows the fault that its advice names, pasting it ends in a finding."""

import pytest

from stackviz.report.dumps import answer, machines
from stackviz.report.importers import read_all
from stackviz.report.messages import SYMPTOMS
from stackviz.report.rules import packaged_tables

TABLES = packaged_tables()
_Q_HEAD = (
    "==============NVSMI LOG==============\n\nDriver Version                            : 580.95.05\n"
    "CUDA Version                              : 13.0\n\nAttached GPUs                             : 1\n"
    "GPU 00000000:01:00.0\n    Product Name                          : NVIDIA A100-SXM4-80GB\n"
)
_CARD = "01:00.0 VGA compatible controller [0300]: NVIDIA Corporation AD102 [GeForce RTX 4090] [10de:2684] (rev a1)\n"
_PYTHON = 'python -c "import {}"'

FAULTS = (
    ("docker info", "Client:\n Version:    28.3.2\n\nServer:\n Containers: 3\n Server Version: 28.3.2\n Runtimes: io.containerd.runc.v2 runc\n Default Runtime: runc\n",
     "nvidia-ctk"),
    ("dkms status; uname -r", "nvidia/580.95.05, 6.14.0-33-generic, x86_64: installed\n6.17.0-20-generic\n",
     "6.17.0-20-generic runs"),
    ("dkms status", "nvidia/580.95.05: added\n", "for no kernel"),
    ("sudo modprobe nvidia", "modprobe: FATAL: Module nvidia not found in directory /lib/modules/6.17.0-20-generic\n",
     "dkms status"),
    ("sudo modprobe nvidia", "modprobe: ERROR: could not insert 'nvidia': Key was rejected by service\n", "Secure Boot"),
    ("sudo modprobe nvidia", "modprobe: ERROR: could not insert 'nvidia': No such device\n", "nvrm|xid"),
    ("sudo modprobe nvidia", "modprobe: ERROR: could not insert 'nvidia': Exec format error\n", "another kernel"),
    ("sudo modprobe amdgpu", "modprobe: FATAL: Module amdgpu not found in directory /lib/modules/6.17.0\n", "amdgpu"),
    ("systemctl status nvidia-fabricmanager",
     ("× nvidia-fabricmanager.service - NVIDIA fabric manager service\n     Loaded: loaded (/lib/systemd/system/x)\n"
     "     Active: failed (Result: exit-code) since Mon 2026-11-02 10:00:00 UTC; 3min ago\n"
     "Nov 02 10:00:00 host nv-fabricmanager[1]: fabric manager NVIDIA GPU driver interface version 580.95.05 don't "
     "match with driver version 580.82.07. Please update with matching NVIDIA driver package.\n"), "another version"),
    ("systemctl status nvidia-fabricmanager",
     ("○ nvidia-fabricmanager.service - NVIDIA fabric manager service\n     Loaded: loaded (/lib/systemd/system/x)\n"
     "     Active: inactive (dead)\n"), "systemctl enable"),
    ("lspci -nnk", f"{_CARD}\tSubsystem: Gigabyte Technology Co., Ltd Device [1458:40bf]\n\tKernel modules: nvidiafb\n",
     "no kernel driver drives it"),
    ("lspci -nnk", f"{_CARD}\tKernel driver in use: vfio-pci\n\tKernel modules: nvidiafb, nvidia\n", "virtual machine"),
    ("lspci -nnk", f"{_CARD}\tKernel driver in use: nouveau\n\tKernel modules: nvidiafb, nouveau\n", "nouveau"),
    ("nvidia-smi -q", (f"{_Q_HEAD}    Remapped Rows\n        Correctable Error                 : 0\n"
     "        Uncorrectable Error               : 2\n        Pending                           : Yes\n"
     "        Remapping Failure Occurred        : No\n"), "remapped"),
    (_PYTHON.format("jax; print(jax.devices())"), "[CpuDevice(id=0)]\n", "plug-in"),
    (_PYTHON.format("tensorflow as tf; print(tf.__version__, tf.sysconfig.get_build_info())"),
     "2.18.0 OrderedDict({'is_cuda_build': False, 'is_rocm_build': False})\n", "without CUDA"),
    (_PYTHON.format("tensorflow as tf; print(tf.config.list_physical_devices('GPU'))"), "[]\n", "sees no GPU"),
    (_PYTHON.format("tensorflow as tf; print(tf.config.list_physical_devices())"),
     "[PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')]\n", "sees no GPU"),
    ("mokutil --sb-state; sudo modprobe nvidia",
     "SecureBoot enabled\nmodprobe: ERROR: could not insert 'nvidia': Required key not available\n", "mokutil --import"),
    ("ls -l /dev/nvidia*", "ls: cannot access '/dev/nvidia*': No such file or directory\n", "module is not loaded"),
    ("ls -l /dev/nvidia*", ("crw-rw-rw- 1 root root 195,   0 Nov  2 10:00 /dev/nvidia0\n"
     "crw-rw-rw- 1 root root 195, 255 Nov  2 10:00 /dev/nvidiactl\n"), "/dev/nvidia-uvm is missing"),
    ("ls -l /dev/nvidia*", ("crw-rw---- 1 root video 195,   0 Nov  2 10:00 /dev/nvidia0\n"
     "crw-rw---- 1 root video 511,   0 Nov  2 10:00 /dev/nvidia-uvm\n"), "not in the group"),
    ("ls -l /dev/kfd /dev/dri", "ls: cannot access '/dev/kfd': No such file or directory\n", "--device /dev/kfd"),
    ("lsmod | grep -iE 'nvidia|nouveau'", "nouveau              2916352  5\n", "nouveau"),
    ("rocminfo", "ROCk module is NOT loaded, possibly no GPU devices\n", "no driver, no card or no permission"),
    ("xpu-smi discovery", "No device discovered\n", "render"),
    ("llama-bench --list-devices", "Available devices:\n  (none)\n", "without a back end"),
    ("echo $CUDA_VISIBLE_DEVICES", "-1\n", "hides every card"),
    ("df -h /dev/shm", "Filesystem      Size  Used Avail Use% Mounted on\nshm              64M     0   64M   0% /dev/shm\n",
     "shm-size"),
    ("wsl -l -v", "  NAME      STATE           VERSION\n* Ubuntu    Running         1\n", "WSL 1"),
    ("nvidia-smi", "No devices were found\n", "finds no card"),
    ("accelerate env", "- `Accelerate` version: 1.15.0\n- Platform: Linux-6.8\n- `Accelerate` default config:\n\t- use_cpu: True\n",
     "use_cpu"),
)  # fmt: skip


def findings_of(text):
    paste = read_all(text)
    return [finding for finding in answer(machines(paste), TABLES)["findings"] if finding["severity"] != "cannot-tell"]


@pytest.mark.parametrize(("command", "printed", "words"), FAULTS, ids=[f"{each[0]}-{each[2]}" for each in FAULTS])
def test_what_shows_the_fault_ends_in_a_finding(command, printed, words):
    said = " ".join(
        f"{finding['title']} {finding['explanation']} {finding['advice']}"
        for finding in findings_of(f"$ {command}\n{printed}")
    )
    assert words in said


SHOWS_NO_FAULT_ALONE = (
    "python -m torch.utils.collect_env", "python -m pip list", "cat /proc/driver/nvidia/version", "python -VV", "sw_vers",
    "CUDA_LAUNCH_BLOCKING=1", "nvidia-smi --query-gpu=name,compute_cap", "wsl --version", "nvidia-smi -L", "conda ",
    'python -c "import torch; print(torch.', "echo $LD_LIBRARY_PATH", "NCCL_DEBUG=INFO", "ldd --version",
    "system_profiler", "python -m bitsandbytes", "python -m xformers.info", "nvcc --version", "nvidia-smi topo -m",
    'python -c "import jax; jax.print', "sudo dmesg", "lsmod | grep amdgpu", "uname", "modinfo nvidia",
    "amd-smi", "clinfo", "dxdiag", "journalctl -u ollama", "ldconfig -p", "rocm-smi", "tpu-info",
    "cat /etc/os-release", "df -h", "lsmod", "python -m pip --version", "python -m pip check", "python -m pip config",
)  # fmt: skip
"""How those begin that print versions, lists or a program's own messages: a rule compares them, or a message reads them."""


def test_each_command_that_a_message_asks_for_is_tried_here_or_compared():
    tried = {part for command, _printed, _words in FAULTS for part in command.split("; ")} | {
        each[0] for each in FAULTS
    }
    others = {symptom.ask for symptom in SYMPTOMS} - tried
    assert [ask for ask in sorted(others) if not ask.startswith(SHOWS_NO_FAULT_ALONE)] == []
