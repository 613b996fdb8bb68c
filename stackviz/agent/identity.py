"""Which machine this is: a hash of something that stays the same over reboots, updates and network changes.

Never a clock, a network address or anything that is read anew at each boot, unless nothing else is left: a machine that
changes its identity splits its own history. Nor what several machines share: home folders on a network, images.
"""

import json
import re
import secrets
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stackviz.agent.folders import system_folder, write_whole
from stackviz.report.format import hashed
from stackviz.report.format.facts.asking import MissingFact, Surroundings

__all__ = ["EXPLICIT_CHARS", "Identity", "machine_identity"]

FILE = "machine.json"
EXPLICIT_CHARS = range(8, 201)  # of an id that somebody gives a machine: a shorter one is soon given twice
_MACHINE_ID = re.compile(r"[0-9a-f]{32}")
_HASH = re.compile(r"[0-9a-f]{64}")
_BOOT_ID = "/proc/sys/kernel/random/boot_id"  # of the kernel: a container has its host's
_HOST_IDS = ("/run/host/etc/machine-id", "/host/etc/machine-id")  # toolbox and distrobox; usual in Kubernetes
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_BOARDS_OF_MANY = {"03000200-0400-0500-0006-000700080009", "12345678-1234-5678-90ab-cddeefaabbcc"}
"""What makers put into every board of a series: AMI's default, and one that fwupd lists as a placeholder."""


@dataclass(frozen=True)
class Identity:
    """`value`: 64 hex digits. `source`: as the fact machine.recognised_by. `by_cards`: what the cards alone would give,
    None without cards that tell a UUID.
    """

    value: str
    source: str
    by_cards: str | None = None

    @property
    def facts(self) -> dict[str, str]:
        by_cards = {"machine.identity_by_cards": self.by_cards} if self.by_cards else {}
        return {"machine.recognised_by": self.source, **by_cards}


def machine_identity(
    around: Surroundings,
    facts: Mapping[str, Any],
    cards: Iterable[Mapping[str, Any]],
    folder: Path,
    explicit: str | None = None,
) -> Identity:
    """In order of trust: an id that somebody gave it, `explicit`; the system's own; in a container, whose image
    may contain another machine's id, that of its host where it is mounted, an id that an earlier run stored, the
    board's, the cards' UUIDs; an id created now and stored in `folder` and in the system's own folder, so that an agent
    with another spool folder is the same machine; where nothing can be stored, the one of this boot.
    """
    hashes = _card_hashes(cards)
    by_cards = hashed("machine-by-cards", " ".join(hashes)) if hashes else None
    if explicit:
        return Identity(_explicit(explicit), "explicit", by_cards)
    value, source = _identity(around, hashes, (folder, system_folder()), is_container="machine.container" in facts)
    return Identity(value, source, by_cards)


def _explicit(text: str) -> str:
    """A machine-id gives what the system that has it gives: a container that was handed it is its host."""
    lower = text.lower()
    return hashed("machine", lower) if _MACHINE_ID.fullmatch(lower) else hashed("machine-named", text)


def _identity(
    around: Surroundings, card_hashes: list[str], folders: tuple[Path, ...], *, is_container: bool
) -> tuple[str, str]:
    system_id = _host_id(around) if is_container else _system_id(around)
    if system_id:
        return hashed("machine", system_id), "host" if is_container else "system"
    stored = _first_id(folders)
    if stored and not card_hashes:
        return hashed("machine-by-file", _stored_id(*folders) or stored), "file"
    board = _board_id(around) if is_container else None
    if board:
        return hashed("machine-by-board", board), "board"
    if card_hashes:
        return _of_cards(around, card_hashes, folders), "cards"
    made = _stored_id(*folders)
    if made:
        return hashed("machine-by-file", made), "file"
    return hashed("machine-by-boot", around.read(_BOOT_ID) or secrets.token_hex(16)), "boot"


def _card_hashes(cards: Iterable[Mapping[str, Any]]) -> list[str]:
    """Of whole cards: instances of MIG are made and removed."""
    return sorted(
        str(card["uuid_hash"])
        for card in cards
        if card.get("uuid_hash") and "mig_parent_index" not in card.get("facts", {})
    )


