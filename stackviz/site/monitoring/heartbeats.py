"""Signals of Celery: when workers and beat were last seen, how long tasks take, for which request a task runs.

Heartbeats are in Redis where there is one, else in files under `VAR_DIR`, as rate limits are. No table: the database
may be what is away, and nothing is lost with these. Each process writes its own entry.
"""

import json
import logging
import os
import socket
import time
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any

from celery.signals import (
    beat_embedded_init,
    beat_init,
    before_task_publish,
    heartbeat_sent,
    task_postrun,
    task_prerun,
    worker_ready,
)
from django.conf import settings
from redis import Redis
from redis.exceptions import RedisError

from stackviz.web.http.circuit_breaker import Breaker
from stackviz.web.http.request_ids import current_request_id, request_id_set
from stackviz.web.metrics import observe_task

log = logging.getLogger(__name__)

CARRIED = "accelweb_request"  # the header of a message
WRITE_EVERY_S = 10
FORGET_AFTER_S = 24 * 3600
AHEAD_AT_MOST_S = 60  # the clock of another machine
KEY = "accelweb:heartbeats"
LONGEST_WAIT_S = 1  # for Redis
_breaker = Breaker(rest_s=10)
_started = time.time()
_running: dict[str, tuple[float, ExitStack]] = {}  # task id -> when it began, what ends with it
_written: dict[str, float] = {}  # kind -> when this process wrote last, by the clock that nobody sets


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """A process that was there `at`; `since`: when it started. Both in seconds since 1970. `kind`: worker or beat."""

    kind: str
    host: str
    pid: int
    version: str
    since: float
    at: float

    @property
    def name(self) -> str:
        return f"{self.kind}-{self.host}-{self.pid}"

    @property
    def silent_s(self) -> float:
        """Seconds since the last heartbeat."""
        return max(0.0, time.time() - self.at)


def record_heartbeat(kind: str) -> None:
    """Note that this process lives. Cheap to call often; never raises."""
    now = time.monotonic()
    if now - _written.get(kind, -WRITE_EVERY_S) < WRITE_EVERY_S or _breaker.is_open:
        return
    _written[kind] = now
    heartbeat = Heartbeat(kind, socket.gethostname(), os.getpid(), settings.VERSION, _started, time.time())
    try:
        _store(heartbeat.name, json.dumps(asdict(heartbeat)))
    except (RedisError, OSError) as error:
        _breaker.trip()
        log.warning("heartbeat of %s not stored: %s", kind, error)


def heartbeats() -> list[Heartbeat]:
    """Return those of the last day, the newest first. Raises RedisError or OSError without an answer.

    Older ones are deleted, and those from before the clock was set back: a process that lives writes another.
    """
    entries = [Heartbeat(**json.loads(text)) for text in _stored()]
    now = time.time()
    living = [heartbeat for heartbeat in entries if now - FORGET_AFTER_S < heartbeat.at < now + AHEAD_AT_MOST_S]
    _delete([heartbeat.name for heartbeat in entries if heartbeat not in living])
    return sorted(living, key=lambda heartbeat: -heartbeat.at)


@cache
def redis_client(url: str) -> Redis:
    """A client that does not wait long."""
    return Redis.from_url(url, socket_connect_timeout=LONGEST_WAIT_S, socket_timeout=LONGEST_WAIT_S)


def _store(name: str, text: str) -> None:
    if settings.REDIS_URL:
        client = redis_client(settings.REDIS_URL)
        client.hset(KEY, name, text)
        client.expire(KEY, FORGET_AFTER_S)
        return
    folder = _folder()
    folder.mkdir(parents=True, exist_ok=True)
    part = folder / f"{name}.part"
    part.write_text(text)
    part.replace(folder / f"{name}.json")


def _stored() -> list[str]:
    if settings.REDIS_URL:
        return [value.decode() for value in redis_client(settings.REDIS_URL).hvals(KEY)]  # type: ignore[union-attr]
    return [file.read_text() for file in _folder().glob("*.json")]


def _delete(names: list[str]) -> None:
    """Delete the entries of processes that ended: each process has its own name."""
    if names and settings.REDIS_URL:
        redis_client(settings.REDIS_URL).hdel(KEY, *names)
        return
    for name in names:
        (_folder() / f"{name}.json").unlink(missing_ok=True)


def _folder() -> Path:
    return Path(settings.VAR_DIR) / "heartbeats"


@worker_ready.connect
@heartbeat_sent.connect
def worker_is_there(**_rest: Any) -> None:  # noqa: ANN401 (of a signal)
    record_heartbeat("worker")


@beat_init.connect
@beat_embedded_init.connect
def beat_is_there(**_rest: Any) -> None:  # noqa: ANN401
    """Count each message that this process sends as a heartbeat of beat."""
    record_heartbeat("beat")
    before_task_publish.connect(beat_sends, weak=False)


def beat_sends(**_rest: Any) -> None:  # noqa: ANN401
    record_heartbeat("beat")


@before_task_publish.connect
def carry_request_id(headers: dict[str, Any] | None = None, **_rest: Any) -> None:  # noqa: ANN401
    if headers is not None and (request_id := current_request_id()):
        headers[CARRIED] = request_id


@task_prerun.connect
def begin_task(task_id: str, task: Any, **_rest: Any) -> None:  # noqa: ANN401
    context = ExitStack()
    context.enter_context(request_id_set(str(getattr(task.request, CARRIED, None) or "")))
    _running[task_id] = perf_counter(), context


@task_postrun.connect
def end_task(task_id: str, task: Any, state: str | None = None, **_rest: Any) -> None:  # noqa: ANN401
    if task_id in _running:
        started, context = _running.pop(task_id)
        observe_task(str(task.name), state or "UNKNOWN", perf_counter() - started)
        context.close()
