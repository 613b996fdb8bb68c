"""Known vulnerabilities of what requirements.txt names, by pip-audit where it is installed: `python -m tools.audit`.

Fails for a vulnerability alone. Without pip-audit or without its data it says that nothing was checked: a site is built
where neither can be had, too.
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
OPTIONS = ("-r", "requirements.txt", "--no-deps", "--disable-pip", "--format", "json")
COMMAND = (sys.executable, "-m", "pip_audit", *OPTIONS)
PATIENCE_S = 120


def answer_of(command: Sequence[str] = COMMAND) -> tuple[str, str]:
    """What pip-audit printed, and its last complaint. The second is what stood in the way where the first is empty."""
    if find_spec("pip_audit") is None and command is COMMAND:
        return "", "pip-audit is not installed (pip install pip-audit)"
    try:
        done = subprocess.run(  # noqa: S603 - a list of ours, or of a test
            command, cwd=ROOT, text=True, capture_output=True, timeout=PATIENCE_S, check=False
        )
    except subprocess.TimeoutExpired:
        return "", f"pip-audit did not answer within {PATIENCE_S} s"
    lines = done.stderr.strip().splitlines()
    return done.stdout, lines[-1] if lines else f"pip-audit ended with {done.returncode}"


def verdict(printed: str, complaint: str) -> tuple[int, str]:
    """Exit status and words for what pip-audit said."""
    try:
        dependencies: list[dict[str, Any]] = json.loads(printed)["dependencies"]
    except (ValueError, KeyError, TypeError):
        return 0, f"NOT CHECKED: {complaint}"
    checked = [each for each in dependencies if "skip_reason" not in each]
    if not checked:
        return 0, "NOT CHECKED: no vulnerability data can be reached from here"
    problems = [_line(each, vulnerability) for each in checked for vulnerability in each["vulns"]]
    skipped = len(dependencies) - len(checked)
    words = f"{len(checked)} packages checked" + (f", {skipped} NOT CHECKED" if skipped else "")
    return int(bool(problems)), "\n".join([words, *problems])


def _line(dependency: dict[str, Any], vulnerability: dict[str, Any]) -> str:
    corrected = ", ".join(vulnerability["fix_versions"]) or "no version"
    return f"{dependency['name']} {dependency['version']}: {vulnerability['id']}, corrected in {corrected}"


def main() -> int:
    status, words = verdict(*answer_of())
    print(words)
    return status


if __name__ == "__main__":
    sys.exit(main())