# ---- in a container -------------------------------------------------------------------------------------------------


def _host_id(around: Surroundings) -> str | None:
    """Return the host's machine-id if somebody mounted it: then /etc/machine-id is a mount point."""
    mounts = [line.split() for line in (around.read("/proc/self/mountinfo") or "").splitlines()]
    is_mounted = any(len(mount) > 4 and mount[4] == "/etc/machine-id" for mount in mounts)
    names = ("/etc/machine-id", *_HOST_IDS) if is_mounted else _HOST_IDS
    return next(filter(None, (_read_machine_id(around, name) for name in names)), None)


def _board_id(around: Surroundings) -> str | None:
    """The UUID in the board's firmware, of the host or its virtual machine; only root may read it."""
    uuid = (around.read("/sys/class/dmi/id/product_uuid") or "").lower()
    is_own = _UUID.fullmatch(uuid) and len(set(uuid)) > 3 and uuid not in _BOARDS_OF_MANY  # zeros, Fs
    return uuid if is_own else None


def _of_cards(around: Surroundings, card_hashes: list[str], folders: tuple[Path, ...]) -> str:
    """As stored when some of these cards were here, or since the same boot: a card that is lost changes nothing.

    Otherwise of the cards that are here, and stored. A folder that several machines share holds an entry for each.
    """
    boot_id = around.read(_BOOT_ID)
    boot = hashed("boot", boot_id) if boot_id else secrets.token_hex(32)
    for folder in folders:
        for entry in _entries(folder):
            if entry["boot"] == boot or not set(card_hashes).isdisjoint(entry["cards"]):
                return str(entry["identity"])
    identity = hashed("machine-by-cards", " ".join(card_hashes))
    for folder in folders:
        _store_entry(folder, {"identity": identity, "cards": card_hashes, "boot": boot})
    return identity


_CARDS_FILE = "machines-by-cards.json"
_MOST_ENTRIES = 200


def _entries(folder: Path) -> list[dict[str, Any]]:
    with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
        entries = json.loads((folder / _CARDS_FILE).read_text(encoding="utf-8"))["machines"]
        return [entry for entry in entries if _HASH.fullmatch(entry["identity"]) and {entry["boot"], *entry["cards"]}]
    return []


def _store_entry(folder: Path, entry: dict[str, Any]) -> None:
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        entries = [*_entries(folder), entry][-_MOST_ENTRIES:]
        write_whole(folder / _CARDS_FILE, json.dumps({"machines": entries}).encode())


# ---- outside --------------------------------------------------------------------------------------------------------


def _system_id(around: Surroundings) -> str | None:
    with suppress(MissingFact, OSError):
        if around.system == "Darwin":
            return _platform_uuid(around)
        if around.system == "Windows":
            return _windows_machine_guid()
        for name in ("/etc/machine-id", "/var/lib/dbus/machine-id"):
            identifier = _read_machine_id(around, name)
            if identifier:
                return identifier
    return None


def _read_machine_id(around: Surroundings, name: str) -> str | None:
    identifier = (around.read(name) or "").lower()
    return identifier if _MACHINE_ID.fullmatch(identifier) and len(set(identifier)) > 1 else None  # zeros: never set


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


def _stored_id(*folders: Path) -> str:
    """An id created once: that of the first folder with one, which the others get too unless they have their own.

    Empty if it cannot be stored.
    """
    made = _first_id(folders) or secrets.token_hex(16)
    for folder in folders:
        if not _first_id([folder]):
            _store_id(folder, made)
    return _first_id(folders)  # of two agents at once the first one's id counts


def _first_id(folders: Iterable[Path]) -> str:
    for folder in folders:
        with suppress(OSError, ValueError, KeyError, TypeError):
            return str(json.loads((folder / FILE).read_text(encoding="utf-8"))["id"])
    return ""


def _store_id(folder: Path, made: str) -> None:
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        note = {"id": made, "meaning": "random id for this machine, which has none of its own"}
        write_whole(folder / FILE, json.dumps(note).encode(), may_replace=False)
