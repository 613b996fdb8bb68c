"""A lab with machines that reported: rows as reading a report leaves them, without sending one.

lab = make_lab()
machine = make_machine(lab, "dgx-07")
make_report(machine, facts={...}, cards=[h100(0), h100(1)], results=[gemm("bf16", [0.00141] * 8)])
"""

import uuid
from datetime import UTC, datetime, timedelta

from stackviz.base.stats import summarize
from stackviz.records.labs.models import Card, Finding, Lab, Machine, Report, Snapshot
from stackviz.records.series.models import Result, Series
from stackviz.records.series.rollup import refresh

START = datetime(2026, 11, 20, 8, tzinfo=UTC)

DGX_FACTS = {
    "os.name": "Ubuntu",
    "os.version": "22.04",
    "os.kernel": "Linux 5.15.0-105-generic",
    "cpu.model": "Intel(R) Xeon(R) Platinum 8480C",
    "cpu.cores_physical": 112,
    "cpu.cores_logical": 224,
    "memory.total_bytes": 2_164_200_431_616,
    "python.version": "3.12.4",
    "torch.version": "2.8.0+cu128",
    "torch.cuda_version": "12.8",
    "cuda.available": True,
    "cuda.runtime_version": "12.8",
    "cuda.driver_api_version": "12.2",
    "nvidia.driver_version": "535.183.01",
}
DGX_ABSENT = {
    "rocm.version": {"reason": "not_installed"},
    "mps.available": {"reason": "not_applicable", "detail": "not macOS"},
    "nvidia.driver_kind": {"reason": "failed", "detail": "nvidia-smi: permission denied"},
}
DGX_SOFTWARE = [
    {"component": "python", "version": "3.12.4", "found_by": "sys.version_info"},
    {"component": "pytorch", "version": "2.8.0+cu128", "found_by": "torch.__version__"},
    {"component": "triton", "version": "3.4.0", "found_by": "importlib.metadata"},
    {"component": "cudnn", "version": "9.10.2", "found_by": "torch.backends.cudnn.version()"},
    {"component": "cublas", "version": None, "found_by": "loaded library"},
    {"component": "nccl", "version": "2.27.3", "found_by": "torch.cuda.nccl.version()"},
    {"component": "cuda-runtime", "version": "12.8", "found_by": "torch.version.cuda"},
    {"component": "nvidia-driver", "version": "535.183.01", "found_by": "NVML"},
    {"component": "linux", "version": "22.04", "found_by": "/etc/os-release"},
]


def make_lab(slug="north", *, is_public=True, name=None):
    return Lab.objects.create(slug=slug, name=name or f"{slug.title()} lab", is_public=is_public)


def make_machine(lab, name="dgx-07", **fields):
    return Machine.objects.create(lab=lab, slug=fields.pop("slug", name), name=name, **fields)


def h100(index=0, accelerator=None, **facts):
    return {
        "index": index,
        "kind": "gpu",
        "vendor": "nvidia",
        "reported_name": "NVIDIA H100 80GB HBM3",
        "accelerator": accelerator,
        "match_how": "alias" if accelerator else "",
        "memory_bytes": 85_520_809_984,
        "facts": {
            "compute_capability": "9.0",
            "power_limit_w": 700.0,
            "power_default_limit_w": 700.0,
            "pcie_generation_max": 5,
            "pcie_width_max": 16,
            "ecc": True,
            **facts,
        },
        "absent": {"metal_family": {"reason": "not_applicable"}},
    }


def gemm(dtype, seconds, *, side=8192, device="cuda:0", card=0, **fields):
    """A result of the benchmark gemm; `seconds`: its samples."""
    params = {"dtype": dtype, "m": side, "n": side, "k": side}
    return {"benchmark": "gemm", "device": device, "card": card, "params": params, "samples": seconds, **fields}


def copy(seconds, *, size=4_294_967_296, device="cuda:0", card=0, **fields):
    """A result of the benchmark memory-copy."""
    params = {"bytes": size}
    return {"benchmark": "memory-copy", "device": device, "card": card, "params": params, "samples": seconds, **fields}


def make_report(
    machine, *, at=START, facts=None, absent=None, software=None, cards=(), findings=(), results=(), **fields
):
    """A report that was read; it becomes the machine's latest if it is the newest so far."""
    report = Report.objects.create(
        id=uuid.uuid4(), machine=machine, received_at=at, status="read", read_at=at, body=b"{}", **fields
    )
    snapshot = Snapshot.objects.create(
        report=report,
        machine=machine,
        taken_at=at,
        agent="accelweb-agent 0.1.0",
        facts=DGX_FACTS if facts is None else facts,
        absent=DGX_ABSENT if absent is None else absent,
        software=DGX_SOFTWARE if software is None else software,
        probes=[{"probe": "nvidia", "state": "ok", "duration_s": 0.2, "detail": None}],
    )
    Card.objects.bulk_create(Card(snapshot=snapshot, **card) for card in cards)
    Finding.objects.bulk_create(Finding(snapshot=snapshot, **finding) for finding in findings)
    for position, result in enumerate(results):
        make_result(machine, report, position, at, **result)
    if machine.latest_taken_at is None or machine.latest_taken_at <= at:
        machine.latest_snapshot, machine.latest_taken_at = snapshot, at
    machine.times_read += 1
    machine.save()
    return report


def make_result(machine, report, position, at, *, benchmark, device, card, params, samples, state="ok", **fields):
    key = "&".join(f"{name}={params[name]}" for name in sorted(params))
    series, _made = Series.objects.get_or_create(
        machine=machine, benchmark=benchmark, version=1, device=device, card_index=card, params_key=key,
        defaults={"params": params},
    )  # fmt: skip
    summary = summarize(samples) if state == "ok" else None
    names = ("median", "q1", "q3", "low", "high")
    made = Result.objects.create(
        series=series,
        report=report,
        position=position,
        measured_at=at,
        state=state,
        unit=fields.pop("unit", "s"),
        samples=samples if state == "ok" else [],
        sample_count=summary.count if summary else 0,
        **{name: getattr(summary, name) if summary else None for name in names},
        **fields,
    )
    refresh((), {series.pk: 1})
    return made


def make_waiting_report(machine, at):
    """A report that came in and is not read yet."""
    return Report.objects.create(id=uuid.uuid4(), machine=machine, received_at=at, body=b"{}")


def warning(title="The driver branch is near its end", **fields):
    return {
        "rule": "nvidia-driver-branch",
        "severity": "warning",
        "component": "nvidia-driver",
        "title": title,
        "evidence": {"nvidia.driver_version": "535.183.01"},
        "explanation": "Branch 535 gets fixes until 2026-06.",
        "advice": "Move to branch 580.",
        "source_title": "NVIDIA data center driver life cycle",
        "source_url": "https://docs.nvidia.com/datacenter/tesla/drivers/",
        **fields,
    }


def days(count):
    return timedelta(days=count)
