"""The output of probes and benchmarks -> one report, masked and checked."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from stackviz.agent import AGENT_NAME, __version__
from stackviz.agent.drop_invalid import parse_mended
from stackviz.agent.identity import machine_identity
from stackviz.agent.privacy import Mask, mask_of_this_machine
from stackviz.agent.probing.gather import Gathered
from stackviz.facts.asking import Surroundings
from stackviz.wire import FORMAT, Report

__all__ = ["assemble_report"]


def assemble_report(
    gathered: Gathered,
    results: Sequence[dict[str, Any]],
    folder: Path,
    name: str | None = None,
    mask: Mask | None = None,
) -> Report:
    """A report with a new id. `name` is sent unmasked, because a person chose it."""
    document: dict[str, Any] = {
        "format": FORMAT,
        "id": str(uuid4()),
        "created_at": datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        "agent": {"name": AGENT_NAME, "version": __version__},
        "machine": {
            "identity": machine_identity(Surroundings(), gathered.facts, gathered.cards, folder),
            "name": name,
        },
        "facts": gathered.facts,
        "absent": gathered.absent,
        "cards": gathered.cards,
        "software": gathered.software,
        "results": list(results),
        "probes": gathered.probes,
    }
    return parse_mended((mask or mask_of_this_machine()).document(document))
