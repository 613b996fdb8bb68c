"""What tools print, invented after their formats: a file each in tests/fixtures/dumps/tools."""

from collections.abc import Mapping

from stackviz.report.format import Scalar
from tests.report.importers.own_dump import OwnDump, fixture

GIB = 2**30


def output(
    kind: str,
    name: str,
    facts: Mapping[str, Scalar] | None = None,
    cards: int = 0,
    commands: tuple[str, ...] = (),
    rules: tuple[str, ...] = (),
) -> OwnDump:
    text = fixture(f"dumps/tools/{name}.txt")
    return OwnDump(kind=kind, text=text, facts=facts or {}, cards=cards, commands=commands, rules=rules)


_MAC = {"os.name": "macOS"}
_LINUX = {"os.name": "Linux"}
_UBUNTU = {"os.name": "Ubuntu", "os.version": "22.04"}

OWN_DUMPS = (
    # ---- Linux and the driver ---------------------------------------------------------------------------------------
    output(
        "nvidia-module",
        "proc_version_open",
        {"nvidia.kernel_module_version": "570.86.15", "nvidia.driver_kind": "open"},
        commands=("cat /proc/driver/nvidia/version",),
    ),
    output("nvidia-module", "proc_version", {"nvidia.driver_kind": "proprietary"}),
    output("nvidia-module", "modinfo", {"nvidia.driver_kind": "open", "nvidia.module_installed": True},
           commands=("modinfo nvidia",)),
    output("lsmod", "lsmod", {"os.modules": "nvidia nvidia_drm nvidia_uvm"}, commands=("lsmod", "lsmod | grep nvidia")),
    output("lsmod", "lsmod_nouveau", {"os.modules": "nouveau"}),
    output("lsmod", "modprobe_missing", {"nvidia.module_installed": False, "os.kernel": "Linux 6.8.0-45-generic"},
           commands=("sudo modprobe nvidia",)),
    output("lsmod", "modprobe_key", {"os.secure_boot": True, "nvidia.module_installed": True}, rules=("secure-boot",)),
    output("dkms-status", "dkms", _LINUX, commands=("dkms status",)),
    output("dkms-status", "dkms_added", {"nvidia.module_installed": False}),
    output("device-files", "device_files", {"nvidia.uvm_device": False},
           commands=("ls -l /dev/nvidia*", "ls -l /dev/nvidia-uvm", "ls -l /dev/kfd /dev/dri")),
    output("fabric-manager", "fabric_failed", {"nvidia.fabric_manager": "failed"},
           commands=("systemctl status nvidia-fabricmanager",)),
    output("fabric-manager", "fabric_missing", _LINUX),
    output("lspci", "lspci", {"os.modules": "nouveau", "nvidia.module_installed": False}, cards=1,
           commands=("lspci -nnk", "lspci | grep -i nvidia")),
    output("nvidia-module", "dmesg", {"nvidia.kernel_module_version": "550.54.14"},
           commands=("sudo dmesg | grep -iE 'nvrm|xid'", "sudo dmesg")),
    output("device-files", "dev_kfd", _LINUX, commands=("ls /dev/kfd",)),
    output("ldconfig", "ldconfig", {"cuda.libcuda_path": "/lib/x86_64-linux-gnu/libcuda.so.1"},
           commands=("ldconfig -p", "ldconfig -p | grep libcuda", "ldconfig -p | grep libcudnn")),
    output("ldconfig", "wsl_libcuda", {"os.wsl": "2"},
           commands=("ls -l /usr/lib/wsl/lib/libcuda*", "ls -l /usr/lib/wsl/lib/libcuda.so.1")),
    output("shared-memory", "df_shm", {"memory.shared_bytes": 64 * 2**20, **_LINUX}, commands=("df -h /dev/shm",),
           rules=("shared-memory-small",)),
    output("jetson-release", "jetson", {"os.build": "L4T 36.4.3", "os.arch": "aarch64"},
           commands=("cat /etc/nv_tegra_release",)),
    output("jetson-release", "tegrastats", {"memory.total_bytes": 7620 * 2**20}, commands=("sudo tegrastats",)),
    # ---- the system -------------------------------------------------------------------------------------------------
    output("uname", "uname_wsl2", {"os.wsl": "2", "os.arch": "x86_64"}, commands=("uname -a",)),
    output("uname", "uname_wsl1", {"os.wsl": "1"}, commands=("uname -r",)),
    output("uname", "uname_mac", {"os.arch": "arm64", **_MAC}),
    output("os-release", "os_release", _UBUNTU, commands=("cat /etc/os-release",)),
    output("os-release", "lsb_release", _UBUNTU, commands=("lsb_release -a",)),
    output("sw-vers", "sw_vers", {"os.version": "15.3.1", "os.build": "24D70", **_MAC}, commands=("sw_vers",)),
    output("ldd-version", "ldd", {"os.libc": "glibc 2.35"}, commands=("ldd --version",)),
    output("mokutil", "mokutil", {"os.secure_boot": True}, commands=("mokutil --sb-state",)),
    output("windows-version", "ver", {"os.name": "Windows", "os.version": "11"}, commands=("ver",)),
    output("python-version", "python_platform", {"python.version": "3.12.3", "os.libc": "glibc 2.39"},
           commands=("python -VV", "python -m pip --version")),
    output("python-version", "python_windows", {"python.arch": "AMD64", "os.name": "Windows"}),
    output("python-platform", "platform", {"os.libc": "glibc 2.39", "python.arch": "x86_64"}),
    output("environment-variables", "ld_library_path", {"env.ld_library_path": "/usr/local/cuda-11.8/lib64:~/lib"},
           commands=("echo $LD_LIBRARY_PATH",)),
    output("environment-variables", "cuda_visible_devices", {"cuda.visible_devices": "0,1"},
           commands=("echo $CUDA_VISIBLE_DEVICES",)),
    output("wsl-version", "wsl_version", {"os.build": "10.0.22631.4460"}, commands=("wsl --version",)),
    output("wsl-version", "wsl_list", {"os.wsl": "1"}, commands=("wsl -l -v",)),
    output("docker-info", "docker_info", {"os.name": "Ubuntu", "memory.total_bytes": int(62.6 * GIB)},
           commands=("docker info",), rules=("docker-runtime",)),
    output("conda-info", "conda_info", {"cuda.driver_api_version": "12.4", "os.libc": "glibc 2.39"},
           commands=("conda info",)),
    output("dxdiag", "dxdiag", {"os.version": "11 Pro", "nvidia.driver_version": "566.03"}, cards=1,
           commands=("dxdiag",)),
    output("win32-video", "video_controller", {"nvidia.driver_version": "566.03"}, cards=2),
    output("win32-video", "video_table", {"os.name": "Windows"}, cards=1),
    output("fastfetch", "fastfetch", {"os.version": "24.04.1", "cpu.model": "AMD Ryzen 9 7950X"}, cards=1),
    output("powermetrics", "powermetrics", {"machine.model": "MacBookPro18,3", "os.build": "23A344"}),
    # ---- cards ------------------------------------------------------------------------------------------------------
    output("gpustat", "gpustat", {"nvidia.driver_version": "550.54.14"}, cards=2, commands=("gpustat",)),
    output("nvitop", "nvitop", {"cuda.driver_api_version": "12.4"}, cards=1),
    output("nvidia-smi-table", "nvidia_smi_head", {"nvidia.driver_version": "535.104.05"}),
    output("amd-smi", "amd_smi_static", cards=1, commands=("amd-smi static",)),
    output("amd-smi", "amd_smi_table", {"rocm.version": "7.0.0"}, cards=1, commands=("amd-smi",)),
    output("amd-smi", "amd_smi_version", {"rocm.version": "6.2.0"}, commands=("amd-smi version",)),
    output("xpu-smi", "xpu_smi", cards=1, commands=("xpu-smi discovery",)),
    output("sycl-ls", "sycl_ls", cards=1, commands=("sycl-ls",)),
    output("npu-smi", "npu_smi", cards=1),
    output("tpu-info", "tpu_info", cards=2, commands=("tpu-info",)),
    output("clinfo", "clinfo", {"nvidia.driver_version": "550.54.14"}, cards=1, commands=("clinfo",)),
    output("clinfo", "clinfo_list", cards=1),
    output("vulkaninfo", "vulkaninfo", {"nvidia.driver_version": "550.54.14"}, cards=1,
           commands=("vulkaninfo --summary",)),
    output("mlx-device", "mlx_device", {"apple.chip": "Apple M3 Max", "memory.total_bytes": 128 * GIB}, cards=1),
    # ---- programs ---------------------------------------------------------------------------------------------------
    output("nccl-log", "nccl", {"nccl.version": "2.21.5"}, commands=("NCCL_DEBUG=INFO python your_program.py",)),
    output("package-list", "pip_check", {"torch.version": "2.7.1"}, commands=("python -m pip check",)),
    output("package-list", "conda_list_mkl", commands=("conda list", "conda list mkl")),
    output("package-list", "pip_show_triton", commands=("python -m pip show triton", "python -m pip show torch")),
    output("torch-config", "torch_config", {"torch.arch_list": "sm_50 sm_90", "cudnn.version": "9.1.0"}),
    output("bitsandbytes", "bitsandbytes", {"torch.version": "2.6.0+cu124", "os.libc": "glibc 2.35"},
           commands=("python -m bitsandbytes",)),
    output("bitsandbytes", "bitsandbytes_old", {"torch.cuda_version": "11.8"}),
    output("mmengine-env", "mmengine", {"torch.version": "1.12.1+cu113", "cuda.available": True}, cards=2),
    output("ultralytics", "ultralytics", {"torch.cuda_version": "12.4", "os.libc": "glibc 2.35"}, cards=1),
    output("deepspeed-report", "deepspeed", {"torch.version": "2.1.2+cu121", "cuda.toolkit_version": "12.1"}),
    output("jax-env", "jax", {"os.kernel": "Linux 5.15.0-91-generic"}, cards=1,
           commands=('python -c "import jax; jax.print_environment_info()"',)),
    output("comfyui", "comfyui_log", {"torch.version": "2.5.1+cu124"}, cards=1),
    output("comfyui", "comfyui_block", {"os.name": "Windows", "python.arch": "AMD64"}, cards=1),
    output("ollama-log", "ollama", {"cuda.driver_api_version": "12.4"}, cards=1),
    output("llama-cpp-log", "ggml", cards=1),
    output("llama-cpp-log", "llama_devices", cards=1, commands=("llama-bench --list-devices",)),
    output("unsloth", "unsloth", {"torch.version": "2.6.0+cu124", "torch.cuda_version": "12.4"}, cards=1),
    output("tensorflow-log", "tensorflow", cards=1),
    OwnDump(kind="agent-report", text=fixture("reports/m3-max-macos.json"), facts={"os.build": "24D70"}, cards=1),
)  # fmt: skip
