"""Whole valid reports for tests of any room: a test changes what it is about, and nothing else.

    report_body(format=2)                     # one field of the top level
    report_body(results=[gemm_result(state="failed", reason="out of memory", samples=[])])

Each call makes fresh objects, so a test may edit what it gets.
"""

import hashlib
import json
from pathlib import Path
from typing import Any
from uuid import uuid4

Body = dict[str, Any]
RECORDED = Path(__file__).parents[2] / "fixtures" / "reports"


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def report_body(**changes: Any) -> Body:
    """A Linux machine with one H100 SXM5 80GB, CUDA, torch, a matrix product and a memory copy."""
    body: Body = {
        "format": 1,
        "id": str(uuid4()),
        "created_at": "2026-11-20T12:59:00Z",
        "agent": {"name": "accelweb-agent", "version": "0.1.0"},
        "machine": {"identity": sha256("a machine with an H100"), "name": "rack-7"},
        "facts": {
            "os.name": "Ubuntu",
            "os.version": "22.04",
            "os.kernel": "Linux 5.15.0-105-generic",
            "os.arch": "x86_64",
            "cpu.model": "Intel(R) Xeon(R) Platinum 8480C",
            "cpu.arch": "x86_64",
            "cpu.features": "amx_bf16 amx_int8 avx2 avx512f",
            "cpu.cores_physical": 112,
            "cpu.cores_logical": 224,
            "memory.total_bytes": 2164192927744,
            "python.version": "3.12.4",
            "python.implementation": "CPython",
            "python.arch": "x86_64",
            "torch.version": "2.13.0+cu130",
            "torch.cuda_version": "13.0",
            "torch.debug": False,
            "torch.arch_list": "sm_75 sm_80 sm_86 sm_90 sm_100 sm_120",
            "torch.num_threads": 112,
            "cuda.available": True,
            "cuda.runtime_version": "13.0.48",
            "cuda.driver_api_version": "13.0",
            "cudnn.version": "9.13.0",
            "nccl.version": "2.28.3",
            "nvidia.driver_version": "580.65.06",
            "nvidia.driver_kind": "open",
            "nvidia.card_count": 1,
            "mps.built": False,
            "mps.available": False,
        },
        "absent": {
            "rocm.version": {"reason": "not_installed", "detail": None},
            "apple.chip": {"reason": "not_applicable", "detail": "not an Apple machine"},
        },
        "cards": [h100_card()],
        "software": [
            {"component": "linux", "version": "5.15.0-105-generic", "found_by": "os.uname"},
            {"component": "nvidia-driver", "version": "580.65.06", "found_by": "nvml"},
            {"component": "cuda-driver-api", "version": "13.0", "found_by": "nvml"},
            {"component": "cuda-runtime", "version": "13.0.48", "found_by": "torch"},
            {"component": "cudnn", "version": "9.13.0", "found_by": "torch.backends.cudnn.version"},
            {"component": "nccl", "version": "2.28.3", "found_by": "torch.cuda.nccl.version"},
            {"component": "triton", "version": "3.5.0", "found_by": "package metadata"},
            {"component": "pytorch", "version": "2.13.0+cu130", "found_by": "torch.__version__"},
            {"component": "python", "version": "3.12.4", "found_by": "platform"},
        ],
        "results": [gemm_result(), memory_copy_result()],
        "probes": [
            {"probe": "system", "state": "ok", "duration_s": 0.041, "detail": None},
            {"probe": "nvidia", "state": "ok", "duration_s": 0.322, "detail": None},
            {"probe": "torch", "state": "ok", "duration_s": 4.87, "detail": None},
        ],
    }
    return body | changes


