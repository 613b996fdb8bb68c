"""A rule and how it is run. May import: the other modules of rules, wire and the standard library."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from stackviz.rules.compatibility import Source, Tables
from stackviz.rules.finding import Finding, Severity, Verdict
from stackviz.rules.look import Look, NotReported
from stackviz.wire import Report

__all__ = ["Check", "Rule", "run"]

HOW_TO_TELL: Mapping[str, str] = {
    "torch.version": 'python -c "import torch; print(torch.__version__)"',
    "torch.cuda_version": 'python -c "import torch; print(torch.version.cuda)"',
    "torch.arch_list": 'python -c "import torch; print(torch.cuda.get_arch_list())"',
    "cudnn.version": 'python -c "import torch; print(torch.backends.cudnn.version())"',
    "mps.built": 'python -c "import torch; print(torch.backends.mps.is_built())"',
    "mps.available": 'python -c "import torch; print(torch.backends.mps.is_available())"',
    "python.arch": 'python -c "import platform; print(platform.machine())"',
    "nvidia.driver_version": "nvidia-smi --query-gpu=driver_version --format=csv",
    "cuda.driver_api_version": "nvidia-smi",
    "compute_capability": "nvidia-smi --query-gpu=index,name,compute_cap --format=csv",
    "power_limit_w": "nvidia-smi -q -d POWER",
    "power_default_limit_w": "nvidia-smi -q -d POWER",
    "throttle_reasons": "nvidia-smi -q -d PERFORMANCE",
    "ecc_uncorrected": "nvidia-smi -q -d ECC",
    "remap_pending": "nvidia-smi -q -d ROW_REMAPPER",
    "remap_failed": "nvidia-smi -q -d ROW_REMAPPER",
    "persistence_mode": "nvidia-smi --query-gpu=index,persistence_mode --format=csv",
    "nvidia.fabric_manager": "systemctl status nvidia-fabricmanager",
    "nvidia.uvm_device": "ls -l /dev/nvidia-uvm",
    "nvidia.kernel_module_version": "cat /proc/driver/nvidia/version",
    "triton": 'python -c "import triton; print(triton.__version__)"',
}
"""What to type to learn a fact that a rule lacked."""

Check = Callable[[Look, Tables], Iterator[Verdict]]


@dataclass(frozen=True, slots=True)
class Rule:
    """One question put to every report.

    `asks` completes "Cannot tell whether ...". `component` is the box the answer colours. A check that yields nothing
    says that the question does not arise on this machine. `needs`: the component that asks for something and the one
    that has to give it, where the rule is about two: the diagram draws the link. `last_resort`: it restates what a
    person sees, and is silent where a rule about the driver, CUDA, torch or the system finds something broken.
    """

    id: str
    component: str
    asks: str
    source: Source
    check: Check
    needs: tuple[str, str] | tuple[()] = ()
    last_resort: bool = False


def run(rule: Rule, report: Report, tables: Tables) -> Iterator[Finding]:
    """The rule's findings, in its own order; a missing fact ends the check with "cannot tell"."""
    look = Look(report, tables)
    try:
        for verdict in rule.check(look, tables):
            yield _finding(rule, verdict, look)
    except NotReported as missing:
        title = f"Cannot tell whether {rule.asks}: {missing.name} not reported"
        advice = HOW_TO_TELL.get(missing.name.rpartition(" ")[2], "")
        yield _finding(rule, Verdict(Severity.CANNOT_TELL, title, _why(missing), advice, missing.cards), look)


def _why(missing: NotReported) -> str:
    return f"The report gives the reason: {missing.reason}." if missing.reason else ""


def _finding(rule: Rule, verdict: Verdict, look: Look) -> Finding:
    source = verdict.source or rule.source
    return Finding(
        rule=rule.id,
        severity=verdict.severity.value,
        component=verdict.component or rule.component,
        title=verdict.title,
        evidence=look.evidence_for(verdict.cards),
        explanation=verdict.explanation,
        advice=verdict.advice,
        source_title=source.title,
        source_url=source.url,
    )
