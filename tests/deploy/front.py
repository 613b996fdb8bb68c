"""The front of docker-compose.yml without a container engine: the real nginx with the committed configuration."""

import os
import re
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path

from tests.live import ROOT, free_port
from tests.servers import NotHere

CONFIGURATION = ROOT / "deploy" / "nginx"
CLIENT_TIMEOUT = re.compile(r"(\b(?:client_header|client_body|send|keepalive)_timeout) \d+s")
UP_WITHIN_S = 30.0


def nginx_binary() -> str:
    """An nginx: on PATH, or where Debian puts it. Raises NotHere."""
    if found := shutil.which("nginx", path=f"{os.environ['PATH']}{os.pathsep}/usr/sbin"):
        return found
    raise NotHere("no nginx on PATH (Debian: nginx-light)")


class Front:
    """nginx in `folder`, in front of `upstream` (`127.0.0.1:8000`), or of several as an upstream group.

    `client_timeout_s`: how long a client may be silent, instead of the committed 10 and 30 s.
    """

    def __init__(
        self, folder: Path, *upstreams: str, main: str = "nginx.conf", client_timeout_s: int | None = None
    ) -> None:
        self.folder = folder
        self.client_timeout_s = client_timeout_s
        self.port = free_port()
        self.tls_port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.main = folder / main
        self._write(upstreams)
        self.child: subprocess.Popen[bytes] | None = None

    def _write(self, upstreams: tuple[str, ...]) -> None:
        """The committed files, with the container's addresses and folders replaced by this test's."""
        (self.folder / "cache").mkdir(parents=True)
        shutil.copytree(CONFIGURATION, self.folder / "site")
        places = {
            "web:8000": "several" if upstreams[1:] else upstreams[0],
            "listen 8080": f"listen 127.0.0.1:{self.port}",
            "listen 8443": f"listen 127.0.0.1:{self.tls_port}",
            "/var/cache/nginx": str(self.folder / "cache"),
            "/etc/nginx/site": str(self.folder / "site"),
            "/etc/nginx/tls": str(self.folder),
        }
        for name in ("http.conf", "site.conf", self.main.name):
            text = (CONFIGURATION / name).read_text()
            for inside, outside in places.items():
                text = text.replace(inside, outside)
            if self.client_timeout_s is not None:
                text = CLIENT_TIMEOUT.sub(rf"\1 {self.client_timeout_s}s", text)
            (self.folder / "site" / name).write_text(text)
        shutil.move(self.folder / "site" / self.main.name, self.main)
        if upstreams[1:]:
            servers = "".join(f"server {address}; " for address in upstreams)
            with (self.folder / "site" / "http.conf").open("a") as file:
                file.write(f"\nupstream several {{ {servers}}}\n")

    @property
    def command(self) -> list[str]:
        # The image runs it as uid 101, without a line that names a user; root on a test machine needs one.
        settings = "daemon off; user root;" if os.geteuid() == 0 else "daemon off;"
        return [nginx_binary(), "-e", "stderr", "-c", str(self.main), "-g", settings]

    def start(self) -> None:
        with (self.folder / "access.log").open("wb") as out, (self.folder / "error.log").open("wb") as errors:
            self.child = subprocess.Popen(self.command, stdout=out, stderr=errors, stdin=subprocess.DEVNULL)
        deadline = time.monotonic() + UP_WITHIN_S
        while time.monotonic() < deadline:
            with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
                return
            assert self.child.poll() is None, self.errors()
            time.sleep(0.05)
        raise AssertionError(f"nginx does not listen\n{self.errors()}")

    def stop(self) -> None:
        if self.child:
            self.child.terminate()
            self.child.wait(10)

    def wait_for_line(self, text: str) -> None:
        """Until the log of requests has the text; ten seconds at most."""
        deadline = time.monotonic() + 10
        while text not in self.log():
            assert time.monotonic() < deadline, self.log()
            time.sleep(0.05)

    def log(self) -> str:
        return (self.folder / "access.log").read_text()

    def errors(self) -> str:
        return (self.folder / "error.log").read_text()


def visit(url: str, **headers: str) -> tuple[int, float]:
    """Status and seconds of a page, whole."""
    started = time.monotonic()
    request = urllib.request.Request(url, headers={name.replace("_", "-"): text for name, text in headers.items()})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            answer.read()
            return answer.status, time.monotonic() - started
    except urllib.error.HTTPError as error:
        return error.code, time.monotonic() - started
