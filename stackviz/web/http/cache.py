"""The Redis cache. While Redis is unreachable, reads miss, writes are dropped, and pages are still served."""

import logging
from functools import cache
from typing import Any

from django.core.cache.backends.base import DEFAULT_TIMEOUT
from django.core.cache.backends.redis import RedisCache, RedisCacheClient
from redis import Redis
from redis.exceptions import RedisError

from stackviz.web.http.circuit_breaker import Breaker

log = logging.getLogger(__name__)


class SharedClient(RedisCacheClient):
    """Makes one client for each pool of connections. Django makes one for each call, which costs more than the call."""

    def __init__(self, *arguments: Any, **options: Any) -> None:  # noqa: ANN401 (passed on)
        super().__init__(*arguments, **options)
        self._clients: dict[bool, Redis] = {}

    def get_client(self, key: Any = None, *, write: bool = False) -> Redis:  # noqa: ANN401 (Django's signature)
        if write not in self._clients:
            self._clients[write] = super().get_client(key, write=write)
        return self._clients[write]


@cache
def _breaker_of(_server: str) -> Breaker:
    """One for all threads of a process, each with its own cache: one of them waits, the others know."""
    return Breaker(rest_s=5)


class ForgivingRedisCache(RedisCache):
    """`get` and `set` never fail. Counters (`incr`, `add`) do: the caller must know that nothing was counted."""

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self._class = SharedClient
        self._breaker = _breaker_of(server)

    def get(self, key: Any, default: Any = None, version: int | None = None) -> Any:  # noqa: ANN401 (Django's signature)
        if self._breaker.is_open:
            return default
        try:
            return super().get(key, default, version)
        except (RedisError, OSError) as error:
            self._rest(error)
            return default

    def set(
        self,
        key: Any,  # noqa: ANN401
        value: Any,  # noqa: ANN401
        timeout: float | None = DEFAULT_TIMEOUT,
        version: int | None = None,
    ) -> None:
        if self._breaker.is_open:
            return
        try:
            super().set(key, value, timeout, version)
        except (RedisError, OSError) as error:
            self._rest(error)

    def _rest(self, error: Exception) -> None:
        self._breaker.trip()
        log.warning("cache unreachable (%s); pages are rendered without it for %s s", error, self._breaker.rest_s)
