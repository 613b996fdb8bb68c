"""A disk that is filled and freed again and again while reports come in: what was accepted is read once, none fails.

    python -m tests.ingest.full_disk --reports 6000 --fills 6                takes root, for a file system of its own

Three runs, each with gunicorn, a worker with beat, and Redis: PostgreSQL with its tables on the small disk, PostgreSQL
with its log there too (it stops and is started again), SQLite. Prints what happened, ends with 1 if a report is lost,
failed or counted twice.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import django
import psycopg

from tests import servers
from tests.live import Site

SENDERS = 6
DRAIN_S = 900.0
DISK_BYTES = 400 << 20


def fill_again_and_again(
    disk: servers.SmallDisk, fills: int, rng: random.Random, over: threading.Event
) -> Counter[str]:
    """Fills the disk to a random rest, for some seconds, so many times -> how often, and for how long."""
    done: Counter[str] = Counter()
    for _ in range(fills):
        if over.wait(rng.uniform(1.0, 4.0)):
            break
        disk.fill(leave_bytes=rng.choice([0, 0, 50_000, 1_000_000]))
        started = time.monotonic()
        over.wait(rng.uniform(3.0, 10.0))
        disk.free()
        done["fills"] += 1
        done["seconds full"] += round(time.monotonic() - started)
    return done


def under_load(
    site: Site, disk: servers.SmallDisk, reports: int, fills: int, mend: Callable[[], None]
) -> dict[str, Any]:
    """Sends while the disk is filled; then everything must be read -> the figures of this run."""
    from tests.ingest.senders import Sender, box_of, counts

    key = site.new_key()
    site.start_web()
    site.start_worker(beat=True)
    box = box_of(reports, machines=20)
    senders = [Sender(site, key, box, pause_s=0.05) for _ in range(SENDERS)]
    for sender in senders:
        sender.start()
    filled = fill_again_and_again(disk, fills, random.Random(1), threading.Event())
    mend()
    for sender in senders:
        sender.join()
    freed = time.monotonic()
    while time.monotonic() - freed < DRAIN_S and set(counts(site)["status"]) - {"read", "failed"}:
        time.sleep(1.0)
    ((with_faults,),) = site.rows("SELECT COUNT(*) FROM labs_report WHERE faults > 0")
    answers = Counter(answer for sender in senders for answer in sender.answers)
    return {
        **filled, "answers": dict(answers), "drained in s": round(time.monotonic() - freed, 1),
        "put off at least once": with_faults, **counts(site),
    }  # fmt: skip


def is_right(found: dict[str, Any], reports: int) -> bool:
    accepted = found["answers"].get(202, 0) + found["answers"].get(200, 0)
    return (
        found["status"] == {"read": reports}
        and accepted == reports == found["snapshots"]
        and found["results"] == 2 * reports
    )


# --- the three databases ---


@contextmanager
def on_sqlite(folder: Path, redis_url: str) -> Iterator[tuple[Site, servers.SmallDisk, Callable[[], None]]]:
    with servers.small_disk(DISK_BYTES, owner=0) as disk:
        site = new_site(disk.folder, "", redis_url)
        try:
            yield site, disk, lambda: None
        finally:
            site.stop()


@contextmanager
def on_tablespace(folder: Path, redis_url: str) -> Iterator[tuple[Site, servers.SmallDisk, Callable[[], None]]]:
    with servers.postgres(durable=True) as url, servers.small_disk(DISK_BYTES, servers.owner_of(url)) as disk:
        with psycopg.connect(url, autocommit=True) as server:
            server.execute(f"CREATE TABLESPACE small LOCATION '{disk.folder}'".encode())
            server.execute("CREATE DATABASE small TABLESPACE small")
        site = new_site(folder, servers.with_database(url, "small"), redis_url)
        try:
            yield site, disk, lambda: None
        finally:
            site.stop()
            with psycopg.connect(url, autocommit=True) as server:
                server.execute("DROP DATABASE small WITH (FORCE)")
                server.execute("DROP TABLESPACE small")


@contextmanager
def on_small_server(folder: Path, redis_url: str) -> Iterator[tuple[Site, servers.SmallDisk, Callable[[], None]]]:
    """The log is there too: PostgreSQL stops when it cannot write it, and has to be started again."""
    with servers.postgres() as url:
        owner = servers.owner_of(url)
    with servers.small_disk(DISK_BYTES, owner) as disk:
        data = disk.folder / "data"
        run = as_postgres(owner, data)
        run("initdb", "-U", "postgres", "--no-sync")
        start = lambda: run("pg_ctl", "start", "-w", "-l", str(data / "log"), "-o", f"-k {data} -c listen_addresses=''")  # noqa: E731
        start()
        url = f"postgresql://postgres@/postgres?host={data}"
        site = new_site(folder, servers.new_database(url), redis_url)

        def mend() -> None:
            if "no server running" in run("pg_ctl", "status").stdout:
                start()

        try:
            yield site, disk, mend
        finally:
            site.stop()
            run("pg_ctl", "stop", "-m", "immediate")


def as_postgres(owner: int, data: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    import pgserver

    programs = Path(pgserver.__file__).parent / "pginstall" / "bin"

    def run(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [str(programs / program), "-D", str(data), *arguments]
        return subprocess.run(command, user=owner, capture_output=True, text=True, check=False)

    return run


def new_site(folder: Path, database_url: str, redis_url: str) -> Site:
    site = Site(
        folder, database_url=database_url, redis_url=redis_url, REQUEUE_EVERY_S="1", UPLOADS_PER_MINUTE="1000000",
        LOG_LEVEL="WARNING",
    )  # fmt: skip
    site.manage("migrate", "-v", "0")
    return site


RUNS = {"postgresql": on_tablespace, "postgresql-log": on_small_server, "sqlite": on_sqlite}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reports", type=int, default=6000)
    parser.add_argument("--fills", type=int, default=6)
    parser.add_argument("--only", choices=RUNS)
    chosen = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    django.setup()
    wrong = 0
    for name, where in RUNS.items():
        if chosen.only not in (None, name):
            continue
        with (
            tempfile.TemporaryDirectory() as folder,
            servers.own_redis() as redis,
            where(Path(folder), redis.url) as (site, disk, mend),
        ):
            found = under_load(site, disk, chosen.reports, chosen.fills, mend)
        wrong += not is_right(found, chosen.reports)
        print(name, "right" if is_right(found, chosen.reports) else "WRONG", json.dumps(found), flush=True)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
