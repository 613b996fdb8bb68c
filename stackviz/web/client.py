"""Who sends a request: the network address our own proxies saw, or a key that stands for it."""

import ipaddress

from django.conf import settings
from django.http import HttpRequest
from django.utils.crypto import salted_hmac

_KEY_CHARS = 32
_IPV6_NETWORK_BITS = 64  # a household has all the addresses behind them


def client_key(request: HttpRequest) -> str:
    """32 hex digits that stand for the client's address; the address cannot be read from them."""
    digest = salted_hmac("stackviz.web.rate_limit", client_address(request), algorithm="sha256").hexdigest()
    return str(digest)[:_KEY_CHARS]


def client_address(request: HttpRequest) -> str:
    """The address the outermost of our own PROXIES saw; of an IPv6 address its /64 network."""
    direct = request.META.get("REMOTE_ADDR", "")
    forwarded = [part.strip() for part in request.headers.get("X-Forwarded-For", "").split(",") if part.strip()]
    reported = forwarded[-settings.PROXIES :][0] if settings.PROXIES and forwarded else direct
    try:
        address = ipaddress.ip_address(_without_port(reported))
    except ValueError:
        return str(direct)
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is None:
        return str(ipaddress.ip_network((address, _IPV6_NETWORK_BITS), strict=False))
    return str(getattr(address, "ipv4_mapped", None) or address)


def _without_port(text: str) -> str:
    """Some proxies write `203.0.113.9:1234` and `[2001:db8::1]:1234`."""
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.partition(":")[0] if text.count(":") == 1 else text
