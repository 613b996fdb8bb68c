"""What must not leave the machine, and taking it out of every text that does.

Home folders, user and host name, UUIDs, network addresses and those of network cards are replaced in all strings of a
report just before it is checked and stored. May import: the standard library.
"""

import getpass
import ipaddress
import os
import re
import socket
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Mask", "mask_of_this_machine"]

_UUID = re.compile(r"\b(?:GPU-|MIG-)?[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}\b")
_NETWORK_CARD = re.compile(r"\b[0-9A-Fa-f]{2}(?:(?::[0-9A-Fa-f]{2}){5,19}|(?:-[0-9A-Fa-f]{2}){5,19})\b")
_IPV6 = re.compile(
    r"(?<![0-9A-Za-z_])(?:[0-9A-Fa-f]{1,4}|:)"
    r"(?:(?::[0-9A-Fa-f]{0,4}){0,6}:[0-9]{1,3}(?:\.[0-9]{1,3}){3}|(?::[0-9A-Fa-f]{0,4}){1,7})"
    r"(?![0-9A-Za-z_])(%[0-9A-Za-z]+)?"
)
_IPV4 = re.compile(r"(?<![\w.+-])(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?![\w+-]|\.[0-9])")
_SAYS_VERSION = re.compile(r"(?:\b(?:version|release|driver|ver|v)\b\.?\s*[:=]?|==)\s*$", re.IGNORECASE)
_HOME = re.compile(r"(?<![A-Za-z0-9_]:)/(?:home|Users)/([^/\\\s:;,'\"]+)")
_WINDOWS_HOME = re.compile(
    r"\b[A-Z]:[\\/]{1,2}Users[\\/]{1,2}(?:[^\\/:;,\"<>|\r\n\t]+(?=[\\/])|[^\\/:;,'\"<>|\r\n\t]+)", re.IGNORECASE
)
"""A folder's name may hold blanks there: without a backslash behind it, it goes on to the next mark or the end."""
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

    def text(self, text: str, *, is_version: bool = False) -> str:
        """`is_version`: four numbers with dots between them are no address here."""
        for folder in self.folders:
            text = text.replace(folder, "~")
        text = _WINDOWS_HOME.sub("~", text)
        text = _HOME.sub("~", text)
        text = _UUID.sub("<uuid>", text)
        text = _NETWORK_CARD.sub("<address>", text)
        text = _IPV6.sub(_without_ipv6, text)
        text = text if is_version else _IPV4.sub(_without_ipv4, text)
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
                key: value if key in _STRUCTURE and not isinstance(value, dict | list) else self._field(key, value)
                for key, value in document.items()
            }
        return document

    def _field(self, key: str, value: Any) -> Any:  # noqa: ANN401
        if isinstance(value, str):
            return self.text(value, is_version=key.endswith(("version", "kernel")))
        return self.document(value)


def _without_ipv6(found: re.Match[str]) -> str:
    """Short forms such as a::b are names in C++ as well: one that begins with a whole group is taken for an address."""
    text, zone = found[0].removesuffix(found[1] or ""), found[1] or ""
    for candidate in (text, text.removesuffix(":")):
        with suppress(ValueError):
            address = ipaddress.IPv6Address(candidate)
            is_telling = candidate.find(":") == 4 or candidate.count(":") == 7 or "." in candidate
            is_telling = is_telling or candidate.lower().startswith(("64:ff9b:", "::ffff:"))
            if is_telling and not (address.is_loopback or address.is_unspecified):
                return f"<address>{text[len(candidate) :]}"
    return f"{text}{zone}"


def _without_ipv4(found: re.Match[str]) -> str:
    """A version may look the same: what the text calls one, and what is no address, stays."""
    if _SAYS_VERSION.search(found.string[max(0, found.start() - 20) : found.start()]):
        return found[0]
    with suppress(ValueError):
        address = ipaddress.IPv4Address(found[0])
        if not (address.is_loopback or address.is_unspecified):
            return "<address>"
    return found[0]


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
