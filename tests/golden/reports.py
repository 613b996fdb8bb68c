"""The reports that the seeded machines sent: the recorded fixtures, and machines made from them.

Each has a fixed id, identity and time, so that every page of it is the same in every run.
"""

import copy
import hashlib
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures" / "reports"
Document = dict[str, Any]


def report(fixture: str, name: str, created: str, **changes: Any) -> Document:
    """The fixture as sent by the machine `name` at `created`; `changes` replace whole top-level fields."""
    body: Document = json.loads((FIXTURES / f"{fixture}.json").read_text(encoding="utf-8"))
    digest = hashlib.sha256(f"{name} {created}".encode()).hexdigest()
    body["id"] = f"{digest[:8]}-{digest[8:12]}-4{digest[13:16]}-8{digest[17:20]}-{digest[20:32]}"
    body["created_at"] = created
    body["machine"] = {"identity": hashlib.sha256(name.encode()).hexdigest(), "name": name}
    for number, result in enumerate(body["results"]):
        result["started_at"] = created.replace("Z", f".{number:06}Z")
    return body | changes


def facts(body: Document, **changes: Any) -> Document:
    return body | {"facts": {name: value for name, value in (body["facts"] | changes).items() if value is not None}}


def slower(body: Document, factor: float) -> Document:
    """The same report with every time of a sample longer by `factor`, one result failed and one skipped."""
    body = copy.deepcopy(body)
    for result in body["results"]:
        result["samples"] = [round(sample * factor, 9) for sample in result["samples"]]
    for result, state, reason in zip(
        body["results"][-2:], ("failed", "skipped"), ("out of memory", "no time left"), strict=True
    ):
        result |= {"state": state, "reason": reason, "samples": []}
    return body


def cards(body: Document, *changes: Document) -> Document:
    """The report's first card, again for each of `changes`."""
    made = []
    for index, change in enumerate(changes):
        card = copy.deepcopy(body["cards"][0])
        bus = {"pci_bus_id": f"00000000:{0x18 + index:02X}:00.0"} if "pci_bus_id" in card["facts"] else {}
        card["facts"] |= {**bus, **change.pop("facts", {})}
        card["uuid_hash"] = card["uuid_hash"] and hashlib.sha256(f"{body['id']} {index}".encode()).hexdigest()
        made.append(card | {"index": index} | change)
    count = {"nvidia.card_count": len(made)} if "nvidia.card_count" in body["facts"] else {}
    return facts(body | {"cards": made}, **count)


def software(body: Document, **versions: str | None) -> Document:
    """The report with these components' versions (`nvidia_driver="535.1"`); None takes a component out."""
    wanted = {name.replace("_", "-"): version for name, version in versions.items()}
    rows = [row | {"version": wanted.get(row["component"], row["version"])} for row in body["software"]]
    return body | {"software": [row for row in rows if row["component"] not in wanted or wanted[row["component"]]]}


def public_reports() -> Iterator[Document]:
    """The public lab's, oldest first."""
    yield report("h100-linux", "h100-linux", "2026-10-04T09:30:00Z")
    yield slower(report("h100-linux", "h100-linux", "2026-11-11T17:05:00Z"), 1.031)
    yield report("h100-linux", "h100-linux", "2026-11-20T12:59:00Z")
    yield report("m3-max-macos", "m3-max-macos", "2026-11-20T13:10:00Z")
    yield report("cpu-linux", "cpu-linux", "2026-11-20T14:54:58Z")
    yield several_cards()
    yield old_driver()
    yield unknown_card()
    yield slower(report("m3-max-macos", "studio", "2026-11-21T08:00:00Z"), 1.2)


def private_reports() -> Iterator[Document]:
    yield slower(report("h100-linux", "sealed-box", "2026-11-19T10:00:00Z"), 0.97)
    yield report("cpu-linux", "sealed-desk", "2026-11-19T10:05:00Z")


def several_cards() -> Document:
    """A box with cards of three kinds, one throttled, one cut into MIG instances."""
    return cards(
        report("h100-linux", "mixed-box", "2026-11-20T15:30:00Z"),
        {},
        {"facts": {"power_limit_w": 450.0, "ecc": False}},
        {
            "reported_name": "NVIDIA A100-SXM4-80GB",
            "memory_bytes": 85899345920,
            "facts": {
                "compute_capability": "8.0",
                "architecture": "Ampere",
                "mig_mode": "enabled",
                "pcie_generation": 4,
                "pcie_width": 8,
                "pcie_generation_max": 4,
            },
        },
        {
            "reported_name": "NVIDIA GeForce RTX 4090",
            "memory_bytes": 25757220864,
            "facts": {
                "compute_capability": "8.9",
                "architecture": "Ada Lovelace",
                "power_limit_w": 450.0,
                "power_default_limit_w": 450.0,
                "power_max_limit_w": 600.0,
                "ecc": False,
            },
        },
    )


def old_driver() -> Document:
    """torch built for a CUDA that the driver is too old for."""
    body = report("h100-linux", "old-driver", "2026-11-20T16:00:00Z")
    body = software(body, nvidia_driver="535.183.01", cuda_driver_api="12.2")
    body["cards"][0]["facts"]["driver_version"] = "535.183.01"
    changes = {"nvidia.driver_version": "535.183.01", "cuda.driver_api_version": "12.2", "cuda.available": False}
    return facts(body | {"results": []}, **changes)


def unknown_card() -> Document:
    """Two cards that no sheet has by name, and a field no server of this version knows."""
    body = report("h100-linux", "prototype", "2026-11-20T16:30:00Z")
    body = cards(
        body,
        {"reported_name": "NVIDIA Graphics Device"},
        {"reported_name": "NVIDIA H999 640GB HBM9", "memory_bytes": 640 * 10**9},
    )
    body["results"] = body["results"][:2]
    return body | {"later": {"invented": True}}


def moment(body: Document) -> datetime:
    return datetime.fromisoformat(body["created_at"]).astimezone(UTC)
