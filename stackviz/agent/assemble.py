"""The output of probes and benchmarks -> one report, masked."""

from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from stackviz.agent import AGENT_NAME, __version__
from stackviz.agent.identity import machine_identity
from stackviz.agent.privacy import Mask, mask_of_this_machine
from stackviz.agent.probing.gather import Gathered
from stackviz.base.backports import UTC
from stackviz.report.format import FORMAT
from stackviz.report.format.facts.asking import Surroundings

__all__ = ["report_document"]


def report_document(
    gathered: Gathered,
    folder: Path,
    name: str | None = None,
    mask: Mask | None = None,
    machine_id: str | None = None,
) -> dict[str, Any]:
    """A report with a new id and without results. `name` is sent unmasked, because a person chose it.
    `machine_id`: the id that somebody gave the machine.
    """
    identity = machine_identity(Surroundings(), gathered.facts, gathered.cards, folder, machine_id)
    document: dict[str, Any] = {
        "format": FORMAT,
        "id": str(uuid4()),
        "created_at": datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        "agent": {"name": AGENT_NAME, "version": __version__},
        "machine": {
            "identity": identity.value,
            "name": name,
        },
        "facts": gathered.facts | identity.facts,
        "absent": {fact: why for fact, why in gathered.absent.items() if fact not in identity.facts},
        "cards": gathered.cards,
        "software": gathered.software,
        "results": [],
        "probes": gathered.probes,
    }
    masked: dict[str, Any] = (mask or mask_of_this_machine()).document(document)
    return masked
