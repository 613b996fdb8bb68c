"""The whole site, each part a process of its own that can be killed, stopped and started: as composed, without a front."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests import servers
from tests.live import Site

# What nobody may hold a trial up with: reports that were lost on the way are queued again after four seconds.
QUICK = {"REQUEUE_EVERY_S": "1", "UPLOADS_PER_MINUTE": "1000000", "LOG_LEVEL": "WARNING"}


@dataclass(frozen=True)
class Deployment:
    """Its web, worker and beat are children of `site`."""

    site: Site
    postgres: servers.PostgresServer
    redis: servers.RedisServer
    key: str

    def start_all(self) -> None:
        self.site.start_web()
        self.site.start_worker()
        self.site.start_beat()

    def processes(self) -> dict[str, list[psutil.Process]]:
        """By role: `web` and `web child`, and so on; those that live now."""
        mains = {name: child.pid for name, child in self.site.children.items()}
        if self.redis.child:
            mains["redis"] = self.redis.child.pid
        found = {"postgres": self.postgres.processes()}
        for name, pid in mains.items():
            with suppress(psutil.NoSuchProcess):
                main = psutil.Process(pid)
                found[name] = [main]
                found[f"{name} child"] = main.children()
        return {role: processes for role, processes in found.items() if processes}


@contextmanager
def deployed(**variables: str) -> Iterator[Deployment]:
    """A site with tables on servers of its own; nothing of it is started but these. Raises NotHere."""
    folder = Path(tempfile.mkdtemp(prefix="accelweb-trial-"))
    with servers.own_postgres() as postgres, servers.own_redis() as redis:
        site = Site(folder, database_url=servers.new_database(postgres.url), redis_url=redis.url, **QUICK | variables)
        try:
            site.manage("migrate", "-v", "0")
            yield Deployment(site, postgres, redis, site.new_key())
        finally:
            site.stop()
            shutil.rmtree(folder, ignore_errors=True)
