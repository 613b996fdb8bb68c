"""The site as separate processes, for tests that need the real thing: gunicorn, a Celery worker, an own `var/`."""

import atexit
import contextlib
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections import deque
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg

ROOT = Path(__file__).resolve().parent.parent
# Runs each line, a text of Python as JSON, and answers with what it printed and the traceback if it failed.
SHELL = """
import contextlib, io, json, os, sys, traceback
import django
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "accelweb.settings")  # as manage.py does
django.setup()
from django.db import connections
for line in sys.stdin:
    printed, problem = io.StringIO(), ""
    try:
        with contextlib.redirect_stdout(printed):
            exec(json.loads(line), {"__name__": "shell"})
    except Exception:
        problem = traceback.format_exc()
    connections.close_all()
    print(json.dumps([printed.getvalue(), problem]), flush=True)
"""
PATIENCE_S = 60.0  # for a process to come up; a loaded two-core machine needs several seconds


RESERVED = 200  # more than one test has; each costs a file descriptor
_reserved: deque[socket.socket] = deque()
atexit.register(lambda: [reserved.close() for reserved in _reserved])


def free_port() -> int:
    """A port for one server of a test, which the kernel gives to nobody else meanwhile.

    A site binds its port seconds later. Had another process been given the same one by then, a test would read the pages
    of that site. So it stays bound here, without listening, and a server that reuses addresses, as all do, may listen
    beside it. Linux allows that; on other systems it is released at once.
    """
    reserved = socket.socket()
    reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    reserved.bind(("127.0.0.1", 0))
    port = int(reserved.getsockname()[1])
    _reserved.append(reserved)
    if len(_reserved) > RESERVED or sys.platform != "linux":
        _reserved.popleft().close()
    return port


