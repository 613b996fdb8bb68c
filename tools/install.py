"""Makes `.venv` hold what the requirement files say: `python tools/install.py server [dev] [lab]`.

Standard library only, run by the Makefile with any Python from 3.11 on. Safe to run at any time: a virtual environment
that is broken or half made is made anew, a group of packages that is up to date costs a few milliseconds.
"""

import fcntl
import hashlib
import os
import platform
import subprocess
import sys
import time
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
GROUPS = {
    "server": ["requirements.txt"],
    "dev": ["requirements-dev.txt", "requirements.txt"],  # the first one is installed; it names the second
    "lab": ["requirements-lab.txt"],
}
LINES_SHOWN = 15  # of pip's output, shown when it fails
PLAIN_EVERY = 15  # packages between two lines where output is not a terminal


def say(text: str) -> None:
    print(f"  {text}", flush=True)


@contextmanager
def only_one() -> Iterator[None]:
    """Two makes at once would tear one environment apart; the second waits."""
    with (ROOT / "requirements.txt").open() as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("waiting for another make that is installing here ...")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def is_whole() -> bool:
    """True when the environment's own Python starts, is new enough and has pip."""
    probe = "import sys, pip; sys.exit(sys.version_info < (3, 11) or sys.prefix == sys.base_prefix)"
    try:
        probed = subprocess.run([PYTHON, "-c", probe], capture_output=True, timeout=60, check=False)  # noqa: S603 - our own Python
    except (OSError, subprocess.TimeoutExpired):
        return False
    return probed.returncode == 0


def make_environment() -> None:
    started = time.monotonic()
    exists = VENV.exists()
    state = ".venv is incomplete: creating it again" if exists else "creating .venv"
    say(f"{state} with Python {platform.python_version()}")
    venv.EnvBuilder(clear=True, with_pip=True, symlinks=True).create(VENV)
    say(f".venv made ({time.monotonic() - started:.1f} s)")


def wanted(group: str) -> str:
    """A short text that changes when the group's files do."""
    digest = hashlib.sha256()
    for name in GROUPS[group]:
        digest.update((ROOT / name).read_bytes())
    return digest.hexdigest()


def install(group: str) -> None:
    """pip install -r, its many lines folded into a few. Leaves a stamp only when all of it is there."""
    stamp = VENV / f"installed-{group}"
    if stamp.exists() and stamp.read_text() == wanted(group):
        return
    stamp.unlink(missing_ok=True)
    started = time.monotonic()
    file = GROUPS[group][0]
    total = sum(1 for line in (ROOT / file).read_text().splitlines() if "==" in line)
    say(f"installing {total} packages from {file}")
    command = [PYTHON, "-m", "pip", "install", "--disable-pip-version-check", "--progress-bar", "off", "-r", file]
    with subprocess.Popen(  # noqa: S603 - pip of our own Python
        command, cwd=ROOT, text=True, errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as pip:
        last_lines = follow(pip, total)
    if pip.returncode:
        print("\n".join(f"    {line}" for line in last_lines), file=sys.stderr)
        sys.exit(
            f"accelweb: could not install {file}: pip ended with {pip.returncode}. Mend what it says, run make again."
        )
    stamp.write_text(wanted(group))
    say(f"{file} installed ({time.monotonic() - started:.0f} s)")


def follow(pip: "subprocess.Popen[str]", total: int) -> list[str]:
    """Shows how far pip is; its last lines."""
    assert pip.stdout is not None  # noqa: S101 - for types: it is started with a pipe
    last_lines: list[str] = []
    seen = 0
    on_terminal = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    for line in pip.stdout:
        last_lines = [*last_lines, line.rstrip()][-LINES_SHOWN:]
        action, _, rest = line.strip().partition(" ")
        if action in {"Collecting", "Requirement"}:
            seen += 1
            if on_terminal:
                print(f"\r\033[K    {min(seen, total)}/{total} {rest.split(' ')[0][:50]}", end="", flush=True)
            elif seen % PLAIN_EVERY == 0:
                say(f"  {min(seen, total)}/{total} found")
        elif line.startswith("Installing collected packages"):
            print(
                "\r\033[K    unpacking ..." if on_terminal else "    unpacking ...",
                end="" if on_terminal else "\n",
                flush=True,
            )
    if on_terminal:
        print("\r\033[K", end="")
    pip.wait()
    return last_lines


def main(groups: list[str]) -> None:
    unknown = [group for group in groups if group not in GROUPS]
    if unknown or not groups:
        sys.exit(f"usage: install.py {' '.join(f'[{group}]' for group in GROUPS)}")
    with only_one():
        if not is_whole():
            make_environment()
        for group in groups:
            install(group)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except KeyboardInterrupt:
        sys.exit("accelweb: stopped while installing; run make again to go on")
