"""What must not leave the machine, and taking it out of every text that does.

Home folders, user and host name, UUIDs and addresses of network cards are replaced in all strings of a report just
before it is checked and stored. May import: the standard library.
"""

import getpass
import os
import re
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Mask", "mask_of_this_machine"]

_UUID = re.compile(r"\b(?:GPU-|MIG-)?[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}\b")
_NETWORK_CARD = re.compile(r"\b(?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}\b")
_HOME = re.compile(r"(?:/(?:home|Users)/|[A-Za-z]:\\Users\\)([^/\\\s:;,'\"]+)")
_SHORTEST_NAME = 3

_PLAIN_WORDS = frozenset(
    {
        "root", "user", "admin", "administrator", "guest", "nobody", "test", "ubuntu", "debian", "fedora", "centos",
        "linux", "windows", "macos", "darwin", "docker", "runner", "jenkins", "build", "builder", "ec2-user",
        "jovyan", "vscode", "codespace", "worker", "node", "server", "host", "localhost", "machine", "desktop",
        "laptop", "workstation", "box", "lab", "gpu", "cpu", "npu", "tpu", "cuda", "rocm", "metal", "mps", "xpu",
        "torch", "pytorch", "python", "nvidia", "amd", "intel", "apple", "device", "card", "driver", "kernel",
        "agent", "system", "mac", "macbook", "home", "dev",
    }
)  # fmt: skip
"""Names that identify nobody, and are words of our own besides: masking them would mangle what we say."""

_STRUCTURE = frozenset(
    {
        "id", "identity", "uuid_hash", "created_at", "started_at", "kind", "vendor", "component", "benchmark", "state",
        "unit", "name", "version", "dtype",
    }
)  # fmt: skip
"""Fields that hold our own words, hashes and numbers, or a label that someone chose to send."""


@dataclass(frozen=True)
class Mask:
    """Takes names out of texts. `names`: what to look for, with what stands in its place, longest first."""

    folders: tuple[str, ...] = ()
    names: tuple[tuple[str, str], ...] = ()

    def text(self, text: str) -> str:
        for folder in self.folders:
            text = text.replace(folder, "~")
        text = _HOME.sub("~", text)
        text = _UUID.sub("<uuid>", text)
        text = _NETWORK_CARD.sub("<address>", text)
        for name, stand_in in self.names:
            text = re.sub(rf"(?<![A-Za-z0-9_]){re.escape(name)}(?![A-Za-z0-9_])", stand_in, text, flags=re.IGNORECASE)
        return text

    def document(self, document: Any) -> Any:  # noqa: ANN401 - JSON in, JSON out
        """The same document with every text masked, but for the fields of _STRUCTURE."""
        if isinstance(document, str):
            return self.text(document)
        if isinstance(document, list):
            return [self.document(item) for item in document]
        if isinstance(document, dict):
            return {
                key: value if key in _STRUCTURE and not isinstance(value, dict | list) else self.document(value)
                for key, value in document.items()
            }
        return document


def mask_of(user_names: Iterable[str], host_names: Iterable[str], folders: Iterable[str]) -> Mask:
    """A mask for these names. Short names and plain words stay: they identify nobody and occur everywhere."""
    names = dict.fromkeys(user_names, "<user>") | dict.fromkeys(host_names, "<host>")
    telling = {
        name: stand_in
        for name, stand_in in names.items()
        if len(name) >= _SHORTEST_NAME and name.lower() not in _PLAIN_WORDS and not name.isdigit()
    }
    long_folders = {folder.rstrip("/\\") for folder in folders if len(folder.rstrip("/\\")) > _SHORTEST_NAME}
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
