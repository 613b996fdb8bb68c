"""Who may show embeds in a frame: `EMBED_HOSTS`, as sources of the directive `frame-ancestors`.

Anybody by default: an embed is made for strangers, without session, form or script, so a frame around it gains nothing.
"""

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from csp.constants import NONE, SELF, UNSAFE_INLINE
from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register
from django.http import HttpRequest, HttpResponse

_HOST = re.compile(
    r"(?:(?P<scheme>https?)://)?(?P<host>(?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)+|localhost)(?P<port>:\d{1,5})?"
)


ANYBODY, THIS_SITE = "*", "self"


def embedding_hosts() -> Sequence[str]:
    """The hosts of the setting, ANYBODY for all; what is no host is left out, and reported by the check below."""
    hosts = [host.lower() for host in settings.EMBED_HOSTS]
    return [ANYBODY] if ANYBODY in hosts else [host for host in hosts if _is_host(host)]


def _is_host(name: str) -> bool:
    return name != THIS_SITE and bool(_HOST.fullmatch(name))


def embedding_is_allowed() -> bool:
    return bool(embedding_hosts())


def allow_frames(response: HttpResponse) -> HttpResponse:
    """No script, no form, and frames of the allowed hosts only; of this site alone where none is allowed. English."""
    hosts = embedding_hosts()
    response._csp_config = {  # type: ignore[attr-defined]  # noqa: SLF001 - what django-csp's decorators set
        "default-src": [NONE],
        "style-src": [SELF, UNSAFE_INLINE],
        "img-src": [SELF],
        "base-uri": [NONE],
        "form-action": [NONE],
        "frame-ancestors": hosts if ANYBODY in hosts else [SELF, *hosts],
    }
    if hosts:  # knows no list of hosts; browsers that know frame-ancestors ignore it
        response.xframe_options_exempt = True
    else:
        response.headers["X-Frame-Options"] = "SAMEORIGIN"
    response.headers["X-Robots-Tag"] = "noindex"
    response.headers["Content-Language"] = "en"
    return response


def is_refused_host(request: HttpRequest) -> bool:
    """Whether the request says that another site, which is not allowed, shows the page in a frame."""
    if ANYBODY in embedding_hosts():
        return False
    if request.headers.get("Sec-Fetch-Dest") not in ("iframe", "frame", "embed", "object"):
        return False
    try:
        site = urlsplit(request.headers.get("Referer", ""))
    except ValueError:  # no address at all: from nowhere that could be allowed
        return True
    if not site.hostname or site.netloc == request.get_host():
        return False
    return not any(_covers(host, site.scheme, site.netloc.lower()) for host in embedding_hosts())


def _covers(allowed: str, scheme: str, netloc: str) -> bool:
    parts = _HOST.fullmatch(allowed)
    if parts is None or (parts["scheme"] and parts["scheme"] != scheme):
        return False
    host, port = netloc.partition(":")[::2]
    if (parts["port"] or "").removeprefix(":") not in ("", port):
        return False
    pattern = parts["host"]
    return host.endswith(pattern[1:]) if pattern.startswith("*.") else host == pattern


@register(Tags.security)
def check_embed_hosts(**_kwargs: Any) -> list[CheckMessage]:  # noqa: ANN401
    """Every entry names hosts, or is one of the two words."""
    return [
        Error(
            f"EMBED_HOSTS names no host: {host!r}.",
            hint="Use names such as example.org, *.example.org or https://example.org:8443, separated by commas; "
            "* for any site, self for this one alone.",
            id="accelweb.E011",
        )
        for host in settings.EMBED_HOSTS
        if host.lower() not in (ANYBODY, THIS_SITE) and not _is_host(host.lower())
    ]
