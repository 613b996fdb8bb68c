"""Machines found in dumps -> the answer as JSON: what was found, what does not fit, what is missing and why."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from stackviz.report.dumps.components import components
from stackviz.report.dumps.machines import DumpedMachine
from stackviz.report.dumps.verdict import NOTHING_CHECKED, judge_dump, verdict
from stackviz.report.format import Absent, Card, Report, Result, Scalar
from stackviz.report.messages.of_findings import messages_like
from stackviz.report.rules import Finding, Severity, Tables

__all__ = ["ALWAYS_LISTED", "answer", "unexplained"]

ALWAYS_LISTED = (
    "os.name",
    "os.version",
    "python.version",
    "torch.version",
    "torch.cuda_version",
    "cuda.runtime_version",
    "cuda.driver_api_version",
    "nvidia.driver_version",
    "cudnn.version",
    "rocm.version",
    "cpu.model",
    "mps.built",
    "mps.available",
)
"""The facts every answer has, null where no dump tells them."""

_ELSE = {"cuda.runtime_version": "cuda.toolkit_version", "rocm.version": "torch.hip_version"}
"""What goes by the name of another: collect_env asks nvcc for the runtime, and calls torch's HIP the ROCm."""

_IN_NO_DUMP = Absent("not_reported", "no dump in the text states it")

SheetOf = Callable[[Card], str | None]
Document = dict[str, Any]


def answer(
    machines: Sequence[DumpedMachine],
    tables: Tables,
    sheet_of: SheetOf | None = None,
    not_understood: Sequence[str] = (),
) -> Document:
    """What is known of the first machine; the others under "machines", with what tells them apart.

    `sheet_of`: a card -> the slug of its sheet; without it the tables' list of names decides. `not_understood`: lines
    outside all dumps. "kinds" are those of the whole text.
    """
    answers = [_answer(machine, tables, sheet_of) for machine in machines] or [_nothing()]
    first = answers[0]
    first["kinds"] = list(dict.fromkeys(kind for machine in machines for kind in machine.kinds))
    first["not_understood"] = [*first["not_understood"], *not_understood]
    if len(answers) > 1:
        first["machines"] = [
            {"differs": machine.differs, **document}
            for machine, document in zip(machines[1:], answers[1:], strict=True)
        ]
    return first


def unexplained(problems: Iterable[str], findings: Iterable[Finding]) -> list[str]:
    """Problems of a reading that are not the evidence of a finding: how nvidia-smi failed is explained there."""
    evidence = {value for each in findings if each.severity != Severity.FITS for value in each.evidence.values()}
    return [problem for problem in problems if problem not in evidence]


def _nothing() -> Document:
    return {
        "kinds": [],
        "verdict": NOTHING_CHECKED,
        "facts": dict.fromkeys(ALWAYS_LISTED),
        "cards": [],
        "components": [],
        "findings": [],
        "results": [],
        "not_understood": [],
        "problems": [],
        "reasons": {name: _reason(_IN_NO_DUMP) for name in ALWAYS_LISTED},
    }


def _answer(machine: DumpedMachine, tables: Tables, sheet_of: SheetOf | None) -> Document:
    report = machine.report()
    findings = judge_dump(report, machine.kinds, tables)
    facts, reasons = _facts(report)
    cards = [_card(card, report.facts, tables, sheet_of, reasons) for card in report.cards]
    return {
        "kinds": list(machine.kinds),
        "verdict": verdict(findings, report),
        "facts": facts,
        "cards": cards,
        "components": [
            {
                "layer": component.layer or None,
                "component": component.component,
                "version": component.version,
                "state": component.state,
            }
            | ({"name": component.name} if component.name else {})
            for component in components(report, findings)
        ],
        "findings": [_finding(component) for component in findings if component.severity != Severity.FITS],
        "results": [_result(result) for result in machine.reading.results],
        "not_understood": list(machine.reading.ignored),
        "problems": unexplained(machine.reading.problems, findings),
        "reasons": reasons,
    }


def _facts(report: Report) -> tuple[dict[str, Scalar | None], dict[str, Document]]:
    """The facts asked for, then every other that was told; and why what is null is null."""
    facts: dict[str, Scalar | None] = {name: report.facts.get(name) for name in ALWAYS_LISTED}
    absent = dict(report.absent)
    for name, other in _ELSE.items():
        if facts[name] is None:
            facts[name] = report.facts.get(other)
            if other in absent:
                absent.setdefault(name, absent[other])
    facts |= {name: value for name, value in report.facts.items() if name not in facts}
    lacking = {name: absent.get(name, _IN_NO_DUMP) for name in ALWAYS_LISTED if facts[name] is None}
    lacking |= {name: why for name, why in absent.items() if name not in facts}
    return facts, {name: _reason(why) for name, why in lacking.items()}


def _reason(why: Absent) -> Document:
    return {"reason": why.reason, "detail": why.detail}


def _card(
    card: Card,
    facts: Mapping[str, Scalar],
    tables: Tables,
    sheet_of: SheetOf | None,
    reasons: dict[str, Document],
) -> Document:
    document: Document = {
        "index": card.index,
        "reported_name": card.reported_name,
        "accelerator": sheet_of(card) if sheet_of else _known(card, tables),
        "memory_bytes": card.memory_bytes,
        "driver_version": card.facts.get("driver_version"),
    }
    if document["driver_version"] is None and card.vendor == "nvidia":
        document["driver_version"] = facts.get("nvidia.driver_version")
    why = {"accelerator": Absent("not_reported", "no spec sheet has this name, or several do")}
    why["driver_version"] = card.absent.get("driver_version", _driver_absent(card))
    for name in ("accelerator", "memory_bytes", "driver_version"):
        if document[name] is None:
            reasons[f"cards[{card.index}].{name}"] = _reason(why.get(name) or card.absent.get(name) or _IN_NO_DUMP)
    return document


def _driver_absent(card: Card) -> Absent:
    return Absent("not_applicable", "the driver is part of macOS") if card.vendor == "apple" else _IN_NO_DUMP


def _known(card: Card, tables: Tables) -> str | None:
    cores = card.facts.get("gpu_cores")
    known = tables.known_card(
        card.vendor, card.reported_name, card.memory_bytes, cores if isinstance(cores, int) else None
    )
    return known.accelerator if known else None


def _finding(finding: Finding) -> Document:
    """`similar`: messages that read like a line which no rule explains."""
    document: Document = {
        "rule": finding.rule,
        "severity": finding.severity,
        "component": finding.component,
        "title": finding.title,
        "explanation": finding.explanation,
        "evidence": dict(finding.evidence),
        "advice": finding.advice,
        "source": {"title": finding.source_title, "url": finding.source_url},
    }
    if similar := messages_like(finding):
        document["similar"] = [{"key": message.key, "message": message.message} for message in similar]
    return document


def _result(result: Result) -> Document:
    """`value`: the mean, as the benchmark states it; null for a run that failed, with the reason."""
    stated = result.extra.get("mean")
    mean = sum(result.samples) / len(result.samples) if result.samples else None
    document: Document = {
        "benchmark": result.benchmark,
        "device": result.device,
        "params": dict(result.params),
        "value": stated if stated is not None else mean,
        "unit": result.unit,
    }
    if "stddev" in result.extra:
        document["stddev"] = result.extra["stddev"]
    if result.state != "ok":
        document |= {"state": result.state, "reason": result.reason}
    return document
