"""A disk that is filled and freed again and again while reports come in: what was accepted is read once, none fails.

    python -m tests.intake.ingest.full_disk --reports 6000 --fills 6                takes root, for a file system of its own

Five runs, each with gunicorn, a worker with beat, and Redis: PostgreSQL with its tables on the small disk, PostgreSQL
with its log there too (it stops and is started again), SQLite; and with room in the database VAR_DIR or TMPDIR. Prints what happened, ends with 1 if a report is lost,
failed or counted twice.
"""

import argparse
import json
import os
import random
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
    from tests.intake.ingest.senders import Sender, box_of, counts

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


# --- the disks ---


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
    with servers.small_disk(DISK_BYTES, owner) as disk, servers.own_postgres(disk.folder) as server:
        site = new_site(folder, servers.new_database(server.url), redis_url)

        def mend() -> None:
            if not server.is_running:
                server.start()

        try:
            yield site, disk, mend
        finally:
            site.stop()


@contextmanager
def on_own_folder(folder: Path, redis_url: str) -> Iterator[tuple[Site, servers.SmallDisk, Callable[[], None]]]:
    """The site's VAR_DIR: logs of its programs, heartbeats, counts, the schedule of beat. The database has room."""
    with servers.postgres() as url, servers.small_disk(DISK_BYTES, owner=0) as disk:
        site = new_site(disk.folder, servers.new_database(url), redis_url, METRICS="1")
        try:
            yield site, disk, lambda: None
        finally:
            site.stop()


@contextmanager
def on_temp(folder: Path, redis_url: str) -> Iterator[tuple[Site, servers.SmallDisk, Callable[[], None]]]:
    """The folder for temporary files of web, worker and beat."""
    with servers.postgres() as url, servers.small_disk(DISK_BYTES, owner=0) as disk:
        site = new_site(folder, servers.new_database(url), redis_url, TMPDIR=str(disk.folder))
        try:
            yield site, disk, lambda: None
        finally:
            site.stop()


def new_site(folder: Path, database_url: str, redis_url: str, **variables: str) -> Site:
    site = Site(
        folder, database_url=database_url, redis_url=redis_url, REQUEUE_EVERY_S="1", UPLOADS_PER_MINUTE="1000000",
        LOG_LEVEL="WARNING", **variables,
    )  # fmt: skip
    site.manage("migrate", "-v", "0")
    return site


RUNS = {
    "postgresql": on_tablespace, "postgresql-log": on_small_server, "sqlite": on_sqlite, "var": on_own_folder, "temp": on_temp,
}  # fmt: skip


def run_on(name: str, reports: int, fills: int) -> dict[str, Any]:
    """One of RUNS, with a Redis and a folder of its own -> its figures."""
    with (
        tempfile.TemporaryDirectory() as folder,
        servers.own_redis() as redis,
        RUNS[name](Path(folder), redis.url) as (site, disk, mend),
    ):
        return under_load(site, disk, reports, fills, mend)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reports", type=int, default=6000)
    parser.add_argument("--fills", type=int, default=6)
    parser.add_argument("--only", choices=RUNS)
    chosen = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    django.setup()
    wrong = 0
    for name in [chosen.only] if chosen.only else RUNS:
        found = run_on(name, chosen.reports, chosen.fills)
        wrong += not is_right(found, chosen.reports)
        print(name, "right" if is_right(found, chosen.reports) else "WRONG", json.dumps(found), flush=True)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