class Site:
    """One installation under `folder`: its environment, its processes, its address.

    `database_url` empty means SQLite under `folder`; `redis_url` empty means the file broker.
    """

    def __init__(
        self,
        folder: Path,
        *,
        database_url: str = "",
        redis_url: str = "",
        settings: str = "tests.settings",
        **variables: str,
    ) -> None:
        self.folder = folder
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.children: dict[str, subprocess.Popen[bytes]] = {}
        self._shell: subprocess.Popen[str] | None = None
        for name in ("queue", "control"):  # of the file broker, which makes no folders itself
            (folder / "broker" / name).mkdir(parents=True, exist_ok=True)
        # Only what is named here: a developer's own REDIS_URL or DATABASE_URL must not reach a test.
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
        self.env = kept | {
            "DJANGO_SETTINGS_MODULE": settings,
            "VAR_DIR": str(folder),
            "SECRET_KEY": "for-one-test-" + "k" * 50,
            "DATABASE_URL": database_url,
            "REDIS_URL": redis_url,
            "PYTHONPATH": str(ROOT),
            "PYTHONUNBUFFERED": "1",
            "WARM_PAGES": "0",  # eight seconds of each web process; tests/deploy/test_warm.py has them
            "CELERY_SKIP_CHECKS": "1",  # half a second of each worker's start; tests/site/up has them
            **variables,
        }

    def manage(self, *arguments: str, stdin: str = "") -> str:
        """Runs a management command; its output. Raises with both outputs when it fails."""
        return self.run_python(str(ROOT / "manage.py"), *arguments, stdin=stdin)

    def run_python(self, *arguments: str, stdin: str = "") -> str:
        """Runs Python with the site's environment; its output. Raises with both outputs when it fails."""
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=ROOT, env=self.env, input=stdin, text=True, capture_output=True, timeout=180, check=False,
        )  # fmt: skip
        if done.returncode:
            raise AssertionError(
                f"python {' '.join(arguments)} ended with {done.returncode}\n{done.stdout}{done.stderr}"
            )
        return done.stdout

    def shell(self, code: str) -> str:
        """Runs Python inside the site; what it printed, stripped. In one process for all, as each takes a second to start."""
        if self._shell is None:
            command = [sys.executable, "-c", SHELL]
            self._shell = subprocess.Popen(
                command, cwd=ROOT, env=self.env, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
        print(json.dumps(code), file=self._shell.stdin, flush=True)
        answer = self._shell.stdout.readline()
        assert answer, f"the shell ended with {self._shell.wait()}"
        printed, problem = json.loads(answer)
        if problem:
            raise AssertionError(problem)
        return str(printed).strip()

    def new_key(self, lab: str = "lab", *, public: bool = True) -> str:
        """A lab (made when missing) and a fresh key for it."""
        return self.shell(
            "from stackviz.records.labs.models import Lab\n"
            "from stackviz.records.labs.keys import create_key\n"
            f"lab, _ = Lab.objects.get_or_create(slug={lab!r}, defaults={{'name': {lab.title()!r}, 'is_public': {public}}})\n"
            "print(create_key(lab=lab, name='test key')[1])"
        ).splitlines()[-1]

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """What a query finds in the site's database, from outside. A process of the site's own takes seconds to ask."""
        url = self.env["DATABASE_URL"]
        if url:
            with psycopg.connect(url, autocommit=True) as server:
                return server.execute(sql.encode()).fetchall()
        with closing(sqlite3.connect(f"file:{self.folder / 'accelweb.sqlite3'}?mode=ro", uri=True, timeout=20)) as file:
            return file.execute(sql).fetchall()

    # --- processes ---

    def start(self, name: str, *arguments: str, pass_fds: tuple[int, ...] = ()) -> subprocess.Popen[bytes]:
        """Starts `python -m arguments` in a process group of its own; its output goes to `<name>.log`."""
        with (self.folder / f"{name}.log").open("ab") as log:
            child = subprocess.Popen(
                [sys.executable, "-m", *arguments],
                cwd=ROOT, env=self.env, stdout=log, stderr=log, start_new_session=True, pass_fds=pass_fds,
            )  # fmt: skip
        self.children[name] = child
        return child

    def start_web(self, workers: int = 2, *, wait: bool = True) -> None:
        self.start(
            "web", "gunicorn", "accelweb.wsgi", "--bind", f"127.0.0.1:{self.port}", "--workers", str(workers),
            "--worker-class", "gthread", "--threads", "4", "--no-control-socket", "--preload",
        )  # fmt: skip
        if wait:
            self.wait_until(self.answers, "the site answers")

    def start_worker(self, *, beat: bool = False, wait: bool = True) -> None:
        arguments = [
            "celery",
            "-A",
            "accelweb",
            "worker",
            "-c",
            "2",
            "--without-gossip",
            "--without-mingle",
            "-l",
            "INFO",
        ]
        self.start("worker", *arguments, *(["-B", "-s", str(self.folder / "beat")] if beat else []))
        if wait:
            self.wait_until(lambda: "ready." in self.log("worker"), "the worker is ready")

    def start_beat(self) -> None:
        self.start("beat", "celery", "-A", "accelweb", "beat", "--pidfile=", "-s", str(self.folder / "beat"))

    def kill(self, name: str) -> None:
        """kill -9 of the whole process group, as a power cut would."""
        child = self.children.pop(name)
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()

    def stop(self) -> None:
        """Kills what still runs: its folder goes with it, and a worker of the file broker takes five seconds to end."""
        for name in list(self.children):
            with contextlib.suppress(ProcessLookupError):  # ended by itself
                self.kill(name)
        if self._shell:
            self._shell.communicate()
            self._shell = None

    def log(self, name: str) -> str:
        file = self.folder / f"{name}.log"
        return file.read_text(errors="replace") if file.exists() else ""

    # --- looking at it ---

    def get(self, path: str) -> tuple[int, str]:
        """Status and text of a page, also for 4xx and 5xx."""
        try:
            with urllib.request.urlopen(self.url + path, timeout=60) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode(errors="replace")

    def answers(self) -> bool:
        try:
            return self.get("/health/")[0] == 200
        except OSError:
            return False

    def wait_until(self, is_so, what: str, patience_s: float = PATIENCE_S) -> None:
        """Asks again and again; fails with the logs when a process died or the time is up."""
        deadline = time.monotonic() + patience_s
        while time.monotonic() < deadline:
            if is_so():
                return
            for name, child in self.children.items():
                assert child.poll() is None, f"{name} ended with {child.returncode}:\n{self.log(name)[-3000:]}"
            time.sleep(0.1)
        logs = "\n".join(f"--- {name}\n{self.log(name)[-2000:]}" for name in self.children)
        raise AssertionError(f"not within {patience_s:.0f} s: {what}\n{logs}")
