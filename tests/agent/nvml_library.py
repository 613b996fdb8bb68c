"""A libnvidia-ml.so.1 in C, compiled for the tests: what ctypes, a crash and a hang make of it is what a lab has."""

import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from stackviz.report.format import Report, parse_report
from tests.report.format.reports import report_body

__all__ = ["library_folder", "needs_library", "probed", "reported"]

_SOURCE = Path(__file__).parent / "nvml" / "nvml.c"
_ROOT = Path(__file__).parents[2]
_COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")

needs_library = pytest.mark.skipif(
    sys.platform != "linux" or _COMPILER is None, reason="compiling a libnvidia-ml.so.1 needs Linux and a C compiler"
)


@functools.cache
def _made() -> tempfile.TemporaryDirectory[str]:
    folder = tempfile.TemporaryDirectory(prefix="accelweb-nvml-")
    library = Path(folder.name) / "libnvidia-ml.so.1"
    subprocess.run(
        [str(_COMPILER), "-shared", "-fPIC", "-Wall", "-Werror", "-o", str(library), str(_SOURCE)], check=True
    )
    return folder


def library_folder() -> str:
    """Where the library lies; gone at the end of the tests."""
    return _made().name


def probed(machine: str, tools: Mapping[str, str] | None = None, within_s: float = 60) -> dict[str, Any]:
    """What the nvidia probe of the agent says, run as a lab runs it. `tools`: shell scripts on PATH, by name."""
    with tempfile.TemporaryDirectory() as path:
        for name, script in (tools or {}).items():
            tool = Path(path) / name
            tool.write_text(f"#!/bin/sh\n{script}\n")
            tool.chmod(0o755)
        environ = {
            **os.environ, "FAKE_NVML": machine, "LD_LIBRARY_PATH": library_folder(), "PATH": f"{path}:/usr/bin:/bin"
        }  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-c", _GATHER, str(within_s)],
            env=environ,
            cwd=_ROOT,
            check=True,
            capture_output=True,
            timeout=60,
        )
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


_GATHER = """
import json, sys
from dataclasses import asdict
from stackviz.agent.probing.gather import gather
if __name__ == "__main__":
    print(json.dumps(asdict(gather(float(sys.argv[1]), probes=["nvidia"]))))
"""


def reported(machine: str, tools: Mapping[str, str] | None = None, within_s: float = 60) -> Report:
    """The same as a report, which a site takes as it is."""
    gathered = probed(machine, tools, within_s)
    report = parse_report(report_body(results=[], **gathered))
    assert report.unknown_fields == ()
    return report
