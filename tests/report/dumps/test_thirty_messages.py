"""Thirty error messages, alone and inside two hundred lines of a log: each names its cause or the next command."""

import re

import pytest

from stackviz.report.dumps import answer, machines
from stackviz.report.importers import read_all
from stackviz.report.rules import packaged_tables

MESSAGES = {
    "no-kernel-image": ("RuntimeError: CUDA error: no kernel image is available for execution on the device",
     "no code"),
    "capability": (("NVIDIA GeForce RTX 5090 with CUDA capability sm_120 is not compatible with the current PyTorch "
     "installation.\nThe current PyTorch install supports CUDA capabilities sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 "
     "sm_90."), "carries no code for NVIDIA GeForce RTX 5090"),
    "not-compiled": ("AssertionError: Torch not compiled with CUDA enabled", "has no CUDA"),
    "driver-too-old": (("RuntimeError: The NVIDIA driver on your system is too old (found version 11040). Please "
     "update your GPU driver"), "needs a newer NVIDIA driver"),
    "no-driver": (("RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU "
     "and installed a driver"), "driver"),
    "803": ("Error 803: system has unsupported display driver / cuda driver combination",
     "libcuda does not match the loaded driver"),
    "804": ("Error 804: forward compatibility was attempted on non supported HW", "forward"),
    "802": ("Error 802: system not yet initialized", "fabric manager"),
    "999": ("RuntimeError: CUDA unknown error - this may be due to an incorrectly set up environment", "suspend"),
    "oom": (("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of "
     "23.64 GiB of which 1.31 GiB is free. Including non-PyTorch memory, this process has 22.29 GiB memory in use. "
     "Of the allocated memory 21.80 GiB is allocated by PyTorch, and 91.55 MiB is reserved by PyTorch but "
     "unallocated."), "too big for this card"),
    "nvjitlink": (("ImportError: libcusparse.so.12: undefined symbol: __nvJitLinkComplete_12_4, version "
     "libnvJitLink.so.12"), "nvJitLink"),
    "cudnn-8": (("Could not load library libcudnn_ops_infer.so.8. Error: libcudnn_ops_infer.so.8: cannot open shared "
     "object"), "cuDNN"),
    "cudnn-incompatible": (("RuntimeError: cuDNN version incompatibility: PyTorch was compiled against (9, 1, 0) but "
     "found runtime version (8, 9, 2)"), "cuDNN"),
    "flash-attn": (("ImportError: flash_attn_2_cuda.cpython-311-x86_64-linux-gnu.so: undefined symbol: "
     "_ZN3c105ErrorC2ENS"), "flash-attn"),
    "nms": ("RuntimeError: operator torchvision::nms does not exist", "torchvision was built for another torch"),
    "mps-old": (("RuntimeError: The MPS backend is supported on MacOS 14.0+. Current OS version can be queried using "
     "`sw_vers`"), "macOS"),
    "mps-op": (("NotImplementedError: The operator 'aten::_linalg_eigh' is not currently implemented for the MPS "
     "device."), "MPS_FALLBACK"),
    "hip": ("RuntimeError: HIP error: invalid device function", "no code for this Radeon"),
    "docker": ('docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].',
     "nvidia-container-toolkit"),
    "ijit": ("ImportError: libtorch_cpu.so: undefined symbol: iJIT_NotifyEvent", "MKL"),
    "c10-dll": (("OSError: [WinError 126] The specified module could not be found. Error loading "
     '"C:\\env\\torch\\lib\\c10.dll"'), "Visual C\\+\\+"),
    "onnxruntime": (("[ONNXRuntimeError] : 1 : FAIL : LoadLibrary failed with error 126 loading "
     "onnxruntime_providers_cuda.dll"), "cuDNN|CUDA"),
    "tensorflow": (("I tensorflow/tsl/cuda/cudart_stub.cc:28] Could not find cuda drivers on your machine, GPU will "
     "not be used."), "TensorFlow runs on the processor"),
    "jax": (("An NVIDIA GPU may be present on this machine, but a CUDA-enabled jaxlib is not installed. Falling back "
     "to cpu."), "jax"),
    "pip-none": ("ERROR: Could not find a version that satisfies the requirement torch (from versions: none)",
     "Python"),
    "nvml-mismatch": ("Failed to initialize NVML: Driver/library version mismatch", "do not match the loaded driver"),
    "smi": ("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.", "module"),
    "no-devices": ("No devices were found", "finds no card"),
    "nvml-unknown": ("Failed to initialize NVML: Unknown Error", "container"),
    "nccl": (("torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:1691, unhandled system error "
     "(run with NCCL_DEBUG=INFO for details)"), "NCCL"),
}  # fmt: skip


def findings_of(text):
    (machine, *others) = machines(read_all(text))
    assert not others
    return answer([machine], packaged_tables())["findings"]


@pytest.mark.parametrize("name", MESSAGES)
def test_a_message_names_its_cause_alone_and_in_a_log(name):
    message, cause = MESSAGES[name]
    findings = findings_of(f"{message}\n")
    worst = next(finding for finding in findings if finding["severity"] != "note")
    assert re.search(cause, f"{worst['title']} {worst['explanation']} {worst['advice']}", re.IGNORECASE), worst
    assert worst["advice"], "it says what to do or to run next"
    log = "".join(
        f"2026-11-01 10:{minute:02}:07,1{minute:02} INFO worker[{minute}] step {minute * 40}/8000 loss=0.{minute:02}4 "
        f"lr=3e-4 tokens/s=18{minute:02}\n"
        for minute in range(60)
    )
    logged = findings_of(f"{log * 2}{message}\n{log}")
    assert [(one["rule"], one["title"]) for one in logged] == [(one["rule"], one["title"]) for one in findings]
