"""Who may show embeds in a frame: `EMBED_HOSTS`, as sources of the directive `frame-ancestors`."""

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


def embedding_hosts() -> Sequence[str]:
    """The hosts of the setting; what is no host is left out, and reported by the check below."""
    return [host.lower() for host in settings.EMBED_HOSTS if _HOST.fullmatch(host.lower())]


def embedding_is_allowed() -> bool:
    return bool(embedding_hosts())


def allow_frames(response: HttpResponse) -> HttpResponse:
    """No script at all, and frames of the allowed hosts only; of this site alone where none is allowed. In English."""
    hosts = embedding_hosts()
    response._csp_config = {  # type: ignore[attr-defined]  # noqa: SLF001 - what django-csp's decorators set
        "default-src": [NONE],
        "style-src": [SELF, UNSAFE_INLINE],
        "img-src": [SELF],
        "base-uri": [NONE],
        "form-action": [NONE],
        "frame-ancestors": [SELF, *hosts],
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
    """Every entry names hosts; `*` alone would let any site put a frame around this one."""
    return [
        Error(
            f"EMBED_HOSTS names no host: {host!r}.",
            hint="Use names such as example.org, *.example.org or https://example.org:8443, separated by commas.",
            id="accelweb.E011",
        )
        for host in settings.EMBED_HOSTS
        if not _HOST.fullmatch(host.lower())
    ]
