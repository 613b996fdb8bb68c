"""Makes `.venv` hold what the requirement files say: `python tools/install.py server [dev] [parquet] [lab]`.

Standard library only, run by the Makefile with any Python from 3.11 on. Safe to run at any time: a virtual environment
that is broken or half made is made anew, a group of packages that is up to date costs a few milliseconds. Packages are
installed by uv, a wheel that the pip inside Python fetches; where that fails, by pip, which takes four times as long.
"""

import ast
import fcntl
import hashlib
import os
import platform
import re
import subprocess
import sys
import sysconfig
import time
import venv
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
UV = "uv==0.13.9"
GROUPS = {
    "server": ["requirements.txt"],
    "dev": ["requirements-dev.txt", "requirements.txt", "requirements-parquet.txt"],  # the first one names the others
    "parquet": ["requirements-parquet.txt"],
    "lab": ["requirements-lab.txt"],
}
LINES_SHOWN = 15  # of the installer's output, shown when it fails
SHOWN = re.compile(r"\s*(Downloading .*\((\d{2,}[\d.]* ?Mi?B|[\d.]+ ?Gi?B)\)|Installing collected )")  # while it works
# Where packages come from, as pip's variables and files say, in uv's words. Lists are separated as uv wants them.
UV_VARIABLES = {
    "index-url": ("UV_DEFAULT_INDEX", " "),
    "extra-index-url": ("UV_INDEX", " "),
    "find-links": ("UV_FIND_LINKS", ","),
    "constraint": ("UV_CONSTRAINT", " "),
    "trusted-host": ("UV_INSECURE_HOST", " "),
    "cert": ("SSL_CERT_FILE", " "),
    "proxy": ("ALL_PROXY", " "),
    "timeout": ("UV_HTTP_TIMEOUT", " "),
    "no-index": ("UV_NO_INDEX", " "),
}


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
    """True when the environment's own Python starts, is new enough and has uv or pip."""
    probe = (
        "import sys; from importlib.util import find_spec as found; "
        "sys.exit(sys.version_info < (3, 11) or sys.prefix == sys.base_prefix or not (found('uv') or found('pip')))"
    )
    try:
        probed = subprocess.run([PYTHON, "-c", probe], capture_output=True, timeout=60, check=False)  # noqa: S603 - our own Python
    except (OSError, subprocess.TimeoutExpired):
        return False
    return probed.returncode == 0


def make_environment() -> None:
    started = time.monotonic()
    state = ".venv is incomplete: creating it again" if VENV.exists() else "creating .venv"
    say(f"{state} with Python {platform.python_version()}")
    venv.EnvBuilder(clear=True, symlinks=True).create(VENV)
    pip = pip_inside_python()
    if pip is None or run([PYTHON, pip, "install", "--no-compile", "--disable-pip-version-check", UV]) is not None:
        say("uv cannot be installed here; pip takes its place, which takes longer")
        subprocess.run([PYTHON, "-m", "ensurepip"], check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - our own Python
    say(f".venv made ({time.monotonic() - started:.1f} s)")


def pip_inside_python() -> Path | None:
    """The wheel of pip that comes with Python or its distribution; it runs without being installed."""
    import ensurepip

    folders = [Path(ensurepip.__file__).parent / "_bundled", Path(sysconfig.get_config_var("WHEEL_PKG_DIR") or "/none")]
    wheel = next((wheel for folder in folders for wheel in folder.glob("pip-*.whl")), None)
    return wheel / "pip" if wheel else None


def wanted(group: str) -> str:
    """A short text that changes when the group's files do."""
    digest = hashlib.sha256()
    for name in GROUPS[group]:
        digest.update((ROOT / name).read_bytes())
    return digest.hexdigest()


def install(group: str) -> None:
    """Install the group's file with uv, or with pip where uv cannot. Leaves a stamp only when all of it is there."""
    stamp = VENV / f"installed-{group}"
    if stamp.exists() and stamp.read_text() == wanted(group):
        return
    stamp.unlink(missing_ok=True)
    started = time.monotonic()
    file = GROUPS[group][0]
    say(f"installing {sum('==' in line for line in (ROOT / file).read_text().splitlines())} packages from {file}")
    uv = VENV / "bin" / "uv"
    by_uv: list[str | Path] = [uv, "pip", "install", "--python", PYTHON, "-r", file]
    by_pip: list[str | Path] = [PYTHON, "-m", "pip", "install", "--disable-pip-version-check", "-r", file]
    if not uv.exists() or run(by_uv, like_pip()) is not None:
        if uv.exists():
            say("uv could not install them; pip tries, which takes longer")
            run([PYTHON, "-m", "ensurepip"])
        if (last_lines := run([*by_pip, "--progress-bar", "off"])) is not None:
            print("\n".join(f"    {line}" for line in last_lines), file=sys.stderr)
            sys.exit(f"accelweb: could not install {file}. Mend what pip says, run make again.")
    stamp.write_text(wanted(group))
    say(f"{file} installed ({time.monotonic() - started:.0f} s)")


def like_pip() -> dict[str, str]:
    """Variables that make uv look where pip does: pip's own variables and files, which uv does not read."""
    pip = pip_inside_python()
    if pip is None:
        return {}
    listed = subprocess.run([PYTHON, pip, "config", "list"], capture_output=True, text=True, check=False).stdout  # noqa: S603 - our own Python
    variables = {"UV_INDEX_STRATEGY": "unsafe-best-match"}  # any index may have the version asked for, as for pip
    # The environment has the last word.
    for line in sorted(listed.splitlines(), key=lambda line: line.startswith(":env:")):
        name, _, value = line.partition("=")
        if known := UV_VARIABLES.get(name.rpartition(".")[2]):
            variable, separator = known
            variables[variable] = separator.join(str(ast.literal_eval(value)).split())
    return variables


def run(command: Sequence[str | Path], variables: Mapping[str, str] = MappingProxyType({})) -> list[str] | None:
    """Run an installer, showing a few of its lines. None, or its last lines where it failed.

    `variables`: those of the environment have the last word.
    """
    last_lines: list[str] = []
    with subprocess.Popen(  # noqa: S603 - the installers of our own environment
        command,
        cwd=ROOT,
        env={**variables, **os.environ},
        text=True,
        errors="replace",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as installer:
        assert installer.stdout is not None  # noqa: S101 - for types: it is started with a pipe
        for line in installer.stdout:
            last_lines = [*last_lines, line.rstrip()][-LINES_SHOWN:]
            if shown := SHOWN.match(line):
                say(f"  {shown[0].strip()[:70]}")
    return last_lines if installer.returncode else None


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
