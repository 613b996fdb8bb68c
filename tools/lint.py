"""Runs every check of `make lint`, two at a time, and prints each as it ends; fails after all of them ran."""

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHON = sys.executable
PARTS = sorted(map(str, (ROOT / "templates").rglob("*.jinja")))
# A deployment as it should be: the checks then speak of the code, not of an unset variable.
PRODUCTION = {
    "SECRET_KEY": "".join(chr(ord("!") + (7 * i) % 90) for i in range(64)),
    "HTTPS": "1",
    "DEBUG": "0",
    "ALLOWED_HOSTS": "accelweb.example",
    "CSRF_TRUSTED_ORIGINS": "https://accelweb.example",
    "DATABASE_URL": "postgresql://accelweb@localhost/accelweb",
    "REDIS_URL": "redis://localhost:6379/0",
}
# The longest first. None of them writes what another one reads.
CHECKS: list[tuple[str, list[str], dict[str, str]]] = [
    ("mypy", ["-m", "mypy"], {}),
    ("templates", ["-m", "djlint", "templates", "--quiet", "--lint"], {}),
    ("parts", ["-m", "djlint", "templates", "--extension", "jinja", "--profile", "jinja", "--quiet", "--lint"], {}),
    ("layout of parts", ["-m", "djhtml", "--check", "--tabwidth", "2", *PARTS], {}),
    ("import contracts", ["-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"], {}),
    ("tables of docs/", ["tools/docs.py", "--check"], {}),
    ("no pending migrations", ["manage.py", "makemigrations", "--check", "--dry-run"], {}),
    ("deployment checks", ["manage.py", "check", "--deploy", "--fail-level", "WARNING"], PRODUCTION),
    ("style sheets", ["-m", "tools.styles", "--check"], {}),
    ("ruff check", ["-m", "ruff", "check", "."], {}),
    ("ruff format", ["-m", "ruff", "format", "--check", "."], {}),
]
AT_ONCE = 2


def run_check(name: str, arguments: list[str], variables: dict[str, str]) -> tuple[str, float, str]:
    """-> the check's name, the seconds it took, and its output if it failed."""
    started = time.monotonic()
    done = subprocess.run(  # noqa: S603 - the list above
        [PYTHON, *arguments], cwd=ROOT, env=os.environ | variables, text=True, capture_output=True, check=False
    )
    output = (done.stdout + done.stderr or "no output") if done.returncode else ""
    return name, time.monotonic() - started, output


def main() -> int:
    failed = []
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for check in as_completed([pool.submit(run_check, *check) for check in CHECKS]):
            name, took_s, output = check.result()
            print(f"{name:.<28} {'FAILED' if output else 'ok'} ({took_s:.1f} s)", flush=True)
            if output:
                failed.append(name)
                print(output, flush=True)
    if failed:
        print(f"{len(failed)} of {len(CHECKS)} failed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
