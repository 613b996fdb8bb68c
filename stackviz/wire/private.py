"""What identifies a person or a machine in a text: home folders, UUIDs, addresses. The agent masks with the same.

May import: the standard library.
"""

import ipaddress
import re
from contextlib import suppress

__all__ = ["HOME", "NETWORK_CARD", "PLAIN_WORDS", "SHORTEST_NAME", "UUID", "WINDOWS_HOME", "without_addresses"]

UUID = re.compile(r"\b(?:GPU-|MIG-)?[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}\b")
NETWORK_CARD = re.compile(r"\b[0-9A-Fa-f]{2}(?:(?::[0-9A-Fa-f]{2}){5,19}|(?:-[0-9A-Fa-f]{2}){5,19})\b")
HOME = re.compile(r"(?<![A-Za-z0-9_]:)/(?:home|Users)/(?!~)([^/\\\s:;,'\"]+)")
WINDOWS_HOME = re.compile(
    r"\b[A-Z]:[\\/]{1,2}Users[\\/]{1,2}(?!~)(?:[^\\/:;,\"<>|\r\n\t]+(?=[\\/])|[^\\/:;,'\"<>|\r\n\t]+)", re.IGNORECASE
)
"""A folder's name may hold blanks there: without a backslash behind it, it goes on to the next mark or the end."""

SHORTEST_NAME = 3
PLAIN_WORDS = frozenset(
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

_IPV6 = re.compile(
    r"(?<![0-9A-Za-z_])(?:[0-9A-Fa-f]{1,4}|:)"
    r"(?:(?::[0-9A-Fa-f]{0,4}){0,6}:[0-9]{1,3}(?:\.[0-9]{1,3}){3}|(?::[0-9A-Fa-f]{0,4}){1,7})"
    r"(?![0-9A-Za-z_])(%[0-9A-Za-z]+)?"
)
_IPV4 = re.compile(r"(?<![\w.+-])(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?![\w+-]|\.[0-9])")
_SAYS_VERSION = re.compile(r"(?:\b(?:version|release|driver|ver|v)\b\.?\s*[:=]?|==)\s*$", re.IGNORECASE)


def without_addresses(text: str, stand_in: str, *, is_version: bool = False) -> str:
    """Addresses of the network, IPv4 and IPv6, replaced. `is_version`: four numbers with dots are no address here."""

    def without_ipv6(found: re.Match[str]) -> str:
        return _without_ipv6(found, stand_in)

    def without_ipv4(found: re.Match[str]) -> str:
        return _without_ipv4(found, stand_in)

    text = _IPV6.sub(without_ipv6, text)
    return text if is_version else _IPV4.sub(without_ipv4, text)


def _without_ipv6(found: re.Match[str], stand_in: str) -> str:
    """Short forms such as a::b are names in C++ as well: one that begins with a whole group is taken for an address."""
    text, zone = found[0].removesuffix(found[1] or ""), found[1] or ""
    for candidate in (text, text.removesuffix(":")):
        with suppress(ValueError):
            address = ipaddress.IPv6Address(candidate)
            is_telling = candidate.find(":") == 4 or candidate.count(":") == 7 or "." in candidate
            is_telling = is_telling or candidate.lower().startswith(("64:ff9b:", "::ffff:"))
            if is_telling and not (address.is_loopback or address.is_unspecified):
                return f"{stand_in}{text[len(candidate) :]}"
    return f"{text}{zone}"


def _without_ipv4(found: re.Match[str], stand_in: str) -> str:
    """A version may look the same: what the text calls one, and what is no address, stays."""
    if _SAYS_VERSION.search(found.string[max(0, found.start() - 20) : found.start()]):
        return found[0]
    with suppress(ValueError):
        address = ipaddress.IPv4Address(found[0])
        if not (address.is_loopback or address.is_unspecified):
            return stand_in
    return found[0]
