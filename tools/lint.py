"""Everything `make lint` holds, each check by name; goes through all of them before it fails."""

import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHON = sys.executable
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
CHECKS: list[tuple[str, list[str], dict[str, str]]] = [
    ("ruff check", ["-m", "ruff", "check", "."], {}),
    ("ruff format", ["-m", "ruff", "format", "--check", "."], {}),
    ("mypy", ["-m", "mypy"], {}),
    ("import contracts", ["-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"], {}),
    ("no pending migrations", ["manage.py", "makemigrations", "--check", "--dry-run"], {}),
    ("deployment checks", ["manage.py", "check", "--deploy", "--fail-level", "WARNING"], PRODUCTION),
    ("tables of docs/", ["tools/docs.py", "--check"], {}),
    ("templates", ["-m", "djlint", "templates", "--quiet", "--lint"], {}),
    ("parts", ["-m", "djlint", "templates", "--extension", "jinja", "--profile", "jinja", "--quiet", "--lint"], {}),
    ("layout of templates", ["-m", "tools.templates", "--check"], {}),
]


def main() -> int:
    failed = []
    for name, arguments, variables in CHECKS:
        started = time.monotonic()
        done = subprocess.run(  # noqa: S603 - the list above
            [PYTHON, *arguments], cwd=ROOT, env=os.environ | variables, text=True, capture_output=True, check=False
        )
        outcome = "ok" if done.returncode == 0 else "FAILED"
        print(f"{name:.<28} {outcome} ({time.monotonic() - started:.1f} s)", flush=True)
        if done.returncode:
            failed.append(name)
            print(done.stdout + done.stderr, flush=True)
    if failed:
        print(f"{len(failed)} of {len(CHECKS)} failed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
