"""A connection that gives up on a server that does not answer: stopped, out of disk, behind a dead network.

`statement_timeout` lets the server end a slow statement; one that hangs cannot do that, so the client counts too.
"""

from typing import Any, TypeVar

import psycopg
from psycopg.abc import PQGen
from psycopg.errors import _WaitTimeout

Value = TypeVar("Value")

LATER_S = 2.0  # than the server: its own answer says more

_statement_timeout_s: int | None = None


def limit_statements(seconds: int | None) -> None:
    """Let no statement of this process take longer; None: no limit. For connections made from now on."""
    global _statement_timeout_s  # noqa: PLW0603 (of the process: web has one, commands and workers have none)
    _statement_timeout_s = seconds


class BoundedConnection(psycopg.Connection[Any]):
    """`patience_s`: seconds until an answer counts as missing, and the connection as lost; None: it waits."""

    patience_s: float | None = None

    @classmethod
    def connect(cls, *arguments: Any, **parameters: Any) -> "BoundedConnection":  # noqa: ANN401 (psycopg's signature)
        if _statement_timeout_s is None:
            return super().connect(*arguments, **parameters)
        limit = f"-c statement_timeout={_statement_timeout_s}s"
        parameters["options"] = f"{parameters.get('options', '')} {limit}".strip()
        connection = super().connect(*arguments, **parameters)
        connection.patience_s = _statement_timeout_s + LATER_S
        return connection

    def wait(self, gen: PQGen[Value], interval: float = 0.1, timeout: float | None = None) -> Value:
        """As psycopg's. Raises OperationalError after `patience_s`; closed, as an answer may come late."""
        try:
            return super().wait(gen, interval, self.patience_s if timeout is None else timeout)
        except _WaitTimeout:
            if timeout is not None:
                raise
            self.close()
            raise psycopg.OperationalError(f"the database did not answer within {self.patience_s:.0f} s") from None
