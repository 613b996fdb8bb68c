"""Where a run happens: one database, the site and the yardstick over it, each behind its own gunicorn."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests import servers
from tests.live import ROOT, Site

WEB_PROCESSES = 2
UNLIMITED = str(10**9)


@dataclass
class Place:
    """The site, and the bare Django beside it, over the same database."""

    name: str
    site: Site
    bare: Site
    redis: servers.RedisServer

    def ask(self, command: str, *arguments: str, **variables: str) -> dict[str, Any]:
        """Runs a command of `bench.inside` under the site's environment; its JSON."""
        return finish(begin(self.site, command, *arguments, **variables))

    def restart(self, *, warm: bool) -> None:
        """The site as after a deployment: new processes, an empty cache. `warm`: with their pages prepared."""
        self.site.kill("site")
        self.redis.kill()
        self.redis.start()
        self.site.env |= (
            {"WARM_PAGES": "1", "LOG_LEVEL": "INFO"} if warm else {"WARM_PAGES": "0", "LOG_LEVEL": "WARNING"}
        )
        before = self.prepared()
        serve_site(self)
        if warm:
            done = before + WEB_PROCESSES
            self.site.wait_until(lambda: self.prepared() >= done, "every process has prepared its pages", 300)

    def prepared(self) -> int:
        """How often a process has said that its pages are prepared."""
        return self.site.log("site").count("pages are prepared") if (self.site.folder / "site.log").exists() else 0


def begin(site: Site, command: str, *arguments: str, **variables: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "bench.inside", command, *arguments],
        cwd=ROOT, env=site.env | variables, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def finish(process: "subprocess.Popen[str]") -> dict[str, Any]:
    out, err = process.communicate()
    if process.returncode:
        raise RuntimeError(f"{process.args} ended with {process.returncode}\n{out}{err}")
    return dict(json.loads(out.splitlines()[-1]))


@contextmanager
def place(name: str) -> Iterator[Place]:
    """`sqlite` or `postgresql`, with a private Redis as broker. Raises servers.NotHere."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="accelweb-bench-")))
        redis = stack.enter_context(servers.own_redis())
        url = f"sqlite:///{folder / 'accelweb.sqlite3'}"
        if name == "postgresql":
            url = servers.new_database(stack.enter_context(servers.postgres(durable=True)))
        unlimited = ("UPLOADS_PER_MINUTE", "DIAGNOSES_PER_MINUTE", "PLANS_PER_MINUTE", "READS_PER_MINUTE")
        limits = dict.fromkeys(unlimited, UNLIMITED)
        shared = {"database_url": url, "redis_url": redis.url, "LOG_LEVEL": "WARNING", **limits}
        found = Place(
            name,
            Site(folder, settings="accelweb.settings", **shared),
            Site(folder, settings="bench.bare.settings", **shared),
            redis,
        )
        stack.callback(found.site.stop)
        stack.callback(found.bare.stop)
        fill(found)
        serve(found)
        yield found


def fill(place: Place) -> None:
    for command in ("migrate", "load_catalogue", "load_stacks", "load_hosts", "load_cited"):
        place.site.manage(command)
    place.site.manage("collectstatic", "--noinput", "-v", "0")
    finish(begin(place.bare, "tables"))


def serve(place: Place) -> None:
    """Both behind gunicorn with the same processes and threads, as `make run` and the compose file have them."""
    serve_site(place)
    start_gunicorn(place.bare, "bare", "django.core.wsgi:get_wsgi_application()")
    place.bare.wait_until(lambda: answers(place.bare), "the bare site answers")


def serve_site(place: Place) -> None:
    start_gunicorn(place.site, "site", "accelweb.wsgi")
    place.site.wait_until(place.site.answers, "the site answers")


def start_gunicorn(site: Site, name: str, application: str) -> None:
    site.start(
        name, "gunicorn", application, "--bind", f"127.0.0.1:{site.port}", "--workers", str(WEB_PROCESSES),
        "--worker-class", "gthread", "--threads", "4", "--keep-alive", "30", "--no-control-socket", "--preload",
    )  # fmt: skip


def answers(site: Site) -> bool:
    try:
        return site.get("/page/100/")[0] == 200
    except OSError:
        return False
