"""The agent as a file to download, and the commands that check and run it."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import etag, require_safe

from stackviz.agent.bundle import WHEEL_NAME, build_wheel, build_zipapp


@lru_cache(maxsize=2)
def _built(build: Callable[[], bytes]) -> tuple[bytes, str]:
    """The agent in one of its forms, and its SHA-256. Built once a process: it changes only with the code."""
    body = build()
    return body, hashlib.sha256(body).hexdigest()


def agent_digest() -> str:
    return _built(build_zipapp)[1]


def wheel_digest() -> str:
    return _built(build_wheel)[1]


@dataclass(frozen=True, slots=True)
class Commands:
    """What is typed on a machine to fetch the agent and run it. `install`: as a package, if its SHA-256 is right."""

    unix: str
    powershell: str
    install: str


def agent_commands(server: str, key: str) -> Commands:
    """The commands that report to `server`, an origin without a slash at its end, with this key."""
    agent, digest = server + reverse("machines:agent"), agent_digest()
    run = f"accelweb-agent.pyz run --quick --server {server}"
    # By Python, which is there in any case: macOS and Linux have different programs for it.
    check = (
        f"import hashlib; assert hashlib.sha256(open('accelweb-agent.pyz','rb').read()).hexdigest()=='{digest}', "
        "'not the file that the page named: load the page again'"
    )
    return Commands(
        unix=f'curl -fsSLO {agent} && python3 -c "{check}" && ACCELWEB_KEY={key} python3 {run}',
        powershell=(
            f"Invoke-WebRequest {agent} -OutFile accelweb-agent.pyz; "
            f'if ((Get-FileHash accelweb-agent.pyz).Hash -eq "{digest}") {{ $env:ACCELWEB_KEY="{key}"; py {run} }} '
            'else { "not the file that the page named: load the page again" }'
        ),
        install=f'pip install "{server}{reverse("machines:wheel")}#sha256={wheel_digest()}"',
    )


def _download(build: Callable[[], bytes], name: str) -> HttpResponse:
    response = HttpResponse(_built(build)[0], content_type="application/zip")
    response["Cache-Control"] = "no-cache"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


@require_safe
@etag(lambda _request: f'"{agent_digest()[:32]}"')
def agent_file(request: HttpRequest) -> HttpResponse:  # noqa: ARG001 (a view)
    """The agent as a single file: any Python 3.10 or newer runs it, nothing is installed."""
    return _download(build_zipapp, "accelweb-agent.pyz")


@require_safe
@etag(lambda _request: f'"{wheel_digest()[:32]}"')
def wheel_file(request: HttpRequest) -> HttpResponse:  # noqa: ARG001 (a view)
    """The same agent as a wheel, for pip, uv and pipx."""
    return _download(build_wheel, WHEEL_NAME)
