"""Lines as programs print them, taken from their sources: which message each is."""

import csv

import pytest

from stackviz.report.importers import read_all
from stackviz.report.importers.messages import is_message
from tests.live import ROOT

with (ROOT / "tests" / "fixtures" / "messages" / "programs.tsv").open(encoding="utf-8", newline="") as file:
    LINES = [(row["message"], row["line"]) for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]
HEALTHY = (
    "ggml_metal_device_init: tensor API disabled for pre-M5 and pre-A19 devices",
    "ggml_metal_init: skipping kernel_get_rows_bf16 (not supported)",
    "ggml_metal_init: loaded kernel_add 0x1234 | th_max = 1024",
    "llama_kv_cache: CUDA0 KV buffer size = 512.00 MiB",
    "load_tensors: CUDA0 model buffer size = 4095.05 MiB",
    "INFO 11-02 10:00:00 gpu_worker.py:298] Available KV cache memory: 12.31 GiB",
    "INFO 11-02 10:00:00 kv_cache_utils.py] GPU KV cache size: 100,432 tokens",
    "XLA backend allocating 12884901888 bytes on device 0 for BFCAllocator.",
    "[TRT] [I] Loaded engine size: 120 MiB",
    "[TRT] [V] Registered plugin creator - ::BatchedNMS_TRT version 1",
    "amdgpu: SRAT table not found",
    "amdgpu 0000:03:00.0: amdgpu: Fetched VBIOS from VFCT",
    "amdgpu 0000:03:00.0: amdgpu: SMU is initialized successfully!",
    "amdgpu 0000:03:00.0: amdgpu: RAS: optional ras ta ucode is not available",
    "amdgpu 0000:03:00.0: amdgpu: RAP: optional rap ta ucode is not available",
    "amdgpu 0000:03:00.0: amdgpu: smu driver if version = 0x0000003d, smu fw if version = 0x00000040, smu fw program = 0",
    "amdgpu 0000:03:00.0: amdgpu: SMU driver if version not matched",
    "amdgpu 0000:03:00.0: amdgpu: ring gfx_0.0.0 uses VM inv eng 0 on hub 0",
    "kfd kfd: amdgpu: Allocated 3969056 bytes on gart",
    "i915 0000:00:02.0: [drm] Finished loading DMC firmware i915/adlp_dmc.bin (v2.20)",
    "i915 0000:00:02.0: [drm] GT0: GuC firmware i915/adlp_guc_70.bin version 70.20.0",
    "i915 0000:00:02.0: [drm] GT0: HuC: authenticated for all workloads",
    "xe 0000:03:00.0: [drm] Using GuC firmware from xe/bmg_guc_70.bin version 70.49.4",
    "MPS available: True",
    "CUDA MPS does not support this device mode",
    "NVIDIA MPS is not supported in this container",
    "In NumPy the error code 137 of another thing",
    "The reset of the amdgpu timeout was fixed in release 6.2, thanks",
    "We compared HIP and CUDA on the same device, but found at least no difference",
    "I switched from Core ML to MLX because CoreML was slower; no error",
    "2025-11-02 INFO Starting process with exit code 0",
    "memory: 137 GiB of 512 GiB used",
    "oneDNN custom operations are on. You may see slightly different numerical results",
    "Uninstalling intel-extension-for-pytorch",
    "Your GPU has 137 SMs; the card is killed in benchmarks",
    "vulkan: found 1 device: NVIDIA GeForce RTX 4090",
    "rocBLAS 4.2 with Tensile host ready",
    "jax.devices: [CudaDevice(id=0)]",
)


@pytest.mark.parametrize(("message", "line"), LINES, ids=[message for message, _line in LINES])
def test_a_line_of_a_program_is_the_message(message, line):
    (reading,) = read_all(line).readings
    assert reading.facts["message.symptoms"] == message


@pytest.mark.parametrize("line", HEALTHY)
def test_a_line_of_a_healthy_machine_is_no_message(line):
    assert not is_message(line)
