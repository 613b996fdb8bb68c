"""Connections to addresses that somebody typed, never into this site's own network.

A name is resolved once, every address it leads to must be public, and the connection goes to one of these: a name that
resolves differently a moment later leads nowhere, and nobody finds out which ports inside are open.
"""

import ipaddress
import socket
from collections.abc import Callable, Iterator
from typing import Any

TRIED = 3  # addresses of a name
_TRANSLATED = ipaddress.ip_network("64:ff9b::/96")  # NAT64: the last four bytes are an IPv4 address

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
Connect = Callable[..., socket.socket]  # as socket.create_connection


class NotPublic(OSError):
    """A name that leads into a network that is not public."""


def is_public(address: IPAddress) -> bool:
    """Whether a packet to it leaves for the internet, also through what carries IPv4 inside IPv6."""
    if isinstance(address, ipaddress.IPv6Address):
        if address.teredo is not None or address.is_site_local:  # fec0::/10 counts as global in `ipaddress`
            return False
        carried = address.ipv4_mapped or address.sixtofour
        if carried is None and address in _TRANSLATED:
            carried = ipaddress.IPv4Address(address.packed[-4:])
        if carried is not None:
            return is_public(carried)
    return address.is_global and not (
        address.is_multicast or address.is_reserved or address.is_unspecified or address.is_loopback
    )


def connect_outside(
    connect: Connect,
    host_and_port: tuple[str, int],
    *arguments: Any,  # noqa: ANN401 - socket.create_connection's own
    or_loopback: bool = False,
) -> socket.socket:
    """`connect` to the first address of the host that answers. Raises NotPublic before anything is connected to."""
    host, port = host_and_port
    problem: OSError = socket.gaierror()
    for address in list(_addresses(host, port, or_loopback=or_loopback))[:TRIED]:
        try:
            return connect((address, port), *arguments)
        except OSError as error:
            problem = error
    raise problem


def _addresses(host: str, port: int, *, or_loopback: bool) -> Iterator[str]:
    """Those of a name. Raises NotPublic if one of them is not public: then none is trusted."""
    for _family, _type, _proto, _name, where in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        address = ipaddress.ip_address(str(where[0]).partition("%")[0])
        if not is_public(address) and not (or_loopback and address.is_loopback):
            raise NotPublic
        yield str(address)
