"""Commands that several messages and programs ask for. Standard library only."""

COLLECT_ENV = "python -m torch.utils.collect_env"
NVIDIA_SMI = "nvidia-smi"
NVIDIA_SMI_Q = "nvidia-smi -q"
BLOCKING_RUN = "CUDA_LAUNCH_BLOCKING=1 python your_program.py"
DMESG = "sudo dmesg | grep -iE 'nvrm|xid'"
DKMS_STATUS = "dkms status"
ROCMINFO = "rocminfo"
MAC_HARDWARE = "system_profiler SPHardwareDataType SPDisplaysDataType SPSoftwareDataType"
PYTHON_INFO = (
    'python -VV; python -m pip --version; python -c "import platform; print(platform.platform(), platform.machine())"'
)
