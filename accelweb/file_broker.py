"""Celery's messages as files, without Redis: kombu's transport, whose readers meet no file that is half written.

kombu 5.7 creates a message's file before it writes to it. A worker that looks in between takes an empty message and
ends; the busier the machine, the more often.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

from kombu.exceptions import ChannelError
from kombu.transport import filesystem
from kombu.utils.encoding import str_to_bytes
from kombu.utils.json import dumps

T = TypeVar("T")

WRITING_TAKES_S = 1.0  # at most, for the table of an exchange: some hundred bytes


class Channel(filesystem.Channel):
    # kombu itself is of two minds about the second name.
    def _put(self, queue: str, payload: dict[str, Any], **_options: Any) -> None:  # type: ignore[override]  # noqa: ANN401
        """Give the message the name that readers look for once all of it is there."""
        whole = Path(self.data_folder_out, f"{round(time.monotonic() * 1000)}_{uuid4()}.{queue}.msg")
        part = whole.with_name(f"{whole.name}.part")
        try:
            part.write_bytes(str_to_bytes(dumps(payload)))
            part.replace(whole)
        except OSError as error:
            raise ChannelError(f"Cannot add file {str(whole)!r} to directory") from error

    def get_table(self, exchange: str) -> Any:  # noqa: ANN401
        return _when_written(lambda: super(Channel, self).get_table(exchange))

    def _queue_bind(self, exchange: str, routing_key: str, pattern: str | None, queue: str) -> None:
        _when_written(lambda: super(Channel, self)._queue_bind(exchange, routing_key, pattern, queue))


def _when_written(read: Callable[[], T]) -> T:
    """What `read` returns, tried again while another process has only begun to write what it reads."""
    until = time.monotonic() + WRITING_TAKES_S
    while True:
        try:
            return read()
        except ValueError:  # no JSON yet
            if time.monotonic() > until:
                raise
            time.sleep(0.01)


class Transport(filesystem.Transport):
    Channel = Channel
