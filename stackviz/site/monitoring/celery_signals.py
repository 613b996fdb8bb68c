"""What workers and beat tell: that they are there, how long tasks take, for which requests a task runs."""

from contextlib import ExitStack
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

from stackviz.site.monitoring.heartbeats import record_heartbeat
from stackviz.web.metrics import observe_task
from stackviz.web.request_ids import current_request_id, request_id_set

CARRIED = "accelweb_request"  # the header of a message
_running: dict[str, tuple[float, ExitStack]] = {}  # task id -> when it began, what ends with it


@worker_ready.connect
@heartbeat_sent.connect
def worker_is_there(**_rest: Any) -> None:  # noqa: ANN401 (of a signal)
    record_heartbeat("worker")


@beat_init.connect
@beat_embedded_init.connect
def beat_is_there(**_rest: Any) -> None:  # noqa: ANN401
    """From now on each message that this process sends is a heartbeat of beat."""
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
