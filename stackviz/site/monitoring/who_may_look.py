"""Who sees reasons and figures: who knows MONITORING_TOKEN, or asks from MONITORING_NETWORKS past no proxy."""

import ipaddress

from django.conf import settings
from django.http import HttpRequest
from django.utils.crypto import constant_time_compare

from stackviz.records.labs.key_guesses import KEY_GUESSES

# A proxy on this machine asks from a loopback address for the whole world.
_OF_PROXIES = ("X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP", "Forwarded", "Via")


def may_look(request: HttpRequest) -> bool:
    """Wrong tokens are counted like wrong keys. Raises RateLimited."""
    given = request.headers.get("Authorization", "").removeprefix("Bearer ")
    if settings.MONITORING_TOKEN and constant_time_compare(given, settings.MONITORING_TOKEN):
        return True
    if not any(name in request.headers for name in _OF_PROXIES) and _is_near(request.META.get("REMOTE_ADDR", "")):
        return True
    if given:
        KEY_GUESSES.count(request)
    return False


def _is_near(address: str) -> bool:
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:  # a socket file
        return False
    return any(ip in network for network in settings.MONITORING_NETWORKS)
