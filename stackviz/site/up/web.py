"""The processes of the site: gunicorn on a free port, one Celery worker with embedded beat, and their broker."""

import contextlib
import errno
import ipaddress
import os
import shutil
import socket
import sys
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path

from stackviz.site.up.children import Child, Children
from stackviz.site.up.var_folder import CannotStart

PORTS_TRIED = 50
WEB_PROCESSES = max(2, min(4, os.cpu_count() or 1))
WEB_THREADS = 4  # an idle keep-alive connection occupies no thread
UP_WITHIN_S = 60.0  # two cores under load need several seconds


def listen(host: str, port: int) -> socket.socket:
    """A listening socket on `port` or the next free one. Raises CannotStart if `host` is no address of this machine.

    The supervisor keeps it open, so that no other program takes the port while gunicorn restarts.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for candidate in range(port, min(port + PORTS_TRIED, 65536)):
        listener = socket.socket(family)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, candidate))
            listener.listen(256)
        except OSError as error:
            listener.close()
            if not _is_taken(error):
                raise CannotStart(
                    f"cannot listen on {host} port {candidate}: {error.strerror}. Choose another address with HOST="
                ) from None
        else:
            return listener
    raise CannotStart(f"ports {port} to {port + PORTS_TRIED - 1} are all in use on {host}. Choose another with PORT=")


def _is_taken(error: OSError) -> bool:
    return error.errno in {errno.EADDRINUSE, errno.EACCES}


def local_url(listener: socket.socket) -> str:
    """Address of the site for programs on this machine."""
    host, port = listener.getsockname()[:2]
    if is_everywhere(host):
        host = "::1" if ":" in host else "127.0.0.1"
    return f"http://{in_address(host)}:{port}"


def url_for_others(url: str) -> str:
    """Address of the site for other machines; with the host name if no route is known."""
    host = _address_towards_the_network() or socket.gethostname()
    return f"http://{host}:{url.rpartition(':')[2]}"


def in_address(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def is_loopback(host: str) -> bool:
    return host == "localhost" or _is_ip(host, "is_loopback")


def is_everywhere(host: str) -> bool:
    """Return True for 0.0.0.0 and ::, which mean all addresses of this machine."""
    return _is_ip(host, "is_unspecified")


def _is_ip(host: str, what: str) -> bool:
    try:
        return bool(getattr(ipaddress.ip_address(host), what))
    except ValueError:
        return False


def allowed_hosts(host: str) -> str:
    """ALLOWED_HOSTS for a site open to the network: the names and addresses of this machine, comma-separated."""
    name = socket.gethostname()
    names = ["localhost", "127.0.0.1", "[::1]", name, f"{name}.local", socket.getfqdn()]
    with contextlib.suppress(OSError):  # the host name may not resolve
        names += [str(entry[4][0]) for entry in socket.getaddrinfo(name, None, socket.AF_INET)]
    names.append(_address_towards_the_network() if is_everywhere(host) else in_address(host))
    return ",".join(sorted({entry for entry in names if entry}))


def _address_towards_the_network() -> str:
    """Our address on the network, "" without a route. Connecting a datagram socket picks a route and sends nothing."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return ""
        return str(probe.getsockname()[0])


def prepare_broker(var: Path, redis_url: str) -> str:
    """Check the Redis of `redis_url`, or make empty folders for files -> the broker as text. Raises CannotStart.

    Its messages may be lost at any time: the queue of reports is a table. A file that a crash truncated would break
    every later start.
    """
    if redis_url:
        if not _answers(redis_url):
            raise CannotStart("the Redis at REDIS_URL does not answer. Start it, or unset REDIS_URL to use files.")
        return "the Redis at REDIS_URL"
    shutil.rmtree(var / "broker", ignore_errors=True)
    for name in ("queue", "control"):
        (var / "broker" / name).mkdir(parents=True)
    return "files"


def _answers(redis_url: str) -> bool:
    import redis  # 10 MiB of memory, which a supervisor of file queues does without

    try:
        with redis.Redis.from_url(redis_url, socket_connect_timeout=2, socket_timeout=2) as client:
            return bool(client.ping())
    except (redis.RedisError, OSError, ValueError):
        return False


def start_web(children: Children, listener: socket.socket, env: Mapping[str, str], gate: int) -> Child:
    """Start the web. It serves once `gate`, the reading end of a pipe, is at its end (`accelweb.wsgi`)."""
    command = [sys.executable, "-m", "gunicorn", "accelweb.wsgi"]
    command += ["--bind", f"fd://{listener.fileno()}", "--workers", str(WEB_PROCESSES)]
    command += ["--worker-class", "gthread", "--threads", str(WEB_THREADS), "--preload"]
    command += ["--graceful-timeout", "5", "--no-control-socket", "--access-logfile", "-"]
    return children.start("web", command, {**env, "UP_GATE": str(gate)}, pass_fds=(listener.fileno(), gate))


def start_worker(children: Children, env: Mapping[str, str], var: Path) -> Child:
    command = [sys.executable, "-m", "celery", "--app", "accelweb", "worker"]
    command += ["--beat", "--schedule", str(var / "celerybeat-schedule"), "--concurrency", "2"]
    command += ["--without-gossip", "--without-mingle", "--loglevel", "INFO"]
    return children.start("worker", command, env)


def is_ready(worker: Child) -> bool:
    return " ready." in worker.log.read_text(errors="replace")


def page_answers(url: str) -> bool:
    """Whether the page answers with status 200 within two seconds."""
    try:
        with urllib.request.urlopen(url, timeout=2) as answer:  # noqa: S310 - the site's own address
            return bool(answer.status == 200)
    except (OSError, urllib.error.HTTPError):
        return False
