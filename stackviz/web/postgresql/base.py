"""What Django loads for `ENGINE = "stackviz.web.postgresql"`."""

from typing import Any

from django.db.backends.postgresql import base
from psycopg import IsolationLevel

from stackviz.web.postgresql.connection import BoundedConnection


class DatabaseWrapper(base.DatabaseWrapper):
    """Makes BoundedConnections."""

    def get_new_connection(self, conn_params: dict[str, Any]) -> BoundedConnection:
        """As Django's, without its connection pool and `isolation_level`, which our settings do not use."""
        self.isolation_level = IsolationLevel.READ_COMMITTED
        return BoundedConnection.connect(**conn_params)
