"""Writes requirements*.txt anew from requirements*.in, newest versions that fit: `make pins`.

requirements-hashed.txt has what requirements.txt and requirements-parquet.txt have, for every platform, with the
SHA-256 of each file: an image is built from it. `python tools/pins.py --hashes` writes it alone, with these versions.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OPTIONS = ["--quiet", "--upgrade", "--no-header", "--strip-extras", "--allow-unsafe", "--annotation-style=line"]
OPTIONS += ["--no-emit-index-url", "--no-emit-find-links", "--no-emit-trusted-host", "--no-emit-options"]
NAMES = ("requirements", "requirements-parquet", "requirements-lab", "requirements-dev")
# The first is a constraint of the others.


HASHED = "requirements-hashed.txt"


def write_hashes() -> None:
    """By uv: it takes the hashes from the index, in a second; pip-tools fetches every file of every platform."""
    options = ["--universal", "--python-version", "3.11", "--generate-hashes", "--no-header", "--no-annotate"]
    options += ["--strip-extras", "--no-emit-index-url", "--quiet", "-o", HASHED]
    options += ["-c", "requirements.txt", "-c", "requirements-parquet.txt"]
    command = [sys.executable, "-m", "uv", "pip", "compile", *options, "requirements.in", "requirements-parquet.in"]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - a list of ours
    file = ROOT / HASHED
    file.write_text(f"# Made by `make pins` from requirements*.in and requirements*.txt.\n{file.read_text().lstrip()}")


def main() -> None:
    if "--hashes" in sys.argv[1:]:
        write_hashes()
        return
    for name in NAMES:
        command = [sys.executable, "-m", "piptools", "compile", *OPTIONS, "-o", f"{name}.txt", f"{name}.in"]
        subprocess.run(command, cwd=ROOT, check=True)  # noqa: S603 - a list of ours
        file = ROOT / f"{name}.txt"
        text = re.sub(r"^# The following packages are considered.*\n", "", file.read_text(), flags=re.MULTILINE)
        # A build label such as `+cpu` is of the machine that made the pins, not of the project.
        text = re.sub(r"(==[\w.]+)\+\w+( *)", r"\1\2", text)
        file.write_text(f"# Made by `make pins` from {name}.in.\n{text.lstrip()}")
    write_hashes()


if __name__ == "__main__":
    main()
