"""Which machine this is: a hash of something that stays the same over reboots, updates and network changes.

Never a clock, a network address or anything that is read anew at each boot: a machine that changes its identity splits
its own history.
"""

import json
import re
import secrets
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from stackviz.agent.folders import write_whole
from stackviz.facts.asking import MissingFact, Surroundings
from stackviz.wire import hashed

__all__ = ["machine_identity"]

_MACHINE_ID = re.compile(r"[0-9a-f]{32}")


def machine_identity(around: Surroundings, facts: dict[str, Any], cards: Iterable[dict[str, Any]], folder: Path) -> str:
    """64 hex digits. In order of trust: the system's own id; in a container, whose image may contain another machine's
    id, the UUIDs of its cards; otherwise an id created once and stored in `folder`.
    """
    in_container = "machine.container" in facts
    if not in_container:
        system_id = _system_id(around)
        if system_id:
            return hashed("machine", system_id)
    card_hashes = sorted(card["uuid_hash"] for card in cards if card.get("uuid_hash"))
    if card_hashes:
        return hashed("machine-by-cards", " ".join(card_hashes))
    return hashed("machine-by-file", _stored_id(folder))


def _system_id(around: Surroundings) -> str | None:
    with suppress(MissingFact, OSError):
        if around.system == "Darwin":
            return _platform_uuid(around)
        if around.system == "Windows":
            return _windows_machine_guid()
        for name in ("/etc/machine-id", "/var/lib/dbus/machine-id"):
            identifier = (around.read(name) or "").lower()
            if _MACHINE_ID.fullmatch(identifier) and len(set(identifier)) > 1:  # all zeros: never set
                return identifier
    return None


def _platform_uuid(around: Surroundings) -> str | None:
    match = re.search(
        r'"IOPlatformUUID" = "([0-9A-F-]{36})"', around.run("ioreg", "-rd1", "-c", "IOPlatformExpertDevice")
    )
    return match[1] if match else None


def _windows_machine_guid() -> str:
    import winreg

    with winreg.OpenKey(  # type: ignore[attr-defined]
        winreg.HKEY_LOCAL_MACHINE,  # type: ignore[attr-defined]
        r"SOFTWARE\Microsoft\Cryptography",
    ) as key:
        return str(winreg.QueryValueEx(key, "MachineGuid")[0])  # type: ignore[attr-defined]


def _stored_id(folder: Path) -> str:
    """An id created once. If it cannot be stored, this machine looks new each time."""
    path = folder / "machine.json"
    with suppress(OSError, ValueError, KeyError, TypeError):
        return str(json.loads(path.read_text(encoding="utf-8"))["id"])
    made = secrets.token_hex(16)
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        note = {"id": made, "meaning": "random id for this machine, which has none of its own"}
        write_whole(path, json.dumps(note).encode(), may_replace=False)  # two agents at once: the first one's id counts
    with suppress(OSError, ValueError, KeyError, TypeError):
        return str(json.loads(path.read_text(encoding="utf-8"))["id"])
    return made
