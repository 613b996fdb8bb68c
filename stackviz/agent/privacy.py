"""What must not leave the machine, and taking it out of every text that does.

Home folders, user and host name, UUIDs, network addresses and those of network cards are replaced in all strings of a
report just before it is checked and stored.
"""

import getpass
import os
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stackviz.base.private import NETWORK_CARD, UUID, is_telling, without_addresses, without_homes, without_names

__all__ = ["Mask", "mask_of_this_machine"]

_SHORTEST_FOLDER = 4
_STRUCTURE = frozenset(
    {
        "id", "identity", "uuid_hash", "created_at", "started_at", "kind", "vendor", "component", "benchmark", "state",
        "unit", "name", "version", "dtype",
    }
)  # fmt: skip
"""Fields that hold our own words, hashes and numbers, or a label that someone chose to send."""


@dataclass(frozen=True)
class Mask:
    """Masks names in texts. `names`: each name with its replacement, longest first."""

    folders: tuple[str, ...] = ()
    names: tuple[tuple[str, str], ...] = ()

    def text(self, text: str, *, is_version: bool = False) -> str:
        """`is_version`: four numbers with dots between them are no address here."""
        for folder in self.folders:
            text = text.replace(folder, "~")
        text = without_homes(text)
        text = UUID.sub("<uuid>", text)
        text = NETWORK_CARD.sub("<address>", text)
        text = without_addresses(text, "<address>", is_version=is_version)
        return without_names(text, dict(self.names))

    def document(self, document: Any) -> Any:  # noqa: ANN401 - JSON in, JSON out
        """The same document with every text masked, but for the fields of _STRUCTURE."""
        if isinstance(document, str):
            return self.text(document)
        if isinstance(document, list):
            return [self.document(item) for item in document]
        if isinstance(document, dict):
            return {
                key: value if key in _STRUCTURE and not isinstance(value, dict | list) else self._field(key, value)
                for key, value in document.items()
            }
        return document

    def _field(self, key: str, value: Any) -> Any:  # noqa: ANN401
        if isinstance(value, str):
            return self.text(value, is_version=key.endswith(("version", "kernel")))
        return self.document(value)


def mask_of(user_names: Iterable[str], host_names: Iterable[str], folders: Iterable[str]) -> Mask:
    """A mask for these names. Short names and plain words stay: they identify no one and occur everywhere."""
    names = dict.fromkeys(user_names, "<user>") | dict.fromkeys(host_names, "<host>")
    telling = {name: stand_in for name, stand_in in names.items() if is_telling(name)}
    long_folders = {folder.rstrip("/\\") for folder in folders if len(folder.rstrip("/\\")) >= _SHORTEST_FOLDER}
    return Mask(
        folders=tuple(sorted(long_folders, key=len, reverse=True)),
        names=tuple(sorted(telling.items(), key=lambda item: len(item[0]), reverse=True)),
    )


def mask_of_this_machine() -> Mask:
    return mask_of(_user_names(), _host_names(), [str(Path.home()), os.path.expanduser("~")])  # noqa: PTH111


def _user_names() -> Iterable[str]:
    yield from (os.environ[name] for name in ("USER", "LOGNAME", "USERNAME", "SUDO_USER") if os.environ.get(name))
    try:
        yield getpass.getuser()
    except (OSError, KeyError, ImportError):
        return


def _host_names() -> Iterable[str]:
    full = socket.gethostname()
    yield from (name for name in (full, full.partition(".")[0], os.environ.get("HOSTNAME", "")) if name)