def h100_card(**changes: Any) -> Body:
    card: Body = {
        "index": 0,
        "kind": "gpu",
        "vendor": "nvidia",
        "reported_name": "NVIDIA H100 80GB HBM3",
        "memory_bytes": 85520809984,
        "uuid_hash": sha256("GPU-of-the-fixture"),
        "facts": {
            "compute_capability": "9.0",
            "architecture": "Hopper",
            "driver_version": "580.65.06",
            "pci_bus_id": "00000000:18:00.0",
            "pci_device_id": "0x233010DE",
            "power_limit_w": 700.0,
            "power_default_limit_w": 700.0,
            "power_max_limit_w": 700.0,
            "sm_clock_max_hz": 1.98e9,
            "memory_clock_max_hz": 2.619e9,
            "pcie_generation": 5,
            "pcie_width": 16,
            "mig_mode": "disabled",
            "ecc": True,
            "cuda_cores": 16896,
            "multiprocessors": 132,
        },
        "absent": {"driver_model": {"reason": "not_applicable", "detail": None}},
    }
    return card | changes


def gemm_result(**changes: Any) -> Body:
    """Square bf16 product of 8192: 1.0995e12 operations a run, about 1.6 ms on this card."""
    result: Body = {
        "benchmark": "gemm",
        "version": 1,
        "device": "cuda:0",
        "card": 0,
        "params": {"dtype": "bf16", "m": 8192, "n": 8192, "k": 8192},
        "state": "ok",
        "reason": None,
        "unit": "s",
        "samples": [0.00158, 0.00159, 0.0016, 0.00161, 0.00162],
        "started_at": "2026-11-20T12:58:10.250000Z",
        "duration_s": 1.21,
        "conditions": {
            "before.sm_clock_hz": 1.98e9,
            "before.power_w": 118.4,
            "before.temperature_c": 34,
            "before.throttle_reasons": "none",
            "after.sm_clock_hz": 1.755e9,
            "after.power_w": 684.2,
            "after.temperature_c": 52,
            "after.throttle_reasons": "sw_power_cap",
            "throttle_reasons": "sw_power_cap",
            "device_used": "cuda:0",
            "fallback": False,
            "synchronized": True,
            "runs_per_block": 32,
            "tf32": False,
        },
    }
    return result | changes


def memory_copy_result(**changes: Any) -> Body:
    """A copy of 1 GiB: it reads and writes it, about 0.73 ms on this card."""
    copied: Body = {
        "benchmark": "memory-copy",
        "params": {"bytes": 1073741824},
        "samples": [0.000728, 0.000729, 0.00073, 0.000731, 0.00074],
        "duration_s": 0.66,
    }
    return gemm_result(**copied) | changes


def apple_report_body(**changes: Any) -> Body:
    """A MacBook Pro with an M3 Max (40 GPU cores, 48 GB), as recorded: one memory for all, no power reading without root."""
    body: Body = json.loads((RECORDED / "m3-max-macos.json").read_text(encoding="utf-8"))
    machine = {"identity": sha256("a MacBook Pro with an M3 Max"), "name": "desk-mac"}
    return body | {"id": str(uuid4()), "machine": machine} | changes


def large_report_body(results: int = 60, samples: int = 20, **changes: Any) -> Body:
    """A report of the size labs send: for 60 results of 20 samples about 45 KB of JSON."""
    sizes = [1024, 2048, 4096, 8192]
    dtypes = ["fp32", "tf32", "fp16", "bf16", "int8"]
    made = [
        gemm_result(
            params={"dtype": dtypes[n % 5], "m": sizes[n % 4], "n": sizes[n % 4], "k": 512 * (1 + n // 20)},
            samples=[round(0.00158 * (1 + n) * (1 + s / 1000), 9) for s in range(samples)],
        )
        for n in range(results)
    ]
    return report_body(results=made) | changes


def rounds_result(**changes: Any) -> Body:
    """`gemm_result` as format 1.1 has it: six samples in three rounds, energy, enqueue time, what else was at work."""
    result = gemm_result(
        samples=[0.00158, 0.00159, 0.0016, 0.00161, 0.00159, 0.0016],
        rounds=[0, 0, 1, 1, 2, 2],
        energy_j=[1.1, 1.11, 1.1, 1.09, 1.1, 1.1],
        enqueue_s=[1e-5] * 6,
        framework="torch",
        interference={
            "foreign_cpu_ratio": 0.01,
            "steal_ratio": 0.0,
            "processes": [],
            "card_ratio": 0.0,
            "card_processes": [],
            "rounds_disturbed": 0,
            "reruns": 0,
        },
    )
    return result | changes
