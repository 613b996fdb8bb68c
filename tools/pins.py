"""Writes requirements*.txt anew from requirements*.in, newest versions that fit: `make pins`."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OPTIONS = ["--quiet", "--upgrade", "--no-header", "--strip-extras", "--allow-unsafe", "--annotation-style=line"]
OPTIONS += ["--no-emit-index-url", "--no-emit-find-links", "--no-emit-trusted-host", "--no-emit-options"]
NAMES = ("requirements", "requirements-lab", "requirements-dev")  # the first is a constraint of the others


def main() -> None:
    for name in NAMES:
        command = [sys.executable, "-m", "piptools", "compile", *OPTIONS, "-o", f"{name}.txt", f"{name}.in"]
        subprocess.run(command, cwd=ROOT, check=True)
        file = ROOT / f"{name}.txt"
        text = re.sub(r"^# The following packages are considered.*\n", "", file.read_text(), flags=re.MULTILINE)
        # A build label such as `+cpu` is of the machine that made the pins, not of the project.
        text = re.sub(r"(==[\w.]+)\+\w+( *)", r"\1\2", text)
        file.write_text(f"# Made by `make pins` from {name}.in.\n{text.lstrip()}")


if __name__ == "__main__":
    main()
