"""A whole, healthy report; a test changes what it is about."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from stackviz.base.sentence import Sentence
from stackviz.report.format import Absent, Agent, Card, Machine, Report, Software
from stackviz.report.rules import RULES, Finding, Severity, find, judge, packaged_tables

LINUX: dict[str, Any] = {
    "os.name": "Ubuntu",
    "os.version": "24.04",
    "os.arch": "x86_64",
    "python.version": "3.12.4",
    "python.arch": "x86_64",
    "torch.version": "2.13.0+cu130",
    "torch.cuda_version": "13.0",
    "torch.arch_list": "sm_75 sm_80 sm_86 sm_90 sm_100 sm_120",
    "cuda.available": True,
    "cuda.driver_api_version": "13.0",
    "cuda.toolkit_version": "13.0.88",
    "cuda.init_code": 0,
    "cudnn.version": "9.20.0",
    "nvidia.driver_version": "580.95.05",
    "nvidia.kernel_module_version": "580.95.05",
    "nvidia.nvml_version": "13.580.95.05",
    "nvidia.uvm_device": True,
    "nvidia.nvswitches": 4,
    "nvidia.fabric_manager": "active",
}
SOFTWARE = (
    Software("pytorch", "2.13.0+cu130", "pip"),
    Software("torchvision", "0.28.0", "pip"),
    Software("triton", "3.7.1", "pip"),
)
MAC: dict[str, Any] = {
    "os.name": "macOS",
    "os.version": "26.1",
    "os.arch": "arm64",
    "apple.chip": "Apple M3 Max",
    "cpu.model": "Apple M3 Max",
    "python.version": "3.12.4",
    "python.arch": "arm64",
    "python.rosetta": False,
    "torch.version": "2.13.0",
    "mps.built": True,
    "mps.available": True,
}
H100: dict[str, Any] = {
    "compute_capability": "9.0",
    "power_limit_w": 700.0,
    "power_default_limit_w": 700.0,
    "pcie_width": 16,
    "pcie_width_max": 16,
    "pcie_generation": 5,
    "pcie_generation_max": 5,
    "busy_ratio": 0.9,
    "throttle_reasons": "none",
    "temperature_c": 61,
    "display_attached": False,
    "persistence_mode": True,
    "mig_mode": "disabled",
    "mig_pending": "disabled",
    "ecc": True,
    "ecc_pending": True,
    "ecc_uncorrected": 0,
    "remap_pending": False,
    "remap_failed": False,
}
SEVERITIES = [severity.value for severity in Severity]  # the most severe first
FAILED = Absent("failed", "it did not answer")
UNSET = Absent("not_applicable", "not set")


def card(
    index: int = 0,
    name: str = "NVIDIA H100 80GB HBM3",
    vendor: str = "nvidia",
    memory_bytes: int | None = 85_520_809_984,
    **changes: Any,
) -> Card:
    """A fact that is set to an Absent is absent for that reason."""
    absent = {fact: value for fact, value in changes.items() if isinstance(value, Absent)}
    told = {fact: None if fact in absent else value for fact, value in changes.items()}
    return Card(
        index=index,
        kind="gpu",
        vendor=vendor,
        reported_name=name,
        memory_bytes=memory_bytes,
        facts=changed(H100, told),
        absent=absent,
    )


def changed(facts: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """With these facts instead; None takes one away. `driver_version` in a keyword stands for `driver.version`."""
    return {name: value for name, value in {**facts, **changes}.items() if value is not None}


def report(
    facts: dict[str, Any] | None = None,
    cards: tuple[Card, ...] = (),
    absent: dict[str, Absent] | None = None,
    software: tuple[Software, ...] = (),
    day: str = "2026-11-20",
    **changes: Any,
) -> Report:
    """`changes` name facts with a double underscore for the dot: torch__version="2.9.0"; None takes one away."""
    named = {name.replace("__", "."): value for name, value in changes.items()}
    return Report(
        id=UUID("6d1d5be6-0c6c-4f3e-9f2b-6d2f8f1f0001"),
        created_at=datetime.fromisoformat(day).replace(tzinfo=UTC),
        agent=Agent("accelweb-agent", "1"),
        machine=Machine("0" * 64),
        facts=changed(facts or {}, named),
        absent=absent or {},
        cards=cards,
        software=software,
    )


def linux(*cards: Card, absent: dict[str, Absent] | None = None, day: str = "2026-11-20", **changes: Any) -> Report:
    changes.setdefault("software", SOFTWARE)
    return report(LINUX, cards or (card(),), absent, day=day, **changes)


def mac(absent: dict[str, Absent] | None = None, **changes: Any) -> Report:
    said = absent if absent is not None else {"mps.fallback": UNSET, "torch.cuda_version": UNSET}
    gpu = Card(
        index=0,
        kind="gpu",
        vendor="apple",
        reported_name="Apple M3 Max",
        memory_bytes=None,
        facts={"gpu_cores": 40, "unified_memory": True},
    )
    return report(MAC, (gpu,), said, **changes)


def answers(rule: str, seen: Report) -> list[Finding]:
    """All answers of one rule, what holds included; none is more severe than the rule declares."""
    [declared] = [known for known in RULES if known.id == rule]
    found = [finding for finding in judge(seen, packaged_tables()) if finding.rule == rule]
    assert all(SEVERITIES.index(finding.severity) >= SEVERITIES.index(declared.worst) for finding in found), rule
    return found


def stated(text: str) -> tuple[str, ...]:
    """Return what was put into a sentence, and into the sentences in it, in order."""
    if not isinstance(text, Sentence):
        return (text,)
    return tuple(value for each in text.values.values() for value in stated(each))


def lacking(finding: Finding) -> str:
    """Return the fact for want of which the rule cannot tell."""
    assert finding.severity == "cannot-tell"
    return finding.title.values["name"]


def answer(rule: str, seen: Report) -> Finding:
    [finding] = answers(rule, seen)
    return finding


def problems(seen: Report) -> dict[str, str]:
    """Rule -> severity of all that was found."""
    return {finding.rule: finding.severity for finding in find(seen, packaged_tables())}
