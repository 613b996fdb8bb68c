"""A Report -> JSON text: compact, in a fixed order, with the fields that were not understood where they came from."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from stackviz.wire.report import FORMAT, Absent, Card, ProbeRun, Report, Result, Software

__all__ = ["absent_document", "card_document", "software_document", "to_document", "to_json"]


def to_json(report: Report) -> str:
    """parse_report(to_json(report)) == report. Raises ValueError if a number is NaN or infinite."""
    return json.dumps(to_document(report), ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def to_document(report: Report) -> dict[str, Any]:
    """The report as dicts and lists, ready for json.dumps."""
    return {
        "format": FORMAT,
        "id": str(report.id),
        "created_at": _time(report.created_at),
        "agent": {"name": report.agent.name, "version": report.agent.version, **report.agent.extra},
        "machine": {"identity": report.machine.identity, "name": report.machine.name, **report.machine.extra},
        "facts": dict(report.facts),
        "absent": absent_document(report.absent),
        "cards": [card_document(card) for card in report.cards],
        "software": [software_document(software) for software in report.software],
        "results": [_result(result) for result in report.results],
        "probes": [_probe(probe) for probe in report.probes],
        **report.extra,
    }


def _time(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def absent_document(absent: Mapping[str, Absent]) -> dict[str, Any]:
    return {name: {"reason": why.reason, "detail": why.detail, **why.extra} for name, why in absent.items()}


def card_document(card: Card) -> dict[str, Any]:
    return {
        "index": card.index,
        "kind": card.kind,
        "vendor": card.vendor,
        "reported_name": card.reported_name,
        "memory_bytes": card.memory_bytes,
        "uuid_hash": card.uuid_hash,
        "facts": dict(card.facts),
        "absent": absent_document(card.absent),
        **card.extra,
    }


def software_document(software: Software) -> dict[str, Any]:
    return {
        "component": software.component,
        "version": software.version,
        "found_by": software.found_by,
        **software.extra,
    }


def _result(result: Result) -> dict[str, Any]:
    return {
        "benchmark": result.benchmark,
        "version": result.version,
        "device": result.device,
        "card": result.card,
        "params": dict(result.params),
        "state": result.state,
        "reason": result.reason,
        "unit": result.unit,
        "samples": list(result.samples),
        "started_at": None if result.started_at is None else _time(result.started_at),
        "duration_s": result.duration_s,
        "conditions": dict(result.conditions),
        **result.extra,
    }


def _probe(probe: ProbeRun) -> dict[str, Any]:
    return {
        "probe": probe.probe,
        "state": probe.state,
        "duration_s": probe.duration_s,
        "detail": probe.detail,
        **probe.extra,
    }
